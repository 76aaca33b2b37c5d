"""The scenario at a glance, and scenarios worth a look."""

from datetime import UTC, datetime

import streamlit as st

from inferdash.studies.capacity import ways_out
from inferdash.studies.learn import batch_curve, batching, compute_vs_memory, experts, kv_cache, quantization
from inferdash.studies.learn import overview as page
from inferdash.studies.price import dated, prompt_cache
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import controls
from inferdash.ui.navigation import Link, cards, examples
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)


def why() -> None:
    studies = (compute_vs_memory, kv_cache, prompt_cache, batching, quantization, experts)
    said = [Link(one.NAME, one.TITLE, one.sentence(scenario, one.study(scenario))) for one in studies]
    cards("Why, page by page", said)


parts.result(page.TITLE, page.sentence(scenario, result), shown, batches=(scenario.batch, result.compared_batch))
controls("model", "accelerator", "gpus", "batch", "speed")
state.offers(ways_out(scenario, tokens=scenario.prompt))
drawn = parts.picture(key="curve")
parts.terms(shown, batch_curve.curve_caption(scenario, batching.study(scenario)) if drawn else "")
controls("rent")
st.caption(parts.plain(dated.rent(scenario, datetime.now(UTC).date())))
sections({"Start from an example": examples, "Why, page by page": why})
proof(scenario, page.study)
