"""What the reader's own requests cost, and what caching does for them."""

from datetime import UTC, date, datetime

import streamlit as st

from inferdash.charts import feature_cost as charts
from inferdash.studies.price import api, billed, dated, own_log, ways
from inferdash.studies.price import traffic as page
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import controls
from inferdash.ui.entering.uploading import uploaded
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
asked = ways.of(scenario)
rules = ways.rules_of(asked)
head = st.container()
controls("api", "service")
written = own_log.written(*(st.session_state.get(key) for key in (own_log.BLOCK, own_log.UNIT, own_log.DATES)))
file = uploaded(
    page.NAME, own_log.read, rules, written, still=lambda before: before.answers(rules, written), at=own_log.read_at
)
result = page.study(file, asked, date.fromisoformat(scenario.prices)) if file else None
bill = result if result and result.own.requests else None


def models() -> None:
    if bill:
        parts.table(billed.model_table(bill.parts, own=bill.as_billed, noun=bill.noun), name="traffic-by-model")


def days() -> None:
    if bill:
        st.markdown(page.month_sentence(bill))
        rows = billed.day_rows(bill.parts)
        if rows["days"]:
            parts.chart(charts.days(), rows, key="days")
            parts.table(billed.day_table(bill.parts, noun=bill.noun), name="traffic-by-day")


def kinds() -> None:
    if bill:
        parts.table(page.kind_table(bill))
        parts.table(page.why_table(bill))


def others() -> None:
    if bill:
        controls("compared")
        parts.table(page.way_table(bill), name=page.NAME)


def rules_of_cache() -> None:
    st.markdown("\n".join(f"- {line}" for line in api.rule_sentences(scenario)))


with head:
    parts.result(
        page.TITLE,
        page.sentence(scenario, result) if result else page.QUESTION,
        page.headline_numbers(bill) if bill else (),
        page.subject(scenario),
    )
    if bill:
        bars = charts.bars("dollars for these requests", ways=len(bill.found))
        parts.chart(bars, page.bar_rows(bill), key="bars")
parts.notes((*result.problems, *result.notes) if result else ())
if result and (result.block_tokens or page.is_open(result, written)):
    with st.expander("How to read the file"):
        st.number_input(
            "Tokens per block (0: inferred)", min_value=0, value=0, key=own_log.BLOCK, on_change=state.acted
        )
        st.selectbox("Unit of times", own_log.UNIT_NAMES, key=own_log.UNIT, on_change=state.acted)
        st.selectbox("In dates such as 11/02/2026", own_log.ORDER_NAMES, key=own_log.DATES, on_change=state.acted)
st.markdown(api.unpriced(scenario))
st.caption(parts.plain(dated.api_prices(scenario, datetime.now(UTC).date())))
if result is None:
    st.markdown(page.FILES)
if bill:
    sections(
        {
            "By model": models,
            "By day, and a month": days,
            "Other lifetimes and other models": others,
            "Where the money went, and why input was not cached": kinds,
        }
    )
sections({"Rules of the cache": rules_of_cache})
proof(scenario)
