"""Prices of today, where the operator lets readers fetch them, and price books of the reader's own."""

import os
from datetime import UTC, date, datetime
from typing import Final

import streamlit as st

from inferdash.facts.money import price_books, price_days, prices
from inferdash.facts.money.price_books import UnreadBookError
from inferdash.facts.money.price_days import PriceUpdateError, UnconfirmedPricesError
from inferdash.studies.price import book as study
from inferdash.ui import parts, state
from inferdash.ui.entering.controls import control

_OPEN: Final = "INFERDASH_UPDATE_PRICES"
"""Variable that is 1 where whoever opens the dashboard may have it fetch the prices of today, once a day."""
_SAID: Final = "_prices_said"
"""Session state: what came of the last update, and whether it waits to be confirmed."""
_BOOK_SAID: Final = "_book_said"
"""Session state: why the last book was not taken."""
_FILE: Final = "_book_file"


def update() -> None:
    """The button that fetches the list of today, and what came of it; nothing where the operator does not allow it."""
    if os.environ.get(_OPEN) != "1":
        return
    said, waits = st.session_state.get(_SAID, ("", False))
    fetched = price_days.newest(_today())
    done = fetched is not None and fetched.stem == _today().isoformat()
    with st.container(horizontal=True):
        st.button("Fetch today’s prices", key="_prices_update", on_click=_update, args=(False,), disabled=done)
        if waits and not done:
            st.button("Take them nevertheless", key="_prices_confirm", on_click=_update, args=(True,))
    if said:
        st.text(said)


def _today() -> date:
    return datetime.now(UTC).date()


def _update(confirmed: bool) -> None:
    """Callback that fetches the list; the scenario is then at its prices."""
    state.acted()
    try:
        st.session_state[_SAID] = prices.update(url=price_days.URL, confirmed=confirmed), False
    except PriceUpdateError as error:
        st.session_state[_SAID] = str(error), isinstance(error, UnconfirmedPricesError)
        return
    state.change(prices=_today().isoformat())


def price_book() -> None:
    """A book to choose or to upload, and what is in the one that counts."""
    st.markdown(study.INTRO)
    control("book")
    file = st.file_uploader("A price book, TOML", type="toml", key=_FILE, on_change=state.acted, max_upload_size=1)
    if file:
        st.button("Use it", key="_book_use", icon=":material/add:", on_click=_use, args=(file.getvalue(),))
    if st.session_state.get(_BOOK_SAID):
        st.text(st.session_state[_BOOK_SAID])
    book = state.scenario().price_book
    if book:
        parts.table(study.table(book))
    else:
        st.code(study.EXAMPLE, language=None, wrap_lines=True)


def _use(content: bytes) -> None:
    """Callback that makes a file the book of the scenario, or says why not."""
    state.acted()
    st.session_state[_BOOK_SAID] = ""
    try:
        key = price_books.keep(content)
    except UnreadBookError as error:
        st.session_state[_BOOK_SAID] = str(error)
        return
    state.change(book=key)
