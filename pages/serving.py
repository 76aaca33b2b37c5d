"""Section 10.4 for real traffic: requests over time."""

from datetime import UTC, datetime

import streamlit as st

from inferdash.charts import serving as charts
from inferdash.charts import speculation as speculation_charts
from inferdash.scenario.agents import SESSIONS
from inferdash.studies.learn import over_time
from inferdash.studies.price import dated, own_requests
from inferdash.studies.run import (
    autoscaling,
    disaggregation,
    serving_band,
    sessions,
    simulation,
    speculation,
    tiers,
    upkeep,
)
from inferdash.studies.run import serving as page
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import controls
from inferdash.ui.entering.uploading import uploaded
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
ran = simulation.run(scenario)
result = page.study(scenario)


def felt() -> None:
    parts.table(lambda one: page.percentile_table(page.study(one)), name=page.NAME)


def sure() -> None:
    band = serving_band.study(scenario, result)
    if band:
        parts.table(serving_band.table(band))
        st.caption(serving_band.NOTE)


def knee() -> None:
    st.markdown(over_time.KNEE)
    controls("target_first", "target_between")
    parts.chart(charts.knee(), over_time.curve_rows, key="knee")


def ways() -> None:
    parts.table(page.way_table)


def batch() -> None:
    if ran:
        moments = over_time.moment_rows(ran)
        parts.chart(charts.moments("batch", "requests in the batch"), moments, key="batch over time")
        parts.chart(charts.moments("cache", "of the cache in use"), moments, key="cache over time")
        parts.table(lambda one: page.figure_table(one, page.study(one)))
        st.caption(parts.plain(dated.rent(scenario, datetime.now(UTC).date())))


def apart() -> None:
    controls("disaggregated", *scenario.prefill_fields)
    if scenario.disaggregated:
        controls("fabric", "fabric_bandwidth", "fabric_latency")
    st.markdown(disaggregation.sentence(scenario))
    stages = disaggregation.table(scenario)
    if stages:
        parts.table(stages)
        st.caption(f"{disaggregation.matched(scenario)} {disaggregation.METHOD}".strip())


def agents() -> None:
    if not sessions.is_of(scenario):
        st.markdown(sessions.INTRO)
        state.offer("Simulate agent sessions", pattern=SESSIONS)
        return
    controls("live_sessions", "session_turns", "session_start", "session_shared", "session_growth")
    controls("tool_pause", "person_every", "person_pause", "compact_at", "subagents", "subagent_turns")
    if served:
        parts.table(sessions.table)
    st.markdown(sessions.NOTE)


def below() -> None:
    controls("host_memory", "host_bandwidth", "ssd", "ssd_bandwidth", "write_policy")
    st.markdown(tiers.sentence(scenario, ran))
    st.markdown(tiers.rate_sentence(scenario, ran))
    if sessions.is_of(scenario) and served:
        parts.table(tiers.room_table)
        st.markdown(tiers.worth_sentence(scenario))
        st.caption(tiers.NOTE)
    else:
        st.caption(tiers.UNKNOWN)


def over_a_day() -> None:
    controls("start_up", "load_rate", "scale_aim")
    st.markdown(autoscaling.sentence(scenario))
    parts.table(autoscaling.table)
    st.caption(autoscaling.NOTE)


def arrivals() -> None:
    controls("schedule", "pattern", "burstiness", "length_spread", "simulated", "seed")
    own = () if sessions.is_of(scenario) else ("found_share", "prefixes")
    controls(*own, "pass_tokens", "page", "preemption", "host_bandwidth", "rent")
    st.markdown(page.METHOD)


def proposed() -> None:
    controls("speculation", *scenario.acceptance_fields)
    st.markdown(speculation.sentence(scenario, result.batch_mean))
    gained = speculation.rows(scenario, result.batch_mean)
    if gained:
        parts.chart(speculation_charts.by_batch(), gained, key="gain by batch")
        st.caption(speculation.caption(scenario))
        st.markdown(speculation.room_note(scenario))


def own_file() -> None:
    st.markdown(own_requests.INTRO)
    own = uploaded(page.NAME, own_requests.study)
    if own:
        own_ran, own_result = own_requests.result(scenario, own)
        st.markdown(own_requests.sentence(own, own_result))
        st.markdown(own_requests.reuse_sentence(own_ran))
        st.markdown(own_requests.session_sentence(own_ran))
        parts.notes((*own.problems, *page.notes(scenario, own_result, own_ran)))
        if own_result.batch_mean is not None and own_ran:
            parts.chart(charts.bars(), over_time.bar_rows(own_ran), key="own bars")
            parts.table(page.percentile_table(own_result))
            parts.table(page.figure_table(scenario, own_result))


def power() -> None:
    controls("site_factor", "kwh_usd", "grid")
    if result.batch_mean is not None:
        st.markdown(upkeep.serving_sentence(scenario, result.batch_mean))


parts.result(
    page.TITLE,
    page.sentence(scenario, result),
    lambda: page.headline_numbers(scenario, result),
    page.subject(scenario),
    batches=() if result.batch_mean is None else (result.batch_mean,),
    served=True,
)
parts.notes([*page.notes(scenario, result, ran), *page.other_batch(scenario, result)])
enough = page.way_out(scenario, result)
if enough:
    state.offer("Use as many GPUs as it takes", gpus=enough)
controls(*sessions.load_fields(scenario), "replicas", "places", "rule", "speed")
served = result.batch_mean is not None and ran is not None
if parts.picture(key="bars"):
    st.caption(f"{over_time.BARS} {over_time.BARS_APART}" if scenario.disaggregated else over_time.BARS)
if served:
    sections(
        {
            **({serving_band.TITLE: sure} if serving_band.study(scenario, result) else {}),
            "Latency percentiles": felt,
            **({} if sessions.is_of(scenario) else {"Latency against load": knee}),
            **({} if scenario.disaggregated else {"Other ways to batch": ways}),
            "The batch over time": batch,
            **({} if sessions.is_of(scenario) else {"Autoscaling over a day": over_a_day}),
            "Power and energy": power,
        }
    )
sections(
    {
        "Arrivals and scheduling": arrivals,
        "Agent sessions": agents,
        "KV cache in host memory and on SSD": below,
        "Speculative decoding": proposed,
        **({} if sessions.is_of(scenario) else {"Prefill and decode apart": apart}),
        "Your own requests": own_file,
    }
)
proof(scenario, page.study)
