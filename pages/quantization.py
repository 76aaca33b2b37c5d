"""Section 10.5: fewer bits for each parameter."""

import streamlit as st

from inferdash.charts import quantization as charts
from inferdash.studies.learn import quantization as page
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import controls
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)


def formats() -> None:
    parts.table(lambda one: page.format_table(page.study(one)), name=page.NAME)


def holders() -> None:
    table = page.holders_table(scenario)
    if page.several(table).rows:
        parts.table(lambda one: page.several(page.holders_table(one)))
    st.markdown(page.holders_sentence(table))


def group() -> None:
    controls("weight_values", "group")
    st.markdown(page.group_sentence(scenario, result))
    parts.table(lambda one: page.group_table(one, page.study(one)))
    st.caption(page.ROUNDING_NOTE)


def error() -> None:
    st.markdown(page.error_sentence(scenario, result))
    parts.chart(charts.error(), lambda one: page.error_marks(one, page.study(one)), key="error")
    st.caption(page.ERROR_NOTE)


parts.result(page.TITLE, page.sentence(scenario, result), shown)
controls("weights", "kv", "bits", "batch")
parts.picture(key="sizes")
parts.terms(shown, page.FORMAT_NOTE)
sections(
    {
        "Format by format": formats,
        "Which accelerators hold it": holders,
        "A group of weights": group,
        "Bits against error": error,
    }
)
proof(scenario, page.study)
