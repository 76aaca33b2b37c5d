"""Meet a target: the cheapest set-up that keeps a promise."""

import streamlit as st

from inferdash.charts import plan as charts
from inferdash.studies import plan as page
from inferdash.studies import planning
from inferdash.ui import parts, state
from inferdash.ui.controls import control, controls
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence, page.subject(scenario))
parts.numbers(page.headline_numbers(scenario, result))
st.markdown(page.cost_sentence(scenario, result))
controls("load_as", *page.load_fields(scenario), "target_first", "target_between", "found_share")
control("considered")
control("formats")
controls("own_rents", "most_gpus", "speed")
changes = planning.changes(scenario)
if changes:
    state.offer("Make it the scenario", **changes)
choices = page.choice_table(result)
if choices.rows:
    parts.table(choices)
    parts.download(choices, name=page.NAME)
    parts.save("Download the plan", page.markdown(scenario, result), name=page.NAME)
parts.notes(page.notes(scenario))

frontier = page.frontier_rows(scenario)
if frontier:
    st.header("Cost against speed", anchor=False)
    st.markdown(page.FRONTIER)
    parts.chart(charts.frontier(), frontier, key="frontier", alt=page.FRONTIER)

failures = page.failure_table(scenario)
if failures:
    st.header("Why others fail", anchor=False)
    parts.table(failures)

starts = planning.starts(scenario)
if starts:
    st.header("How to start a replica", anchor=False)
    parts.texts([(one.engine, one.text, one.source) for one in starts])

st.header("Rents", anchor=False)
parts.table(page.rent_table(scenario))
st.caption(page.rent_sources(scenario))
st.markdown(page.METHOD)
if changes:
    working(planning.worked, scenario)
parts.sources(scenario)
