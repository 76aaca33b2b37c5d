"""Working: the arithmetic that really ran, formula by formula."""

from collections.abc import Callable
from typing import Final

import streamlit as st

from inferdash.formula import Step, once, recording
from inferdash.references import REFERENCES
from inferdash.scenario import Scenario

_REST: Final = "What runs on what"
"""The name of the steps that no part of a study names."""


def working(study: Callable[[Scenario], object], scenario: Scenario) -> None:
    """Each formula of a study once: symbols, this scenario's numbers, the result; a tab a part of the study."""
    with recording() as steps:
        study(scenario)
    parts: dict[str, list[Step]] = {}
    for step in steps:
        parts.setdefault(step.section or _REST, []).append(step)
    if not parts:
        st.markdown("Nothing is computed for this scenario.")
        return
    for tab, group in zip(st.tabs(list(parts)), parts.values(), strict=True):
        tab.markdown("\n\n".join(shown(step) for step in once(group)))


def shown(step: Step) -> str:
    """A formula in words, then symbols, numbers and result, then its source, as Markdown."""
    reference = REFERENCES[step.formula.ref]
    source = f"[{reference.title}]({reference.link})" if reference.link else reference.title
    return f"{step.formula.summary}\n\n$$\n{step.latex}\n$$\n\n:small[{source}]"
