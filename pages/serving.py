"""Section 10.4 for real traffic: requests over time."""

import streamlit as st

from inferdash.charts import serving as charts
from inferdash.studies import over_time, own_requests, simulation
from inferdash.studies import serving as page
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.uploading import uploaded
from inferdash.ui.working import working

scenario = state.scenario()
ran = simulation.run(scenario)
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence)
parts.numbers(page.headline_numbers(scenario, result))
parts.notes(page.notes(scenario, result))
enough = page.way_out(scenario, result)
if enough:
    state.offer("Use as many GPUs as it takes", gpus=enough)
controls("load", "replicas", "rule", "schedule", "places")
if ran and ran.summary.measured:
    parts.chart(charts.bars(), over_time.bar_rows(ran), key="bars", alt=over_time.BARS)
    st.caption(over_time.BARS)
    felt = page.percentile_table(result)
    parts.table(felt)
    parts.download(felt, name=page.NAME)

st.header("Latency against load", anchor=False)
st.markdown(over_time.KNEE)
curve = over_time.curve_rows(scenario)
if curve:
    parts.chart(charts.knee(), curve, key="knee", alt=over_time.KNEE)
controls("target_first", "target_between", "speed")

st.header("The same requests, batched in other ways", anchor=False)
parts.table(page.way_table(scenario))

if ran and ran.summary.measured:
    st.header("The batch over time", anchor=False)
    moments = over_time.moment_rows(ran)
    parts.chart(charts.moments("batch", "requests in the batch"), moments, key="batch over time", alt=sentence)
    parts.chart(charts.moments("cache", "of the cache in use"), moments, key="cache over time", alt=sentence)
    parts.table(page.figure_table(scenario, result))

st.header("Who comes, and how replicas work", anchor=False)
controls("pattern", "burstiness", "length_spread", "simulated", "seed")
controls("found_share", "prefixes", "pass_tokens", "page", "preemption", "host_bandwidth", "rent")
st.markdown(page.METHOD)

st.header("Your own requests", anchor=False)
st.markdown(own_requests.INTRO)
own = uploaded(page.NAME, None, own_requests.study)
if own:
    own_ran, own_result = own_requests.result(scenario, own)
    said = own_requests.sentence(own, own_result)
    st.markdown(said)
    parts.notes((*own.problems, *page.notes(scenario, own_result)))
    if own_ran and own_ran.summary.measured:
        parts.chart(charts.bars(), over_time.bar_rows(own_ran), key="own bars", alt=said)
        parts.table(page.percentile_table(own_result))
        parts.table(page.figure_table(scenario, own_result))

working(page.study, scenario)
parts.sources(scenario)
