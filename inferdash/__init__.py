"""What inference of a language model takes, what it costs, and why.

`report` gives the numbers of a scenario, `fields` what can be set in one (`inferdash/notebook.py`).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inferdash.answers import fields as fields
    from inferdash.notebook import Report as Report
    from inferdash.notebook import report as report

__all__ = ["Report", "fields", "report", "shipped"]
__version__ = "0.1.0"

_PACKAGE = Path(__file__).parent


def shipped(name: str) -> Path:
    """The path of `app.py`, `pages` or `presets`: in an installed wheel inside the package, else beside it."""
    inside = _PACKAGE / name
    return inside if inside.exists() else _PACKAGE.parent / name


def __getattr__(name: str) -> Any:
    """What lies upstairs is read when it is asked for, so that a room below does not pull in the whole house."""
    if name == "fields":
        from inferdash.answers import fields  # noqa: PLC0415 - as above

        return fields
    if name in {"Report", "report"}:
        from inferdash import notebook  # noqa: PLC0415 - as above

        return getattr(notebook, name)
    raise AttributeError(f"module 'inferdash' has no attribute {name!r}")
