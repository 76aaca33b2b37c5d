"""The part of the scenario that a page does not draw itself, beside it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import streamlit as st

from inferdash.scenario import FIELDS, OWN, Place, counts, mark
from inferdash.studies.check import kinds
from inferdash.studies.price import feature_cost, prompt_cache, traffic
from inferdash.ui import state
from inferdash.ui.entering.controls import DATASHEET, control
from inferdash.ui.sections import section

_OWN_FIGURES: Final = "Own hardware figures"
_RATES: Final = ("prices", "input_usd", "output_usd", "read", "write")

_MACHINE: Final = {
    group.capitalize(): [name for name in FIELDS if mark(name, Place).group == group and name not in DATASHEET]
    for group in ("model", "accelerator", "workload")
}
"""What runs on what, for which requests."""
_SIDEBARS: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    feature_cost.NAME: {
        "Prompt and answer": (
            *("tools_tokens", "system_tokens", "user_tokens", "documents_tokens", "question", "answer"),
            "history",
        ),
        "Sessions": ("turns", "gap", "spread", "share_known", "read_share"),
        "Prices": _RATES,
    },
    prompt_cache.NAME: {
        "Requests": ("arrivals", "requests"),
        "Prices": ("service", *_RATES),
        "Cache": ("renewed", "increment", "minimum"),
    },
    traffic.NAME: {
        "Prices": _RATES,
        "Cache": ("lifetime", "renewed", "minimum", "increment"),
    },
}
"""Page -> heading -> fields, where they are not the machine and its workload."""


def sidebar(page: str) -> None:
    """The fields that count on a page and have no widget on it; to be called after the page."""
    with st.sidebar:
        for heading, fields in _SIDEBARS.get(page, _MACHINE).items():
            if any(counts(name, state.scenario()) and name not in state.fields() for name in fields):
                st.subheader(heading)
            _each(fields)
            if heading == "Accelerator":
                _own_figures()
                proposed = kinds.proposal(state.scenario())
                if proposed:
                    state.offer(proposed[0], **proposed[1])
        st.subheader("Link")
        control("title", everywhere=True)
        st.button("Reset to the example", key="reset", on_click=state.reset, width="stretch")


def _own_figures() -> None:
    """The datasheet's figures, each to be replaced; open where they are needed or in use."""
    scenario = state.scenario()
    if any(state.shown(name) for name in DATASHEET) or scenario.accelerator == OWN or scenario.deployment.peak is None:
        state.opens(_OWN_FIGURES)
    section(_OWN_FIGURES, lambda: _each(DATASHEET))


def _each(fields: Iterable[str]) -> None:
    for name in fields:
        control(name, everywhere=True)
