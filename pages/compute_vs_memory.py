"""Section 10.1: compute time against memory read time, the first token, speculative decoding."""

import streamlit as st

from inferdash.charts import expected as expected_chart
from inferdash.charts import request as request_charts
from inferdash.charts import speculation as speculation_chart
from inferdash.scenario import Scenario
from inferdash.studies import expected
from inferdash.studies.learn import compute_vs_memory as page
from inferdash.studies.learn import request, roofline, speculation
from inferdash.studies.numbers import Table
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import controls
from inferdash.ui.sections import proof, sections

asked = state.scenario()
scenario = page.as_drawn(asked)
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)


def passes() -> None:
    controls("output_layer")

    def table(one: Scenario) -> Table:
        drawn = page.as_drawn(one)
        return page.pass_table(drawn, page.study(drawn))

    parts.table(table, name=page.NAME)
    st.caption(page.TERMS)


def reached() -> None:
    st.markdown(expected.sentence(scenario, result.expected))
    drawn = False
    for phase, what in (("decode", "decode pass"), ("prefill", "prefill of the prompt")):
        rows = expected.rows(scenario, result.expected, phase=phase)
        if rows:
            parts.chart(expected_chart.parts(what), rows, key=f"expected {phase}")
            drawn = True
    if drawn:
        st.caption(expected.CAPTION)
    parts.table(lambda one: expected.table(page.study(page.as_drawn(one)).expected))


def one_request() -> None:
    controls("queue", "network", "reasoning")
    first, answer_s = result.time_to_first_token, result.answer_s
    st.markdown(request.sentence(first, answer_s))
    rows = request.rows(first, answer_s, prefill=result.prefill.bound, decode=result.decode.bound)
    if rows:
        waiting = rows.pop("waiting")
        if len(waiting) > 1:
            parts.chart(request_charts.first_token(), {"waiting": waiting}, key="first_token")
        parts.chart(request_charts.timeline(), rows, key="time")


def drafted() -> None:
    controls("draft", "draft_share", "draft_tokens", "acceptance")
    st.markdown(speculation.sentence(scenario, result.speculation))
    gain = speculation.gain_rows(scenario, result.speculation)
    if gain:
        parts.chart(speculation_chart.gain(), gain, key="gain")
        st.caption(speculation.caption(scenario))
    st.markdown("**The example, step by step**")
    controls("proposal")
    parts.table(lambda one: speculation.example(one.proposal))
    st.markdown(speculation.example_sentence(scenario.proposal))


parts.result(page.TITLE, page.sentence(asked, result), shown)
parts.notes(page.notes(scenario))
controls("batch", "prompt", "weights", "gpus")
parts.picture(key="roofline")
parts.terms(shown, roofline.caption(scenario, result))
sections(
    {
        "Both passes in numbers": passes,
        "Expected beside the limit": reached,
        "One request from start to end": one_request,
        "Speculative decoding": drafted,
    }
)
proof(scenario, page.study)
