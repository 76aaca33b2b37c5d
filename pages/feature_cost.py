"""What a feature costs on an API, and when own accelerators pay."""

from datetime import UTC, datetime

import streamlit as st

from inferdash.charts import feature_cost as charts
from inferdash.studies import api, own_accelerators
from inferdash.studies import feature_cost as page
from inferdash.ui import parts, state
from inferdash.ui.controls import control, controls
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence, page.subject(scenario))
parts.numbers(page.headline_numbers(result))
changed = page.then_and_now(scenario, datetime.now(UTC).date())
parts.notes([changed] if changed else [])
parts.chart(charts.bars(), page.bar_rows(scenario), key="bars", alt=sentence)
st.caption(page.legend())
controls("api", "prices", "service")
controls("input_usd", "output_usd", "read", "write")
controls("users", "sessions", "turns")
controls("gap", "spread", "history")
controls("share_known", "read_share")
controls("tools_tokens", "system_tokens", "user_tokens", "documents_tokens", "question")
st.markdown(page.answer_sentence(scenario))
costs = page.cost_table(result)
parts.table(costs)
parts.download(costs, name=page.NAME)
parts.table(page.token_table(scenario, result))
controls("user_price")
st.markdown(page.margin_sentence(scenario, result))

st.header("What drives it", anchor=False)
st.markdown("What the month costs with a quarter less and a quarter more of each input; the dashed line is now.")
parts.chart(charts.drivers(), page.driver_rows(scenario, result), key="drivers", alt=sentence)

st.header("The same feature on other models", anchor=False)
control("compared")
found = page.compared(scenario)
if found:
    rows = {"models": page.model_rows(found)}
    parts.chart(charts.models(len(found)), rows, key="models", alt="What a month costs on each model.")
    st.caption("Beside each bar: the longest prompt that the model takes, in tokens.")
    parts.table(page.model_table(scenario, found))
parts.notes(page.left_out(scenario))

st.header("On your own accelerators", anchor=False)
st.markdown(page.own_sentence(scenario, result))
controls("rent")
parts.table(own_accelerators.own_table(result.own, result.own_expected))
st.caption(own_accelerators.NOTE)

st.header("Rules of the cache", anchor=False)
st.markdown("\n".join(f"- {line}" for line in api.rule_sentences(scenario)))

working(page.study, scenario)
parts.sources(scenario)
