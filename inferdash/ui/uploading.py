"""Reading a file of the reader's requests: with progress, to be stopped, and kept nowhere."""

import io
import lzma
from collections.abc import Callable, Hashable
from typing import Final, TypeAlias, TypeVar

import streamlit as st

from inferdash import quantities, shipped
from inferdash.ui import state

T = TypeVar("T")
Told: TypeAlias = Callable[[int], None]

_EXAMPLE: Final = "_example"
"""Session state: the page on which the example stands for a file."""
_DONE: Final = "_traffic"
"""Session state: what was asked last, and what came of it."""
_STOPPED: Final = "_stopped"
"""Session state: what was asked when the reader stopped it."""


def uploaded(page: str, asked: Hashable, study: Callable[[io.BytesIO, Told], T]) -> T | None:
    """What came of the reader's file, or of the example; None where there is none yet, or it was stopped.

    Args:
        page: whose file it is.
        asked: what the study depends on beside the file.
        study: reads a file, telling now and then how many requests it has read.
    """
    file = st.file_uploader(
        "A log of usage or a trace, CSV or JSON", key="_requests", on_change=_take, args=(page,), max_upload_size=400
    )
    st.button("Try an example", key="_try", on_click=_try, args=(page,), disabled=file is not None)
    if file is None and st.session_state.get(_EXAMPLE) != page:
        return None
    question: Hashable = (page, file.file_id if file else "", asked)
    done: dict[Hashable, T] = st.session_state.get(_DONE, {})
    if question not in done:
        if st.session_state.get(_STOPPED) == question:
            st.text("Stopped before the end of the file.")
            st.button("Read it again", key="_again", on_click=_go_on)
            return None
        if file:
            file.seek(0)
        st.session_state[_DONE] = {question: _read(file or _example(), study, question)}
        st.rerun()
    return done[question]


def _read(stream: io.BytesIO, study: Callable[[io.BytesIO, Told], T], question: Hashable) -> T:
    """Reads a file under a bar; a click on the button ends this run at the next move of the bar."""
    size = stream.getbuffer().nbytes or 1
    bar = st.progress(0.0)
    st.button("Cancel", key="_stop", on_click=_stop, args=(question,))

    def told(count: int) -> None:
        bar.progress(min(1.0, stream.tell() / size), quantities.count(count, "request"))

    return study(stream, told)


def _example() -> io.BytesIO:
    packed = shipped("presets") / "traces" / "mooncake_conversation_first1200s.jsonl.xz"
    return io.BytesIO(lzma.decompress(packed.read_bytes()))


def _take(page: str) -> None:
    state.acted()
    if st.session_state.get(_EXAMPLE) == page:
        st.session_state.pop(_EXAMPLE)


def _try(page: str) -> None:
    state.acted()
    st.session_state[_EXAMPLE] = page


def _stop(question: Hashable) -> None:
    state.acted()
    st.session_state[_STOPPED] = question


def _go_on() -> None:
    state.acted()
    st.session_state.pop(_STOPPED, None)
