"""What lies in the memory of each accelerator, and how several share a model."""

import streamlit as st

from inferdash.studies.run import adapters, engine_memory
from inferdash.studies.run import memory as page
from inferdash.ui import parts, state
from inferdash.ui.entering import starting
from inferdash.ui.entering.controls import controls
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)


def engine() -> None:
    controls("memory_of", "engine_version", "engine_share", "max_num_seqs", "max_num_batched_tokens")
    st.markdown(page.answers_sentence(scenario, result))
    if scenario.kept:
        parts.table(engine_memory.parts_table(scenario, scenario.kept))
        st.caption("  \n".join(engine_memory.reasons(scenario, scenario.kept)))
        st.markdown(engine_memory.rule_note(scenario, scenario.kept))
        controls("activations", "overhead", "weight_memory", "cache_room")


def nearest() -> None:
    st.markdown(engine_memory.NEAREST)
    parts.table(engine_memory.nearest_table)
    st.caption(engine_memory.sources_of(scenario))
    parts.download(engine_memory.nearest_table(scenario, sources=True), name="starts")


def own() -> None:
    st.markdown(engine_memory.INTRO)
    starting.entry()


def several() -> None:
    if scenario.gpus == 1:
        st.markdown("Choose more than one GPU to compare layouts.")
        return
    controls("fabric", "fabric_bandwidth", "fabric_latency")
    st.markdown(page.layout_note(scenario))
    parts.notes(page.impossible_layouts(scenario))
    parts.table(page.layout_table, name=page.NAME)


def loras() -> None:
    controls("adapters", "adapter_rank")
    st.markdown(adapters.sentence(scenario))
    if scenario.adapters:
        parts.table(adapters.table)
        st.caption(adapters.MEASURED)


parts.result(page.TITLE, page.sentence(scenario, result), shown)
parts.notes(page.ways_out(scenario, result))
controls("gpus", "layout", "prompt", "batch", "speed")
parts.picture(key="memory")
parts.terms(shown)
sections(
    {
        "What the engine keeps": engine,
        "Nearest logged starts": nearest,
        "Your own start log": own,
        "Layouts for several GPUs": several,
        "LoRA adapters": loras,
    }
)
proof(scenario, page.study)
