"""What inference of a language model takes, what it costs, and why."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def shipped(name: str) -> Path:
    """The path of `app.py`, `pages` or `presets`: in an installed wheel inside the package, else beside it."""
    inside = _PACKAGE / name
    return inside if inside.exists() else _PACKAGE.parent / name
