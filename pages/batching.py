"""Section 10.4: many requests in one pass."""

import streamlit as st

from inferdash.charts import batching as charts
from inferdash.charts.loading import along_batch
from inferdash.studies import batching as page
from inferdash.studies import slots
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence)
parts.numbers(page.headline_numbers(scenario, result))
curve = page.curve_rows(scenario, result)
if curve:
    parts.chart(charts.curve(), curve, key="curve", alt=sentence)
    st.caption(page.curve_caption(scenario, result))
table = page.batch_table(result)
parts.table(table)
parts.download(table, name=page.NAME)
loads = page.arithmetic_sentence(scenario, result)
st.markdown(loads)
parts.chart(along_batch(), page.load_rows(scenario, result), key="loading", alt=loads)

st.header("Why a written token costs more", anchor=False)
st.markdown(page.token_sentence(result))
controls("input_usd", "output_usd", "rent", "utilization")
parts.table(page.rent_table(result))

st.header("Static and continuous batching", anchor=False)
said = slots.stay_sentence(result)
st.markdown(said)
controls("slots", "lengths")
st.caption(slots.LENGTHS_NOTE)
for way in ("static", "continuous"):
    parts.chart(charts.stays(way), slots.stay_rows(scenario, result, way), key=way, alt=said)

st.header("Paged KV cache", anchor=False)
st.markdown(slots.page_sentence(scenario, result))
controls("page", "longest")

st.header("Why the batch can change an answer", anchor=False)
st.markdown(slots.rounding_sentence(scenario))
controls("addends", "digits")
parts.table(slots.rounding_table(scenario))

working(page.study, scenario)
parts.sources(scenario)
