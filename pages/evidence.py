"""How right expectations are, held against published measurements."""

import streamlit as st

from inferdash.charts import evidence as charts
from inferdash.studies.check import calibration, published, verdict
from inferdash.studies.check import evidence as page
from inferdash.studies.learn import energy
from inferdash.studies.run import upkeep
from inferdash.ui import parts, state
from inferdash.ui.entering import load_tests, measuring
from inferdash.ui.sections import proof, sections

scenario = state.scenario()
result = page.study(scenario)


def one_point() -> None:
    one = page.at(place, scenario)
    st.markdown(published.sentence(one))
    parts.table(published.table(one))


def by_group() -> None:
    errors = page.error_rows(by)
    parts.chart(charts.distribution(len(errors["groups"])), errors, key=f"errors {by}")
    st.caption(page.DISTRIBUTION)
    table = page.error_table(by)
    parts.table(table)
    st.caption(page.TERMS)
    parts.download(table, name=page.NAME)
    st.markdown(page.METHOD)
    parts.table(page.OTHERS)
    parts.table(page.newest())


def nearest() -> None:
    st.markdown(verdict.respects(scenario))
    parts.notes([note for note in [page.nearest_note(scenario)] if note])
    parts.table(page.nearest_table(scenario))


def own() -> None:
    st.markdown(calibration.INTRO)
    measuring.entry()
    if scenario.measurements:
        st.markdown(calibration.sentence(scenario))
        parts.table(calibration.table(scenario))
        parts.table(calibration.moved_table(scenario))
    st.caption(calibration.HOLDS)


def own_file() -> None:
    load_tests.runs(scenario)


def not_covered() -> None:
    st.markdown(page.not_covered())


def power() -> None:
    parts.table(upkeep.error_table())
    st.caption(energy.note())


parts.result(page.TITLE, page.sentence(scenario, result), page.headline_numbers(scenario, result), marked=False)
st.markdown(page.errors_sentence(result))
with st.container(horizontal=True, vertical_alignment="bottom"):
    by = parts.pick("Group by", page.BY, key="evidence_by")
    only = parts.narrowed("Only", page.groups(by), key=f"evidence_only_{by}")
place = parts.choosable(charts.scatter(), page.drawn, by, only, key="scatter", name=charts.CHOSEN)
st.caption(page.LEGEND)
sections(
    {
        "One measurement": one_point,
        "Nearest to your scenario": nearest,
        "Errors by group": by_group,
        "Calibrate with your own measurements": own,
        "Load tests of your own": own_file,
        "Power and energy": power,
        "Not covered": not_covered,
    }
)
proof(scenario, lambda _: published.study(page.at(place, scenario)))
