"""What the page for notebooks shows is what its code prints."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "notebook.md"


def test_the_page_for_notebooks_prints_what_it_says() -> None:
    blocks = re.findall(r"```(python|)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    said, printed = "", io.StringIO()
    with redirect_stdout(printed):
        for kind, text in blocks:
            if kind:
                exec(text, names)  # noqa: S102 - the project's own page
            else:
                said += text
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    assert lines == [line.rstrip() for line in said.splitlines()]
    assert len(lines) > 10
