"""Section 10.6: a mixture of experts."""

import streamlit as st

from inferdash.charts import experts as charts
from inferdash.studies.learn import experts as page
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)
distinct = page.distinct_rows(scenario)


def costs() -> None:
    st.markdown(page.cost_sentence(scenario, result))
    parts.chart(charts.cost(), page.cost_rows(scenario), key="cost")


def by_part() -> None:
    table = page.parts_table(scenario, result)
    parts.table(table)
    parts.download(table, name=page.NAME)


def router() -> None:
    controls("logits", "chosen")
    st.markdown(page.router_sentence(result))
    parts.table(page.router_table(scenario, result))


parts.result(page.TITLE, page.sentence(scenario, result), shown)
if distinct:
    controls("model", "batch", "skew", "weights")
    parts.chart(charts.distinct(), distinct, key="distinct")
    parts.terms(shown, page.DISTINCT_NOTE)
else:
    controls("model", "batch", "weights")
    state.offer(page.offer(), model=page.EXAMPLE)
sections({"What a token costs": costs} if distinct else {})
sections({"Parameters by part": by_part, "A router": router})
proof(scenario, page.study)
