"""What a reader meets where a page fails: a sentence, and the smallest change of the scenario that mends it."""

from typing import Any, Final

import streamlit as st

from inferdash import links
from inferdash.links import BASELINE
from inferdash.scenario import FIELDS, Scenario, counts
from inferdash.studies.report import PAGES
from inferdash.ui import state

FAILED: Final = "This page cannot be shown for this scenario."
_MOST: Final = 3
"""Changes that are offered."""


def mended(page: str) -> None:
    """The sentence, and buttons that set a field back, where that alone lets the page's study be computed."""
    st.title(FAILED, anchor=False)
    changes = _changes(page, state.scenario())
    if changes:
        st.markdown("The other pages work, and the scenario is kept. One of these changes fixes this page.")
    else:
        st.markdown("The other pages work, and the scenario is kept. No single change fixes this page.")
    for name, value in changes:
        said = links.written(name, value) or "empty"
        st.button(
            f"Set “{FIELDS[name].title}” to {said}", key=f"mend {name}", on_click=state.change, kwargs={name: value}
        )
    st.button("Reset to the example", key="reset_failed", on_click=state.reset)


def _changes(page: str, scenario: Scenario) -> list[tuple[str, Any]]:
    """Fields with the value that a session begins with, with which the page's study does not fail."""
    found = []
    for name in FIELDS:
        value = getattr(BASELINE, name)
        if getattr(scenario, name) != value and counts(name, scenario):
            changed, problems = links.read({name: value}, scenario)
            if not problems and _stands(page, changed):
                found.append((name, value))
        if len(found) == _MOST:
            break
    return found


def _stands(page: str, scenario: Scenario) -> bool:
    study = PAGES[page]
    if not hasattr(study, "study"):
        return False
    try:
        study.sentence(scenario, study.study(scenario))
    except Exception:  # noqa: BLE001 - whatever fails is what is asked
        return False
    return True
