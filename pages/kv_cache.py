"""Section 10.2: the cache of keys and values."""

import streamlit as st

from inferdash.charts import kv_cache as charts
from inferdash.charts.loading import along_text
from inferdash.studies.learn import kv_cache as page
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import controls
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)


def lengths() -> None:
    parts.table(page.length_table, name=page.NAME)


def memory_read() -> None:
    st.markdown(page.load_sentence(scenario, result))
    parts.chart(along_text(), page.load_rows, key="loading")
    unread = page.stored_sentence(scenario, result)
    if unread:
        st.caption(unread)


def held() -> None:
    st.markdown(page.memory_sentence(scenario, result))
    parts.chart(
        charts.memory(),
        lambda one: {"parts": page.memory_rows(page.study(one)), "room": page.room_rows(one)},
        key="memory",
    )
    st.caption(page.MEMORY_NOTE)


parts.result(page.TITLE, page.sentence(scenario, result), shown)
controls("prompt", "batch", "kv", "grid_prompt", "grid_answer")
parts.picture(key="grid")
parts.terms(shown, page.grid_sentence(result))
sections(
    {
        "Cache size by length": lengths,
        "Memory read per pass": memory_read,
        "GPU memory": held,
    }
)
proof(scenario, page.study)
