"""Section 10.6: a mixture of experts."""

import streamlit as st

from inferdash.charts import experts as charts
from inferdash.studies.learn import experts as page
from inferdash.studies.learn import host_experts
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import controls
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)
distinct = page.distinct_rows(scenario)


def costs() -> None:
    st.markdown(page.cost_sentence(scenario, result))
    parts.chart(charts.cost(), page.cost_rows, key="cost")


def by_part() -> None:
    parts.table(lambda one: page.parts_table(one, page.study(one)), name=page.NAME)


def router() -> None:
    controls("logits", "chosen")
    st.markdown(page.router_sentence(result))
    parts.table(lambda one: page.router_table(one, page.study(one)))


def at_home() -> None:
    controls("cpu_expert_layers", "ram_bandwidth")
    st.markdown(host_experts.sentence(scenario))
    parts.table(host_experts.table)
    st.caption(host_experts.MEASURED)


parts.result(page.TITLE, page.sentence(scenario, result), shown)
if distinct:
    controls("model", "batch", "skew", "weights")
    parts.picture(key="distinct")
    parts.terms(shown, page.DISTINCT_NOTE)
else:
    controls("model", "batch", "weights")
    state.offer(page.offer(), model=page.EXAMPLE)
sections({"Cost of a token": costs, "Experts on the CPU": at_home} if distinct else {})
sections({"Parameters by part": by_part, "The router": router})
proof(scenario, page.study)
