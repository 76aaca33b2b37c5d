"""The model by part, every preset in a table, and a config.json of the reader's own."""

import streamlit as st

from inferdash.charts.quantization import part_sizes
from inferdash.facts import library
from inferdash.studies import model as page
from inferdash.ui import parts, state
from inferdash.ui.importing import importer
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence)
parts.numbers(page.headline_numbers(result))
parts.chart(part_sizes(), page.size_rows(scenario), key="parts", alt=sentence)
st.markdown(page.conventions(result))
table = page.part_table(scenario)
parts.table(table)
parts.download(table, name=page.NAME)
parts.table(page.layer_table(scenario))
parts.preset(scenario.architecture)

st.header("Every model", anchor=False)
st.markdown(
    f"{len(library.models())} models; a click on one makes it the model of every page, in its maker’s format. GPUs "
    f"are the fewest of {scenario.hardware.name} that hold it and one request, billion counts its parameters, active "
    "those that work on a token, and GB is the size of its files."
)
parts.picker(page.picker_rows(scenario), scenario.model)

st.header("A model that is not here", anchor=False)
importer()

working(page.study, scenario)
parts.sources(scenario)
