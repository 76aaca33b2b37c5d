"""What commands share: numbers as JSON, and the exit status where something could not be read."""

import json
import sys
from typing import Any, Final

NOT_READ_IN_FULL: Final = 2
"""Exit status where a link or a file could not be read in full."""


def print_json(numbers: dict[str, Any]) -> None:
    """Prints numbers, in letters that the terminal has."""
    text = json.dumps(numbers, indent=2, allow_nan=False, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(numbers, indent=2, allow_nan=False)
    print(text)
