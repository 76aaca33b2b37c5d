"""Working: the arithmetic that really ran, formula by formula."""

from collections.abc import Callable, Iterable
from itertools import groupby

import streamlit as st

from inferdash.formula import Step, recording
from inferdash.references import REFERENCES
from inferdash.scenario import Scenario
from inferdash.ui import state


def working(study: Callable[[Scenario], object], scenario: Scenario) -> None:
    """A folded part that shows each formula of a study once: symbols, this scenario's numbers, the result."""
    folded = st.expander("Working", icon=":material/function:", key="working", on_change=state.acted)
    if not folded.open:
        return
    with recording() as steps:
        study(scenario)
    with folded:
        for section, group in groupby(_once(steps), key=lambda step: step.section):
            st.markdown(f"#### {section}\n\n" + "\n\n".join(_shown(step) for step in group))


def _once(steps: Iterable[Step]) -> Iterable[Step]:
    seen: set[tuple[str, str]] = set()
    for step in steps:
        key = (step.formula.name, step.text)
        if key not in seen:
            seen.add(key)
            yield step


def _shown(step: Step) -> str:
    reference = REFERENCES[step.formula.ref]
    source = f"[{reference.title}]({reference.link})" if reference.link else reference.title
    return f"{step.formula.summary}\n\n$$\n{step.latex}\n$$\n\n:small[:gray[{source}]]"
