"""Links to pages that can be copied and opened beside, and that keep the scenario when they are followed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import streamlit as st

from inferdash import links
from inferdash.studies.report import GROUPS, PAGES
from inferdash.ui import state

_SCRIPT: Final = Path(__file__).with_name("navigation.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Link:
    """A link to a page."""

    page: str
    """Name of its file and of its study."""
    name: str
    text: str = ""
    """What stands below the name; a link with a text is a card."""
    query: str | None = None
    """The scenario that it opens; None for the reader's."""


def row(current: str) -> None:
    """Links to all pages in their groups, the open one marked."""
    groups = {title: [Link(name, PAGES[name].TITLE) for name in names] for title, names in GROUPS.items()}
    _navigation("Pages", groups, kind="pages", current=current)


def cards(label: str, shown: Sequence[Link]) -> None:
    """Links with a sentence each, side by side."""
    _navigation(label, {"": shown}, kind="cards")


def _navigation(label: str, groups: Mapping[str, Sequence[Link]], *, kind: str, current: str = "") -> None:
    """Draws links.

    A click is told to the server, which goes on with the scenario as it is when the click arrives: an entry that is
    left by the very click counts. The address of a link, to be copied or opened beside, holds the scenario as shown.
    """
    key = f"links {label}"
    st.components.v2.component("inferdash_links", html="<nav></nav>", js=_SCRIPT, isolate_styles=False)(
        key=key,
        data={
            "label": label,
            "kind": kind,
            "groups": [[title, [asdict(link) for link in shown]] for title, shown in groups.items()],
            "current": current,
            "query": urlencode(links.parameters(state.scenario())),
        },
        on_asked_change=_asked(key),
    )


def _asked(key: str) -> Callable[[], None]:
    def ask() -> None:
        asked = st.session_state[key].asked
        state.ask_for(str(asked["page"]), asked["query"])

    return ask
