"""Section 10.6: a mixture of experts."""

import streamlit as st

from inferdash.charts import experts as charts
from inferdash.studies import experts as page
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.working import working

scenario = state.scenario()
result = page.study(scenario)
sentence = page.sentence(scenario, result)

parts.headline(page.TITLE, sentence)
parts.numbers(page.headline_numbers(result))
distinct = page.distinct_rows(scenario)
if distinct:
    parts.chart(charts.distinct(), distinct, key="distinct", alt=sentence)
    st.caption("The line is the average for even routing; each square is one random pass with the skew below.")
    controls("skew")
    said = page.cost_sentence(scenario, result)
    st.header("What a token costs", anchor=False)
    st.markdown(said)
    parts.chart(charts.cost(), page.cost_rows(scenario), key="cost", alt=said)
else:
    state.offer(page.offer(), model=page.EXAMPLE)
table = page.parts_table(scenario, result)
parts.table(table)
parts.download(table, name=page.NAME)

st.header("A router", anchor=False)
controls("logits", "chosen")
st.markdown(page.router_sentence(result))
parts.table(page.router_table(scenario, result))

working(page.study, scenario)
parts.sources(scenario)
