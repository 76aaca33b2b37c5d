"""A look at one key of a session that looks at that key alone.

Before Streamlit draws a field of text or a list it asks whether the session has a value for it, and makes a dictionary
of all values to ask one: the more fields a page has, the longer each takes, to a sixth of a rerun.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from streamlit.runtime.state.safe_session_state import SafeSessionState

_ALL: Final[property] = vars(SafeSessionState)["filtered_state"]


class _Looked(Mapping[str, Any]):
    """What a session holds, looked up when it is asked for."""

    def __init__(self, session: SafeSessionState) -> None:
        self._session = session

    def __getitem__(self, key: str) -> Any:
        with self._session._lock:  # noqa: SLF001 - as Streamlit's own does; there is no public way
            return self._session._state[key]  # noqa: SLF001 - as above

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> dict[str, Any]:
        found: dict[str, Any] = _ALL.__get__(self._session)
        return found


def quicken() -> None:
    """From here on, in this process, a session is asked for one key without the others."""
    SafeSessionState.filtered_state = property(_Looked)  # type: ignore[assignment,method-assign]  # a mapping, too
