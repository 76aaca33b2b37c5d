"""How right expectations are, held against published measurements."""

import streamlit as st

from inferdash.charts import evidence as charts
from inferdash.studies import calibration
from inferdash.studies import evidence as page
from inferdash.ui import measuring, parts, state

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence)
parts.numbers(page.headline_numbers(result))
parts.chart(charts.scatter(), page.rows(), key="scatter", alt=sentence)
st.caption(page.LEGEND)
st.markdown(page.METHOD)
table = page.error_table()
parts.table(table)
parts.download(table, name=page.NAME)

st.header("By kind of accelerator", anchor=False)
st.markdown("Median error of the expected time, and the points that it is of.")
parts.table(page.family_table())

st.header("Nearest to your scenario", anchor=False)
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
st.markdown(page.NOT_COVERED)
parts.sources(scenario)
