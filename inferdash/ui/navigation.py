"""Links to pages that can be copied and opened beside, and that keep the scenario when they are followed."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from inferdash import shipped
from inferdash.facts import library
from inferdash.studies.report import GROUPS, PAGES
from inferdash.ui import state

_SCRIPT: Final = (Path(__file__).parent / "assets" / "navigation.js").read_text(encoding="utf-8")


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


def pages() -> dict[str, StreamlitPage]:
    """Name -> page, as Streamlit takes them; a page may be run once."""
    return {name: copy(page) for name, page in _pages().items()}


@cache
def _pages() -> dict[str, StreamlitPage]:
    """The same, each of which took a look at its file; to be called in a run."""
    return {
        name: st.Page(shipped("pages") / f"{name}.py", title=study.TITLE, url_path=name.replace("_", "-"))
        for name, study in PAGES.items()
    }


def row(current: str) -> None:
    """Links to all pages in their groups, the open one marked."""
    groups = {title: [Link(name, PAGES[name].TITLE) for name in names] for title, names in GROUPS.items()}
    _navigation("Pages", groups, kind="pages", current=current)


def cards(label: str, shown: Sequence[Link]) -> None:
    """Links with a sentence each, side by side."""
    _navigation(label, {"": shown}, kind="cards")


def examples(page: str = "") -> None:
    """Cards of the scenarios worth a look: those of one page, or of all."""
    shown = [one for one in library.scenarios().values() if page in {"", one.page}]
    cards("Examples", [Link(one.page, one.name, one.why, one.link.removeprefix("?")) for one in shown])


def _navigation(label: str, groups: Mapping[str, Sequence[Link]], *, kind: str, current: str = "") -> None:
    """Draws links.

    A click is told to the server, which goes on with the scenario as it is when the click arrives: an entry that is
    left by the very click counts. The address of a link, to be copied or opened beside, holds the scenario as shown.
    Each link is an event of its own: what a component holds cannot be read in a run that replaces another.
    """
    asked: dict[str, Any] = {
        f"on_asked{place}_change": partial(state.ask_for, link.page, link.query)
        for place, link in enumerate(link for shown in groups.values() for link in shown)
    }
    st.components.v2.component("inferdash_links", html="<nav></nav>", js=_SCRIPT, isolate_styles=False)(
        key=f"links {label}",
        data={
            "label": label,
            "kind": kind,
            "groups": [[title, [vars(link) for link in shown]] for title, shown in groups.items()],
            "current": current,
            "query": urlencode(state.query()),
        },
        **asked,
    )
