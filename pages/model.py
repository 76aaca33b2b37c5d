"""The model by part, every preset in a table, and a config.json of the reader's own."""

import streamlit as st

from inferdash.charts.quantization import part_sizes
from inferdash.facts import library
from inferdash.studies.check import model as page
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.importing import importer
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)


def by_part() -> None:
    table = page.part_table(scenario)
    parts.table(table)
    parts.download(table, name=page.NAME)
    formats = page.format_table(scenario)
    if formats.rows:
        parts.table(formats)


def layers() -> None:
    parts.table(page.layer_table(scenario))
    parts.preset(scenario.architecture)


def every() -> None:
    st.markdown(
        f"{len(library.models())} models; a click on one makes it the model of every page, in its maker’s format. GPUs "
        f"are the fewest of {scenario.hardware.name} that hold it and one request, billion counts its parameters, "
        "active those that work on a token, and GB is the size of its files."
    )
    parts.picker(page.picker_rows(scenario), scenario.model)


parts.result(page.TITLE, page.sentence(scenario, result), shown)
controls("model", "weights", "kv")
parts.chart(part_sizes(), page.size_rows(scenario), key="parts")
parts.terms(shown, page.conventions(result))
sections(
    {
        "A model that is not here: its config.json": importer,
        "Every model": every,
        "Parameters by part": by_part,
        "Layer by layer": layers,
    }
)
proof(scenario, page.study)
