"""The model by part, every preset in a table, and a config.json of the reader's own."""

import streamlit as st

from inferdash.facts import library
from inferdash.studies.check import model as page
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import controls
from inferdash.ui.entering.importing import importer
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)


def by_part() -> None:
    parts.table(page.part_table, name=page.NAME)
    if page.format_table(scenario).rows:
        parts.table(page.format_table)


def layers() -> None:
    parts.table(page.layer_table)
    parts.preset(scenario.architecture)


def every() -> None:
    st.markdown(
        f"{len(library.models())} models; click one to use it on every page, in its maker’s format. GPUs "
        f"are the fewest {scenario.hardware.name} that hold it and one request, billion its parameters, "
        "active those active per token, GB the size of its files."
    )
    parts.picker(page.picker_rows(scenario), scenario.model)


parts.result(page.TITLE, page.sentence(scenario, result), shown)
controls("model", "weights", "kv")
parts.picture(key="parts")
parts.terms(shown, page.conventions(result))
sections(
    {
        "Add a model by its config.json": importer,
        "Every model": every,
        "Parameters by part": by_part,
        "Layer by layer": layers,
    }
)
proof(scenario, page.study)
