"""What lies in the memory of each accelerator, and how several share a model."""

import streamlit as st

from inferdash.charts import kv_cache as charts
from inferdash.studies import memory as page
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence)
parts.numbers(page.headline_numbers(result))
parts.notes(page.ways_out(scenario, result))
parts.chart(charts.memory(), page.bar_rows(scenario, result), key="memory", alt=sentence)
controls("memory_of", "engine_share", "activations", "overhead", "weight_memory")
st.markdown(page.answers_sentence(scenario, result))

st.header("Several GPUs", anchor=False)
if scenario.gpus == 1:
    st.markdown("One GPU shares with no other. Choose more of them to compare the ways in which they can.")
else:
    st.markdown(page.layout_note(scenario))
    parts.notes(page.impossible_layouts(scenario))
    layouts = page.layout_table(scenario)
    parts.table(layouts)
    parts.download(layouts, name=page.NAME)

working(page.study, scenario)
parts.sources(scenario)
