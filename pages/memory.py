"""What lies in the memory of each accelerator, and how several share a model."""

import streamlit as st

from inferdash.charts import kv_cache as charts
from inferdash.studies import memory as page
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(result)


def engine() -> None:
    controls("memory_of", "engine_share", "activations", "overhead", "weight_memory")
    st.markdown(page.answers_sentence(scenario, result))


def several() -> None:
    if scenario.gpus == 1:
        st.markdown("One GPU shares with no other. Choose more of them to compare the ways in which they can.")
        return
    st.markdown(page.layout_note(scenario))
    parts.notes(page.impossible_layouts(scenario))
    layouts = page.layout_table(scenario)
    parts.table(layouts)
    parts.download(layouts, name=page.NAME)


parts.result(page.TITLE, page.sentence(scenario, result), shown)
parts.notes(page.ways_out(scenario, result))
controls("weights", "gpus", "layout", "prompt", "batch")
parts.chart(charts.memory(), page.bar_rows(scenario, result), key="memory")
parts.terms(shown)
sections({"What an engine has of it": engine, "Several GPUs": several})
proof(scenario, page.study)
