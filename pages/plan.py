"""Meet a target: the cheapest set-up that keeps a promise."""

from datetime import UTC, datetime

import streamlit as st

from inferdash.studies.run import plan as page
from inferdash.studies.run import plan_notes, plan_rents, planning, upkeep
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import control, controls
from inferdash.ui.navigation import examples
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
today = datetime.now(UTC).date()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)
choices = page.choice_table(result)
changes = planning.changes(scenario)


def choose_from() -> None:
    control("considered")
    control("formats")
    controls("own_rents", "most_gpus", "found_share", "speed")
    controls("speculation", *scenario.acceptance_fields)
    controls("disaggregated", *scenario.decode_fields)
    controls("fabric", "fabric_bandwidth", "fabric_latency")


def cheapest() -> None:
    parts.table(choices, name=page.NAME)
    parts.save("Download the plan", page.markdown(scenario, result), name=page.NAME)


def failures() -> None:
    table = page.failure_table(scenario)
    if table:
        parts.table(table)
    else:
        st.markdown("Every set-up considered meets the targets.")


def start() -> None:
    parts.texts([(one.engine, one.text, one.source) for one in planning.starts(scenario)])
    st.caption(planning.SLACK)


def rents() -> None:
    parts.table(plan_rents.rent_table)
    st.caption(plan_rents.rent_sources(scenario))
    st.markdown(page.METHOD)


def energy() -> None:
    controls("site_factor", "grid", "kwh_usd", "life", "interest", "server_usd")
    found = upkeep.kept(scenario)
    st.markdown(upkeep.sentence(scenario, found))
    if found:
        parts.table(upkeep.table(found))
    st.caption(parts.plain(f"{upkeep.bought_on(scenario, found, today)} {upkeep.NOTE}"))


parts.result(page.TITLE, page.sentence(scenario, result), shown, page.subject(scenario), marked=False)
controls("load_as", *page.load_fields(scenario), "target_first", "target_between", "confidence")
if parts.picture(key="frontier"):
    st.caption(page.FRONTIER)
st.markdown(page.cost_sentence(scenario, result))
st.caption(plan_rents.rent_days(scenario, today))
st.caption(page.taken(scenario))
if changes and planning.is_used(scenario, changes):
    st.success(page.IN_USE, icon=":material/check:")
elif changes:
    state.offer("Use this set-up", **changes)
parts.notes(plan_notes.notes(scenario))
sections({"Start from an example": lambda: examples(page.NAME)})
sections({"The cheapest that meet the targets": cheapest} if choices.rows else {})
sections({"What to consider": choose_from, "Why others fail": failures})
sections({"How to start a replica": start} if changes else {})
sections({"Rent, energy and buying": energy, "Rents": rents})
proof(scenario, planning.worked if changes else None)
