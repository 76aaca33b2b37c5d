"""The house: imports point down, Streamlit stays upstairs, what is public says what it is."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = [
    {"compiled", "formula", "quantities", "references", "validated"},
    {"layers"},
    {"facts"},
    {"physics"},
    {"pricing", "serving"},
    {"scenario"},
    {"links", "pairs"},
    {"studies"},
    {"charts"},
    {"answers", "pictures", "cards", "workbook"},
    {"notebook", "workers"},
    {"ui", "cli", "bill_command", "replay_command", "report_command", "printed", "http", "assistant", "__main__"},
]
"""From the ground up. A room may use those on its own floor and below it."""
LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
MODULES = sorted((ROOT / "inferdash").rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Dotted names that a file imports, those of `from a import b` as a.b."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(dotted: str) -> str | None:
    """The room of inferdash that a name lies in."""
    first, _, rest = dotted.partition(".")
    name = rest.partition(".")[0]
    return name if first == "inferdash" and name in LEVEL else None


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    here = path.relative_to(ROOT / "inferdash").with_suffix("").parts[0]
    if here == "__init__":
        return  # what it names is read when it is asked for
    above = [name for name in imports(path) if (there := room(name)) and LEVEL[there] > LEVEL[here]]
    assert not above


def test_the_package_reads_nothing_before_it_is_asked() -> None:
    code = "import inferdash, sys; print([name for name in sys.modules if name.startswith('inferdash.')])"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).strip() == "[]"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_ui_knows_streamlit(path: Path) -> None:
    knows = any(name.split(".")[0] == "streamlit" for name in imports(path))
    assert not knows or path.is_relative_to(ROOT / "inferdash" / "ui")


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.name)
def test_pages_hold_no_arithmetic(path: Path) -> None:
    operators = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.BitOr)
    ]
    assert not operators


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_public_has_a_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = [] if ast.get_docstring(tree) else [path.name]
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else []
        bare += [
            one.name
            for one in (node, *inner)
            if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name[0] != "_" and not ast.get_docstring(one)
            if "overload" not in map(ast.unparse, one.decorator_list)
        ]
    assert [name for name in bare if not name.startswith("visit_")] == []


def test_the_readme_points_at_what_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
