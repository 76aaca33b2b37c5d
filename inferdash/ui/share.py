"""Sharing a scenario: its link, a QR code of it, the page as Markdown."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from typing import Any, Final
from urllib.parse import urlsplit

import segno
import streamlit as st

from inferdash import cards, links, pairs
from inferdash.links import Problem
from inferdash.pairs import Pair
from inferdash.studies.side_by_side import markdown
from inferdash.ui import state
from inferdash.ui.copying import copy_button
from inferdash.workbook import workbook

_COMPARE: Final = "Keeps this scenario as A. What you change from then on is B, beside it on every page."
_ONLY_HERE: Final = {"localhost", "127.0.0.1", "::1"}


def buttons() -> None:
    """The buttons that pin a scenario, show a page and share it; the window of the last is built when it is opened."""
    if state.presented():
        st.button("End", icon=":material/close:", key="end", on_click=state.present, kwargs={"on": False})
        return
    if not state.beside():
        st.button("Compare", icon=":material/compare_arrows:", key="compare", on_click=state.compare, help=_COMPARE)
    st.button("Present", icon=":material/slideshow:", key="present", on_click=state.present, kwargs={"on": True})
    if st.button("Share", icon=":material/share:", key="share", on_click=state.acted):
        _window()


def title() -> None:
    """The reader's own title, of both scenarios where two are compared, as text and nothing else."""
    pair = state.pair()
    titles = {"A": pair.a.title, "B": pair.b.title} if pair.b and pair.a.title != pair.b.title else {"": pair.a.title}
    said = [f"{name}: {title}" if name else title for name, title in titles.items() if title]
    if said:
        st.text("  ·  ".join(said))


def problems() -> None:
    """What could not be read of the link, as text and nothing else; the rest of it applies."""
    _boxed("Part of the link could not be read. The rest applies.", state.link_problems(), key="problems")


def entry_problems() -> None:
    """What could not be read of the fields that this page does not show; to be called after the page."""
    _boxed("An entry on another page could not be read.", state.entry_problems(), key="entry_problems")


def _boxed(title: str, found: Sequence[Problem], *, key: str) -> None:
    if found:
        with st.container(border=True, key=key):
            st.markdown(f"**{title}**")
            st.text("\n".join(problem.sentence for problem in found))


@st.dialog("Share this scenario", width="medium", on_dismiss=state.acted)
def _window() -> None:
    pair = state.pair()
    address = urlsplit(st.context.url or "")
    link = f"{address.scheme}://{address.netloc}{address.path}?{links.packed(pairs.encode(pair))}"
    page = markdown(pair, link)
    with st.container(horizontal=True):
        copy_button("Copy link", link)
        copy_button("Copy page as Markdown", page)
    st.code(link, language=None, wrap_lines=True)
    _downloads(pair, link)
    if address.hostname in _ONLY_HERE:
        st.markdown(
            "This address works on this computer only. Open the dashboard under the computer’s name to share it."
        )
    picture = BytesIO()
    segno.make(link, error="l").save(picture, kind="png", scale=6, border=4)
    st.image(picture.getvalue(), width=340, alt="QR code of the link", caption="The link, for the camera of a phone")
    with st.expander("The page as Markdown"):
        st.code(page, language="markdown", height=320)


def _downloads(pair: Pair, link: str) -> None:
    """The numbers as a workbook, and the page as a picture for a slide; each is made when it is asked for."""
    page, day = state.page(), datetime.now(UTC).date().isoformat()
    common: dict[str, Any] = {"icon": ":material/download:", "on_click": "ignore"}
    with st.container(horizontal=True):
        st.download_button(
            "Workbook (XLSX)",
            lambda: workbook(pair, link=link, day=day),
            file_name="inferdash.xlsx",
            mime="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            **common,
        )
        for form in ("png", "svg"):
            st.download_button(
                f"Picture ({form.upper()})",
                partial(cards.image, page, pair, size=cards.SLIDE, form=form, note=f"{link} · {day}"),
                file_name=f"{page.replace('_', '-')}.{form}",
                mime="image/svg+xml" if form == "svg" else "image/png",
                **common,
            )
