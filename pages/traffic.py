"""What the reader's own requests cost, and what caching does for them."""

import streamlit as st

from inferdash.charts import feature_cost as charts
from inferdash.studies import api
from inferdash.studies import traffic as page
from inferdash.studies.feature_cost import legend
from inferdash.ui import parts, state
from inferdash.ui.controls import control, controls
from inferdash.ui.uploading import uploaded

scenario = state.scenario()
ways = page.ways(scenario)
head = st.container()
result = uploaded(page.NAME, ways, lambda stream, told: page.study(stream, ways, told))

with head:
    parts.headline(page.TITLE, page.sentence(scenario, result) if result else page.QUESTION, page.subject(scenario))
if result is None:
    st.markdown(page.FILES)
elif result.own.requests:
    parts.numbers(page.headline_numbers(result))
    bars = charts.bars("dollars for these requests", ways=len(result.found))
    parts.chart(bars, page.bar_rows(result), key="bars", alt=page.sentence(scenario, result))
    st.caption(legend())
parts.notes(result.problems if result else ())
controls("api", "prices", "service")
controls("input_usd", "output_usd", "read", "write")
control("compared")
st.markdown(api.unpriced(scenario))
controls("lifetime", "renewed", "minimum", "increment")
if result and result.own.requests:
    st.header("Where the money went", anchor=False)
    parts.table(page.kind_table(result))
    st.header("Why tokens were not read from the cache", anchor=False)
    parts.table(page.why_table(result))
    st.header("Other lifetimes and other models", anchor=False)
    table = page.way_table(result)
    parts.table(table)
    parts.download(table, name=page.NAME)

st.header("Rules of the cache", anchor=False)
st.markdown("\n".join(f"- {line}" for line in api.rule_sentences(scenario)))
parts.sources(scenario)
