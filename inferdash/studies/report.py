"""All pages of a scenario as one report: every headline number with its unit."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from inferdash.scenario import Scenario
from inferdash.studies import compute_vs_memory
from inferdash.studies.numbers import lines

_STUDIES: Final[dict[str, tuple[str, Callable[[Scenario], Any], Callable[[Scenario, Any], str]]]] = {
    compute_vs_memory.NAME: (compute_vs_memory.TITLE, compute_vs_memory.study, compute_vs_memory.sentence),
}
"""Name in the report -> title, numbers and sentence of a page."""


def report(scenario: Scenario) -> dict[str, Any]:
    """Numbers in base units, one object a page; a number that an unknown input leaves open is None."""
    return {name: asdict(study(scenario)) for name, (_, study, _) in _STUDIES.items()}


def markdown(scenario: Scenario, link: str) -> str:
    """The same numbers as a person reads them, with units, under each page's sentence."""
    chapters = [f"# {literal(scenario.title) or 'Inference'}", f"<{link}>"]
    for title, study, sentence in _STUDIES.values():
        result = study(scenario)
        chapters += [f"## {title}", sentence(scenario, result)]
        chapters.append(
            "\n".join(
                ["| quantity | value |", "| --- | --- |"]
                + [f"| {': '.join(line.labels)} | {line.shown} |" for line in lines(result)]
            )
        )
    return "\n\n".join(chapters) + "\n"


def literal(text: str) -> str:
    """Text whose signs no reader of Markdown takes for markup."""
    return "".join(f"\\{c}" if c.isascii() and not c.isalnum() and not c.isspace() else c for c in text)
