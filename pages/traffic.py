"""What the reader's own requests cost, and what caching does for them."""

import streamlit as st

from inferdash.charts import feature_cost as charts
from inferdash.studies.price import api
from inferdash.studies.price import traffic as page
from inferdash.studies.price.feature_cost import legend
from inferdash.ui import parts, state
from inferdash.ui.controls import controls
from inferdash.ui.sections import proof, sections
from inferdash.ui.uploading import uploaded

scenario = state.scenario()
ways = page.ways(scenario)
head = st.container()
controls("api", "service")
written = page.written(st.session_state.get(page.BLOCK), st.session_state.get(page.UNIT))
result = uploaded(page.NAME, page.study, ways, written)
billed = result if result and result.own.requests else None


def kinds() -> None:
    if billed:
        parts.table(page.kind_table(billed))


def why() -> None:
    if billed:
        parts.table(page.why_table(billed))


def others() -> None:
    if billed:
        controls("compared")
        table = page.way_table(billed)
        parts.table(table)
        parts.download(table, name=page.NAME)


def rules() -> None:
    st.markdown("\n".join(f"- {line}" for line in api.rule_sentences(scenario)))


with head:
    parts.result(
        page.TITLE,
        page.sentence(scenario, result) if result else page.QUESTION,
        page.headline_numbers(billed) if billed else (),
        page.subject(scenario),
    )
if billed:
    bars = charts.bars("dollars for these requests", ways=len(billed.found))
    parts.chart(bars, page.bar_rows(billed), key="bars")
    st.caption(legend())
parts.notes((*result.problems, *result.notes) if result else ())
if result and (result.block_tokens or page.is_open(result)):
    with st.expander("How the trace is written"):
        st.number_input(
            "Tokens of a block (0: as its numbers say)", min_value=0, value=0, key=page.BLOCK, on_change=state.acted
        )
        st.selectbox("Unit of its times", page.UNIT_NAMES, key=page.UNIT, on_change=state.acted)
st.markdown(api.unpriced(scenario))
if result is None:
    st.markdown(page.FILES)
if billed:
    sections(
        {
            "Where the money went": kinds,
            "Why tokens were not read from the cache": why,
            "Other lifetimes and other models": others,
        }
    )
sections({"Rules of the cache": rules})
proof(scenario)
