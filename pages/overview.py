"""The scenario at a glance, and scenarios worth a look."""

import streamlit as st

from inferdash import links
from inferdash.facts import library
from inferdash.studies import overview as page
from inferdash.ui import parts, state

scenario = state.scenario()
result = page.study(scenario)

parts.headline(page.TITLE, page.sentence(scenario, result))
parts.numbers(page.headline_numbers(result))

st.header("Why, page by page", anchor=False)
parts.cards([(name, title, scenario, said) for name, title, said in page.teasers(scenario)])

st.header("Scenarios worth a look", anchor=False)
parts.cards([(one.page, one.name, links.decode(one.link).scenario, one.why) for one in library.scenarios().values()])
