"""How right expectations are, held against published measurements."""

import streamlit as st

from inferdash.charts import evidence as charts
from inferdash.studies import calibration, published
from inferdash.studies import evidence as page
from inferdash.ui import measuring, parts, state
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence)
parts.numbers(page.headline_numbers(result))
with st.container(horizontal=True, vertical_alignment="bottom"):
    by = parts.pick("Groups by", page.BY, key="evidence_by")
    only = parts.narrowed("Only", page.groups(by), key=f"evidence_only_{by}")
place = parts.choosable(
    charts.scatter(), page.rows(page.chosen(by, only)), key="scatter", alt=sentence, name=charts.CHOSEN
)
st.caption(page.LEGEND)

one = page.at(place, scenario)
st.header("One measurement", anchor=False)
st.markdown(published.sentence(one))
parts.table(published.table(one))
working(lambda _: published.study(one), scenario)

st.header("Errors by group", anchor=False)
errors = page.error_rows(by)
parts.chart(charts.distribution(len(errors["groups"])), errors, key=f"errors {by}", alt=page.DISTRIBUTION)
st.caption(page.DISTRIBUTION)
table = page.error_table(by)
parts.table(table)
st.caption(page.TERMS)
parts.download(table, name=page.NAME)
st.markdown(page.METHOD)

st.header("Nearest to your scenario", anchor=False)
parts.notes([note for note in [page.nearest_note(scenario)] if note])
parts.table(page.nearest_table(scenario))

st.header("Calibrate with your own measurements", anchor=False)
st.markdown(calibration.INTRO)
measuring.entry()
if scenario.measurements:
    st.markdown(calibration.sentence(scenario))
    parts.table(calibration.table(scenario))
    parts.table(calibration.moved_table(scenario))
st.caption(calibration.HOLDS)

st.header("Not covered", anchor=False)
st.markdown(page.not_covered())
parts.sources(scenario)
