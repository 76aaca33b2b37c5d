"""Section 10.1: compute time against memory read time, the first token, speculative decoding."""

import streamlit as st

from inferdash.charts import expected as expected_chart
from inferdash.charts import request as request_charts
from inferdash.charts import roofline as roofline_chart
from inferdash.charts import speculation as speculation_chart
from inferdash.studies import compute_vs_memory as page
from inferdash.studies import expected, request, roofline, speculation
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence)
parts.numbers(page.headline_numbers(scenario, result))
parts.notes(page.notes(scenario))
parts.chart(roofline_chart.roofline(), roofline.rows(scenario, result), key="roofline", alt=sentence)
st.caption(f"{page.TERMS} {roofline.caption(scenario, result)}")
controls("output_layer")
passes = page.pass_table(scenario, result)
parts.table(passes)
parts.download(passes, name=page.NAME)

st.header("What engines reach of the limit", anchor=False)
reached = expected.sentence(scenario, result.expected)
st.markdown(reached)
for phase, what in (("decode", "decode pass"), ("prefill", "prefill of the prompt")):
    expected_rows = expected.rows(scenario, result.expected, phase=phase)
    if expected_rows:
        parts.chart(expected_chart.parts(what), expected_rows, key=f"expected {phase}", alt=reached)
if expected_rows:
    st.caption(expected.CAPTION)
parts.table(expected.table(result.expected))

st.header("One request, from sending to the last token", anchor=False)
controls("queue", "network", "reasoning")
first, answer_s = result.time_to_first_token, result.answer_s
said = request.sentence(first, answer_s)
st.markdown(said)
rows = request.rows(first, answer_s, prefill=result.prefill.bound, decode=result.decode.bound)
if rows:
    if len(rows["waiting"]) > 1:
        parts.chart(request_charts.first_token(), rows, key="first_token", alt=said)
    parts.chart(request_charts.timeline(), rows, key="time", alt=said)

st.header("Speculative decoding", anchor=False)
controls("draft", "draft_share", "draft_tokens", "acceptance")
gained = speculation.sentence(scenario, result.speculation)
st.markdown(gained)
gain = speculation.gain_rows(scenario, result.speculation)
if gain:
    parts.chart(speculation_chart.gain(), gain, key="gain", alt=gained)
    st.caption(speculation.caption(scenario))

st.subheader("The chapter’s example, step by step", anchor=False)
controls("proposal")
parts.table(speculation.example(scenario.proposal))
st.markdown(speculation.example_sentence(scenario.proposal))

working(page.study, scenario)
parts.sources(scenario)
