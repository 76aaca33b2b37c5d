"""A load tool's file: uploaded, held against what was expected, and an engine to take away."""

from datetime import UTC, datetime
from typing import Final

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from inferdash.charts import evidence as charts
from inferdash.scenario import Scenario
from inferdash.scenario.machine import Machine
from inferdash.studies.check import own_runs
from inferdash.studies.check.own_runs import OwnRuns
from inferdash.ui import parts, state
from inferdash.ui.hosting import heavy

_DONE: Final = "_load_tests_done"
"""Session state: what was asked last, and what came of it."""
_SET_UP: Final = (
    *(name for name in Machine.model_fields if name not in {"title", "prompt", "answer", "batch"}),
    "measured",
)
"""Fields on which the answer depends beside the file."""


def runs(scenario: Scenario) -> None:
    """The uploader, and what came of the file that was last uploaded with it."""
    st.markdown(own_runs.INTRO)
    files = st.file_uploader(
        own_runs.LABEL,
        key="_load_tests",
        accept_multiple_files=True,
        on_change=state.acted,
        max_upload_size=20,
        help="JSON, JSON lines or CSV, and an engine file (TOML) where you have one.",
    )
    here = [one for one in files if isinstance(one, UploadedFile)]
    given = next((one for one in here if one.name.endswith(".toml")), None)
    tests = [one for one in here if one is not given]
    if not tests:
        st.session_state.pop(_DONE, None)
        if given:
            st.text("Add the file of a load tool to hold the engine against.")
        return
    file, *others = tests
    for one in others:
        st.text(f"{one.name} is not read: one file of a load tool at a time, and {file.name} came first.")
    found = _read(scenario, file, given)
    parts.notes(found.problems)
    rows = own_runs.drawn(found)
    if rows:
        parts.chart(charts.scatter(), rows, key="own runs")
        st.caption(own_runs.LEGEND)
        parts.table(own_runs.errors(found))
        parts.table(own_runs.table(found, most=own_runs.SHOWN))
        if said := own_runs.cut(found):
            st.caption(said)
            parts.download(own_runs.table(found), name="load tests")
    if found.engine:
        name = f"{scenario.engine}-{scenario.model}-{scenario.accelerator}"
        parts.save("Download the engine", found.engine, name=name, kind=("toml", "application/toml"))
        st.caption(own_runs.KEEP)


def _read(scenario: Scenario, file: UploadedFile, given: UploadedFile | None) -> OwnRuns:
    """What came of a file, read once for a set-up."""
    question = (file.file_id, given.file_id if given else "", tuple(str(getattr(scenario, name)) for name in _SET_UP))
    done: dict[tuple[object, ...], OwnRuns] = st.session_state.get(_DONE, {})
    if question in done:
        return done[question]
    bar = st.progress(0.0)

    def told(share: float, waiting: str) -> None:
        bar.progress(share, waiting or None)

    text = given.getvalue().decode("utf-8", "replace") if given else ""
    try:
        result = heavy.done(
            own_runs.study,
            scenario,
            text,
            file.name,
            datetime.now(UTC).date(),
            told=told,
            content=file.getbuffer(),
        )
    except heavy.HeavyWorkError as failure:
        return OwnRuns(problems=(str(failure),))
    bar.empty()
    st.session_state[_DONE] = {question: result}
    return result
