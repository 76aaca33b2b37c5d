"""Section 10.3: prompt caching at an API."""

from datetime import UTC, datetime

import streamlit as st

from inferdash.studies.price import api, dated
from inferdash.studies.price import prompt_cache as page
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import controls
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)


def rules() -> None:
    st.markdown("\n".join(f"- {line}" for line in api.rule_sentences(scenario)))
    st.markdown(page.break_even_sentence(scenario, result))
    st.markdown(page.storage_sentence(scenario).replace("$", "\\$"))


def money() -> None:
    parts.table(lambda one: page.money_table(one, page.study(one)), name=page.NAME)


def lifetimes() -> None:
    tables = [table for table in (page.lifetime_table(scenario), page.cliff_table(scenario)) if table]
    for table in tables:
        parts.table(table)
    if not tables:
        st.markdown(page.nothing_to_compare(scenario))


def prompts() -> None:
    controls("first_prompt", "second_prompt")
    parts.chips(page.chips(scenario))
    st.text(page.chips_sentence(scenario, result))
    st.caption("Tokens here are words, numbers and punctuation, roughly as a tokenizer would split them.")


def order() -> None:
    st.markdown(page.order_sentence(scenario))
    parts.order(page.part_rows(scenario))
    parts.table(page.order_table)


parts.result(page.TITLE, page.sentence(scenario, result), shown, page.subject(scenario))
controls("api", "shared", "question", "interval", "lifetime")
parts.picture(key="lifetime")
parts.terms(shown, page.billing_note(scenario))
st.caption(parts.plain(dated.api_prices(scenario, datetime.now(UTC).date())))
sections(
    {
        "Rules of the cache": rules,
        "Cost by request": money,
        "Lifetimes and minimums": lifetimes,
        "What two prompts share": prompts,
        "The order of a prompt": order,
    }
)
proof(scenario, page.study)
