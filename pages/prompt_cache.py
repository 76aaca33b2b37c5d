"""Section 10.3: prompt caching at an API."""

import streamlit as st

from inferdash.charts import prompt_cache as charts
from inferdash.studies import api
from inferdash.studies import prompt_cache as page
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence, page.subject(scenario))
parts.numbers(page.headline_numbers(result))
st.caption(page.billing_note(scenario))
parts.chart(charts.lifetime(), page.lifetime_rows(scenario, result), key="lifetime", alt=sentence)
controls("api", "prices", "service")
controls("arrivals", "interval", "lifetime", "renewed")
controls("shared", "question", "read", "write")
controls("increment", "minimum", "requests", "input_usd")
st.markdown("\n".join(f"- {line}" for line in api.rule_sentences(scenario)))
st.markdown(page.break_even_sentence(result))
st.markdown(page.storage_sentence(scenario).replace("$", "\\$"))
for table in (page.lifetime_table(scenario), page.cliff_table(scenario)):
    if table:
        parts.table(table)
money = page.money_table(scenario, result)
parts.table(money)
parts.download(money, name=page.NAME)

st.header("What two prompts share", anchor=False)
controls("first_prompt", "second_prompt")
parts.chips(page.chips(scenario))
st.text(page.chips_sentence(scenario, result))
st.caption("Tokens here are words, numbers and signs, near what a tokenizer does.")

st.header("The order of a prompt", anchor=False)
st.markdown(page.order_sentence(scenario))
parts.order(page.part_rows(scenario))
parts.table(page.order_table(scenario))

working(page.study, scenario)
parts.sources(scenario)
