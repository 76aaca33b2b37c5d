"""Section 10.2: the cache of keys and values."""

import streamlit as st

from inferdash.charts import kv_cache as charts
from inferdash.charts.loading import along_text
from inferdash.studies import kv_cache as page
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence)
parts.numbers(page.headline_numbers(result))
parts.chart(charts.grid(), {"cells": page.grid_rows(scenario)}, key="grid", alt=page.grid_sentence(result))
st.markdown(page.grid_sentence(result))
controls("grid_prompt", "grid_answer")

st.header("How large a cache gets", anchor=False)
lengths = page.length_table(scenario)
parts.table(lengths)
parts.download(lengths, name=page.NAME)

st.header("Memory read per pass", anchor=False)
said = page.load_sentence(scenario, result)
st.markdown(said)
parts.chart(along_text(), page.load_rows(scenario), key="loading", alt=said)
unread = page.stored_sentence(scenario, result)
if unread:
    st.caption(unread)

st.header("The memory of the GPUs", anchor=False)
held = page.memory_sentence(scenario, result)
st.markdown(held)
bars = page.memory_rows(result)
parts.chart(charts.memory(), {"parts": bars, "room": page.room_rows(scenario)}, key="memory", alt=held)

working(page.study, scenario)
parts.sources(scenario)
