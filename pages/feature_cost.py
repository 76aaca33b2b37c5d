"""What a feature costs on an API, and when own accelerators pay."""

from datetime import UTC, datetime

import streamlit as st

from inferdash.charts import feature_cost as charts
from inferdash.charts import ownership as owning_charts
from inferdash.charts import ranges as range_charts
from inferdash.studies.check import own_accelerators
from inferdash.studies.price import (
    api,
    breakdown,
    dated,
    extras,
    limits,
    other_models,
    outlook,
    ownership,
    ranges,
    rented,
    savings,
)
from inferdash.studies.price import feature_cost as page
from inferdash.ui import parts, state
from inferdash.ui.entering import pricing
from inferdash.ui.entering.controls import control, controls
from inferdash.ui.entering.ranging import ranging
from inferdash.ui.navigation import examples
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
today = datetime.now(UTC).date()
result = page.study(scenario)
shown = page.headline_numbers(scenario, result)


def save() -> None:
    parts.table(lambda one: savings.table(one, page.study(one)), name="ways-to-save")


def detail() -> None:
    st.markdown(breakdown.turn_sentence(scenario))
    parts.table(breakdown.part_table)
    parts.chart(charts.turns(), breakdown.turn_rows(scenario), key="turns")
    st.markdown(page.answer_sentence(scenario))

    parts.table(lambda one: page.cost_table(page.study(one)), name=page.NAME)
    parts.table(lambda one: page.token_table(one, page.study(one)))


def elsewhere() -> None:
    st.markdown("**Three APIs side by side**")
    control("beside")
    parts.chart(charts.bars(ways=page.MOST_BESIDE), savings.beside_rows(scenario), key="beside")
    parts.table(savings.beside_table(scenario))
    st.markdown("**More models**")
    control("compared")
    found = other_models.compared(scenario)
    if found:
        parts.chart(charts.models(len(found)), {"models": other_models.chart_rows(found)}, key="models")
        st.caption("Beside each bar: the context length of the model, in tokens.")
        parts.table(other_models.table(scenario, found))
    parts.notes(other_models.left_out(scenario))


def ahead() -> None:
    st.markdown("**Growth**")
    control("growth")
    parts.table(lambda one: outlook.growth_table(one, page.study(one)))
    st.markdown("**Margin**")
    controls("user_price")
    st.markdown(outlook.margin_sentence(scenario, result))
    st.markdown("**Sensitivity**")
    st.markdown("The month with a quarter less and a quarter more of each input; the dashed line is now.")
    parts.chart(charts.drivers(), outlook.driver_rows(scenario, result), key="drivers")


def spread() -> None:
    ranging()
    if not scenario.ranges:
        st.markdown(ranges.EXAMPLE)
        state.offers(ranges.suggested(scenario))
        return
    found = ranges.results(scenario, result)
    st.markdown(parts.plain(ranges.sentence(scenario, found)))
    parts.table(ranges.table(found))
    parts.notes([said for said in (ranges.leaning(scenario), ranges.still(found)) if said])
    bins = ranges.histogram_rows(scenario)
    if bins:
        st.markdown(f"**A month on {parts.plain(next(iter(found)))}**")
        parts.chart(range_charts.histogram(), {"bins": bins}, key="ranges")
    st.markdown(ranges.share_sentence(scenario))
    st.caption(ranges.note(scenario))


def own() -> None:
    controls("model", "weights", "accelerator", "gpus", "rent")
    st.markdown(page.own_sentence(scenario, result))
    parts.table(own_accelerators.own_table(result.own, result.own_expected, page.unit(scenario)))
    st.caption(f"{parts.plain(dated.rent(scenario, today))} {own_accelerators.NOTE}")
    st.markdown("**Buy, rent or call an API**")
    controls("server_usd", "life", "residual", "interest", "upkeep", "people_usd")
    controls("kwh_usd", "site_factor", "colocation_usd", "grid", "rent")
    found = ownership.ownership(scenario, result)
    st.markdown(parts.plain(ownership.sentence(scenario, found)))
    if found:
        parts.chart(owning_charts.ways(), ownership.chart_rows(found), key="owning")
        parts.table(ownership.break_even_table(found))
        parts.table(ownership.table(scenario, found, today))
    parts.table(ownership.rent_table(scenario, today))
    st.caption(ownership.NOTE)


def rules() -> None:
    st.markdown("**Prices**")
    st.text(dated.api_prices(scenario, today))
    pricing.update()
    pricing.price_book()
    st.markdown("**Rate limits**")
    controls("rpm", "itpm", "otpm")
    st.markdown(limits.sentence(scenario))
    parts.table(limits.table)
    st.markdown("**Cache rules**")
    st.markdown("\n".join(f"- {line}" for line in api.rule_sentences(scenario)))


def more() -> None:
    controls(*extras.fields(scenario))
    st.markdown(parts.plain(extras.sentence(scenario)))
    parts.table(extras.table)
    st.caption(" ".join((extras.NOTE, parts.plain(extras.sources(scenario)))))


parts.result(page.TITLE, page.sentence(scenario, result), shown, page.subject(scenario))
changed = page.then_and_now(scenario, today)
parts.notes([*([changed] if changed else []), *([rented.NOTE] if rented.chosen(scenario) else [])])
controls("runs_on", *(["rent"] if rented.chosen(scenario) else []), "api", "service", "marked")
parts.caption_of_both(savings.price_sentence)
controls("use_as", *(("users", "sessions") if scenario.use_as == "users" else ("volume", "turns")))
parts.picture(key="bars")
st.caption(parts.plain(dated.api_prices(scenario, today)))
parts.terms(shown)
if scenario.ranges:
    state.opens("Low, middle and high", once=scenario.ranges)
sections(
    {
        **({"Low, middle and high": spread} if scenario.ranges else {}),
        "Start from an example": lambda: examples(page.NAME),
        "Ways to save": save,
        "Other APIs and models": elsewhere,
        "By part of the prompt and by turn": detail,
        "Images, tools and agents": more,
        "Low, middle and high": spread,
        "Growth and margin": ahead,
        "On your own GPUs": own,
        "Prices, rate limits and cache rules": rules,
    }
)
proof(scenario, page.study)
