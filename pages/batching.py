"""Section 10.4: many requests in one pass."""

from datetime import UTC, datetime

import streamlit as st

from inferdash.charts import batching as charts
from inferdash.charts.loading import along_batch
from inferdash.charts.ranges import per_joule
from inferdash.studies.capacity import ways_out
from inferdash.studies.learn import batch_curve, energy, slots
from inferdash.studies.learn import batching as page
from inferdash.studies.price import dated
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import controls
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)


def batches() -> None:
    parts.table(lambda one: page.batch_table(page.study(one)), name=page.NAME)


def memory_read() -> None:
    st.markdown(page.arithmetic_sentence(scenario, result))
    parts.chart(along_batch(), lambda one: batch_curve.load_rows(one, page.study(one)), key="loading")


def cost() -> None:
    st.markdown(page.token_sentence(result))
    controls("input_usd", "output_usd", "utilization")
    parts.table(lambda one: page.rent_table(page.study(one)))


def power() -> None:
    controls("site_factor", "kwh_usd", "grid")
    st.markdown(energy.sentence(scenario))
    if energy.rows(scenario):
        parts.chart(per_joule(), lambda one: {"energy": energy.rows(one)}, key="energy")
        parts.table(energy.table)
    st.caption(energy.note())


def ways() -> None:
    st.markdown(slots.stay_sentence(result))
    controls("slots", "lengths")
    st.caption(slots.LENGTHS_NOTE)
    for way in ("static", "continuous"):
        parts.chart(charts.stays(way), slots.stay_rows(scenario, result, way), key=way)


def paged() -> None:
    st.markdown(slots.page_sentence(scenario, result))
    controls("page", "longest")


def rounding() -> None:
    st.markdown(slots.rounding_sentence(scenario))
    controls("addends", "digits")
    parts.table(slots.rounding_table)


parts.result(
    page.TITLE,
    page.sentence(scenario, result),
    shown,
    page.subject(scenario),
    batches=(result.compared_batch,),
)
controls("batch", "prompt", "gpus", "rent", "speed", instead=page.instead(scenario, result))
state.offers(ways_out(scenario, tokens=scenario.prompt))
drawn = parts.picture(key="curve")
parts.terms(shown, batch_curve.curve_caption(scenario, result) if drawn else "")
st.caption(parts.plain(dated.rent(scenario, datetime.now(UTC).date())))
sections(
    {
        "Batch by batch": batches,
        "Memory read per pass": memory_read,
        "Why an output token costs more": cost,
        "Power and energy": power,
        "Static and continuous batching": ways,
        "Paged KV cache": paged,
        "Why the batch can change an answer": rounding,
    }
)
proof(scenario, page.study)
