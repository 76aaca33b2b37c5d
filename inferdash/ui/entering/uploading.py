"""Reading a file of the reader's requests: with progress, to be stopped, and kept no longer than the session."""

import lzma
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Final, TypeVar

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile

from inferdash import quantities, shipped
from inferdash.studies.price import places
from inferdash.ui import state
from inferdash.ui.hosting import heavy, spooling

T = TypeVar("T")

_MEGABYTES: Final = 1000
"""Of a file that is read at most."""
_LONGEST_NAME: Final = 200
"""Bytes of what may be the name of a file that lies on the disk."""
_EXAMPLE: Final = "_example"
"""Session state: the page on which the example stands for a file."""
_DONE: Final = "_traffic"
"""Session state: what was asked last, and what came of it, or why nothing did."""
_STOPPED: Final = "_stopped"
"""Session state: what was asked when the reader stopped it."""
_LOST: Final = "_lost"
"""Session state: how many files were lost; each time the uploader is a new and empty one."""


def uploaded(
    page: str,
    study: Callable[..., T],
    *asked: Hashable,
    still: Callable[[T], bool] = lambda _: False,
    at: Callable[..., T] | None = None,
) -> T | None:
    """What came of the reader's file, or of the example; None where there is none yet, it was stopped, or it failed.

    Args:
        page: whose file it is.
        study: a function of a module that reads a file, open for bytes, with what follows it.
        asked: what the study depends on beside the file.
        still: whether what came of the same file before answers what is asked now, too.
        at: a function that reads what lies on the server, by its name, where who runs it lets readers name it.
    """
    file = _file(page)
    place = _place() if at and file is None else ""
    st.button("Try an example", key="_try", on_click=_try, args=(page,), disabled=file is not None)
    if file is None and not place and st.session_state.get(_EXAMPLE) != page:
        return None
    whose = (page, file.file_id if file else place)
    question = (whose, asked)
    done: dict[tuple[Hashable, Hashable], T | heavy.HeavyWorkError] = st.session_state.get(_DONE, {})
    for (of, _), came in done.items():
        if question not in done and of == whose and not isinstance(came, heavy.HeavyWorkError) and still(came):
            return came
    if question not in done:
        if st.session_state.get(_STOPPED) == question:
            st.text("Stopped before the end of the file.")
            st.button("Read it again", key="_again", on_click=_go_on)
            return None
        if at and place:
            st.session_state[_DONE] = {question: _read_at(place, at, asked, question)}
            st.rerun()
        content = file.getbuffer() if file else memoryview(_example())
        path = spooling.file_of(bytes(content)) if len(content) < _LONGEST_NAME else None
        st.session_state[_DONE] = {question: _read(path or content, study, asked, question)}
        st.rerun()
    result = done[question]
    if isinstance(result, heavy.HeavyWorkError):
        st.text(str(result))
        return None
    return result


def _file(page: str) -> UploadedFile | None:
    """The file that the reader uploads. One that went with a restart of the server is asked for again."""
    lost = st.session_state.get(_LOST, 0)
    key = f"_requests{lost or ''}"
    file = st.file_uploader(
        "A usage log or a trace, CSV or JSON", key=key, on_change=_take, args=(page,), max_upload_size=_MEGABYTES
    )
    if isinstance(st.session_state.get(key), DeletedFile):
        st.session_state[_LOST] = lost + 1
        st.rerun()
    if lost and file is None:
        st.text("The server was restarted and no longer has your file; upload it again.")
    return file


def _place() -> str:
    """What the reader names on the server; "" where nothing, or where nothing is allowed."""
    tables = [*places.tables()]
    table = st.selectbox("A table", ["", *tables], key="_table", on_change=state.acted) if tables else ""
    if table or not places.roots():
        return table or ""
    return st.text_input(
        "A file or folder on this server", key="_path", on_change=state.acted, placeholder="2026-11/usage.jsonl.gz"
    ).strip()


def _read_at(
    place: str, study: Callable[..., T], asked: tuple[Hashable, ...], question: Hashable
) -> T | heavy.HeavyWorkError:
    """Reads what lies on the server, as `_read`; how far it is is not known."""
    said, began = st.empty(), time.monotonic()
    st.button("Cancel", key="_stop", on_click=_stop, args=(question,))

    def told(_: float, waiting: str) -> None:
        said.text(waiting or f"Reading for {time.monotonic() - began:.0f} s.")

    try:
        return heavy.done(study, place, *asked, told=told)
    except heavy.HeavyWorkError as failure:
        return failure


def _read(
    content: memoryview | Path, study: Callable[..., T], asked: tuple[Hashable, ...], question: Hashable
) -> T | heavy.HeavyWorkError:
    """Reads a file under a bar; a click on the button ends this run at the next move of the bar."""
    bar = st.progress(0.0)
    st.button("Cancel", key="_stop", on_click=_stop, args=(question,))
    size = content.stat().st_size if isinstance(content, Path) else content.nbytes

    def told(share: float, waiting: str) -> None:
        bar.progress(share, waiting or f"{quantities.shown(share * size, 'B')} of {quantities.shown(size, 'B')}")

    try:
        if isinstance(content, Path):
            return heavy.done(study, *asked, told=told, path=content)
        return heavy.done(study, *asked, told=told, content=content)
    except heavy.HeavyWorkError as failure:
        return failure


def _example() -> bytes:
    packed = shipped("presets") / "traces" / "mooncake_conversation_first1200s.jsonl.xz"
    return lzma.decompress(packed.read_bytes())


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
