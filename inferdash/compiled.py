"""Loops over single events, compiled to machine code; what works on whole arrays does not need it."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
_PART: Final[dict[str, Any]] = {
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # who holds an array is not counted
}


def compiled(function: F) -> F:
    """The function as machine code, which lets other threads run and is kept on disk where there is room for it.

    It is compiled when first called, which takes seconds, and in later processes loaded, as long as no file of its
    folder changes: parts of it may lie in them. It gives the numbers that Python would: nothing is reordered; only a
    division by zero is infinite.
    """
    with suppress(RuntimeError):  # neither beside the source nor in the user's own cache can it be written
        found = numba.njit(cache=True, **_OPTIONS)(function)
        with suppress(AttributeError):  # where numba is told not to compile, nothing is kept
            found._cache._cache_file._source_stamp = _stamp(function)  # noqa: SLF001 - its own is of the file alone
        return cast("F", found)
    return cast("F", numba.njit(**_OPTIONS)(function))


def inlined(function: F) -> F:
    """A part of a compiled function that has no code of its own, as a call would cost more than it does.

    It makes no array and returns none: its arrays are held by the function that it is a part of. To count at each part
    who holds which took five times as long as all that the parts do.
    """
    return cast("F", numba.njit(**_PART, **_OPTIONS)(function))


def _stamp(function: Callable[..., Any]) -> tuple[Any, ...]:
    """When the files of a function's folder were changed, and their sizes."""
    files = sorted(Path(function.__code__.co_filename).parent.glob("*.py"))
    return tuple((file.name, status.st_mtime, status.st_size) for file in files if (status := file.stat()))
