"""The folded parts of a page: each is computed and sent only where it is open."""

from collections.abc import Callable, Mapping

import streamlit as st

from inferdash.scenario import Scenario
from inferdash.studies import terms
from inferdash.ui import state, working
from inferdash.ui.parts import LIMIT


def sections(bodies: Mapping[str, Callable[[], None]]) -> None:
    """The parts of a page under their headings, in order; one that was opened stays so for the session."""
    for title, body in bodies.items():
        section(title, body)


def section(title: str, body: Callable[[], None], *, icon: str | None = None, key: str = "") -> None:
    """One part of a page behind its heading."""
    widget = state.visit(key or f"section {title}")
    folded = st.expander(
        title, state.is_open(title), icon=icon, key=widget, on_change=state.toggled, args=(title, widget)
    )
    if state.is_open(title):
        with folded:
            body()


def proof(scenario: Scenario, study: Callable[[Scenario], object] | None = None) -> None:
    """The working of a page, where it has one, its sources, and what its words mean."""
    if study:
        section("Working", lambda: working.working(study, scenario), icon=":material/function:", key="working")
    section("Sources", lambda: _sources(scenario), icon=":material/menu_book:", key="sources")
    section("Glossary", _glossary, icon=":material/dictionary:", key="glossary")


def _glossary() -> None:
    st.markdown(terms.markdown())


def _sources(scenario: Scenario) -> None:
    """Where the facts of the scenario come from, and the day they were checked; what the reader entered says so."""
    for fact, entered in (
        (scenario.architecture, scenario.entered_shape),
        (scenario.hardware, scenario.entered_figures),
    ):
        checked = f" · checked {fact.checked} · confidence {fact.confidence}"
        lines = [f"- {line}" for line in fact.source] + [f"- entered by the reader: {', '.join(entered)}"] * bool(
            entered
        )
        notes = " ".join(text for text in (fact.note, getattr(fact, "sparse_trap", "")) if text)
        own = fact.maker == ""
        st.markdown(f"**{fact.name}**{'' if own else checked}\n\n" + "\n".join(lines) + f"\n\n{notes}")
    st.markdown(LIMIT)
