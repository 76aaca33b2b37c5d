"""Section 10.5: fewer bits for each parameter."""

import streamlit as st

from inferdash.charts import quantization as charts
from inferdash.studies import quantization as page
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence)
parts.numbers(page.headline_numbers(scenario, result))
parts.chart(charts.sizes(), page.size_rows(result), key="sizes", alt=sentence)
st.caption(page.FORMAT_NOTE)
formats = page.format_table(result)
parts.table(formats)
parts.download(formats, name=page.NAME)

st.header("Which accelerators hold it", anchor=False)
holders = page.holders_table(scenario)
enough = page.holders_sentence(holders)
if enough:
    st.markdown(enough)
else:
    parts.table(holders)

st.header("A group of weights", anchor=False)
controls("weight_values", "bits", "group")
st.markdown(page.group_sentence(scenario, result))
parts.table(page.group_table(scenario, result))
st.caption(page.ROUNDING_NOTE)

st.header("Bits against error", anchor=False)
st.markdown(page.error_sentence(scenario, result))
parts.chart(charts.error(), page.error_marks(scenario, result), key="error", alt=page.error_sentence(scenario, result))
st.caption(page.ERROR_NOTE)

working(page.study, scenario)
parts.sources(scenario)
