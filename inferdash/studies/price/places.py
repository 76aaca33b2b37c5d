"""Logs that lie where the server is: the folders and tables that who runs it lets readers of a page bill."""

import os
from pathlib import Path
from typing import Final

ROOTS: Final = "INFERDASH_LOG_ROOTS"
"""Variable with folders, parted as in PATH; none where it is not set."""
TABLES: Final = "INFERDASH_LOG_TABLES"
"""Variable with tables as name=address#table, parted by spaces; readers see the names alone."""


def roots() -> tuple[Path, ...]:
    """Folders in which readers may name a file or a folder."""
    return tuple(Path(one) for one in os.environ.get(ROOTS, "").split(os.pathsep) if one)


def allowed(name: str) -> Path:
    """A file or a folder that a reader names, without links on the way.

    Raises:
        ValueError: with a sentence, where it lies in no folder that is allowed, or is not there.
    """
    for root in roots():
        path = (root / name).resolve()
        if path.is_relative_to(root.resolve()) and path.exists():
            return path
    raise ValueError("There is no such file or folder among those that this server allows.")


def tables() -> dict[str, tuple[str, str]]:
    """Address and name of each table, by the name that readers see."""
    found = {}
    for one in os.environ.get(TABLES, "").split():
        name, _, place = one.partition("=")
        address, _, table = place.rpartition("#")
        if name and address and table:
            found[name] = address, table
    return found
