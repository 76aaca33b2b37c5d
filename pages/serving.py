"""Section 10.4 for real traffic: requests over time."""

import streamlit as st

from inferdash.charts import serving as charts
from inferdash.studies import over_time, own_requests, simulation
from inferdash.studies import serving as page
from inferdash.studies.plan import load_fields
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.uploading import uploaded
from inferdash.ui.working import working

scenario = state.scenario()
ran = simulation.run(scenario)
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence, page.subject(scenario))
parts.numbers(page.headline_numbers(scenario, result))
parts.notes(page.notes(scenario, result, ran))
enough = page.way_out(scenario, result)
if enough:
    state.offer("Use as many GPUs as it takes", gpus=enough)
controls("load_as", *load_fields(scenario), "replicas", "rule", "schedule", "places")
if result.batch_mean is not None and ran:
    parts.chart(charts.bars(), over_time.bar_rows(ran), key="bars", alt=over_time.BARS)
    st.caption(over_time.BARS)
    felt = page.percentile_table(result)
    parts.table(felt)
    parts.download(felt, name=page.NAME)

curve = over_time.curve_rows(scenario)
if curve:
    st.header("Latency against load", anchor=False)
    st.markdown(over_time.KNEE)
    parts.chart(charts.knee(), curve, key="knee", alt=over_time.KNEE)
controls("target_first", "target_between", "speed")

if result.batch_mean is not None:
    st.header("The same requests, batched in other ways", anchor=False)
    parts.table(page.way_table(scenario))

if result.batch_mean is not None and ran:
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
    parts.notes((*own.problems, *page.notes(scenario, own_result, own_ran)))
    if own_result.batch_mean is not None and own_ran:
        parts.chart(charts.bars(), over_time.bar_rows(own_ran), key="own bars", alt=said)
        parts.table(page.percentile_table(own_result))
        parts.table(page.figure_table(scenario, own_result))

working(page.study, scenario)
parts.sources(scenario)
