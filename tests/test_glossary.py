"""The glossary has every field, every number of the report and every term that the pages lean on, as declared."""

from pathlib import Path

import pytest

from inferdash.scenario import BASE, FIELDS
from inferdash.studies.numbers import lines
from inferdash.studies.report import STUDIES

GLOSSARY = (Path(__file__).parent.parent / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS = (
    """
limit, pass, prefill, decode, prompt token, written token, KV cache, batch, ridge, roofline
time to first token, inter-token latency, output speed, memory-bound, compute-bound
speculative decoding, draft model, acceptance, head size, stored, memory read, dense peak, GB and GiB, scenario, link
""".strip()
    .replace("\n", ", ")
    .split(", ")
)


def table(heading: str) -> list[str]:
    """The rows of the table under a heading."""
    under = GLOSSARY.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [line for line in under.splitlines() if line.startswith("| `")]


def test_every_field_of_a_scenario() -> None:
    assert table("Fields of a scenario") == [
        f"| `{name}` | {field.title} | {' '.join(str(field.description).split())} |" for name, field in FIELDS.items()
    ]


def test_every_number_of_the_report() -> None:
    assert table("Numbers of the report") == [
        f"| `{name}.{line.path}` | {', '.join(line.labels)} | {'share' if line.unit == '%' else line.unit} |"
        for name, study in STUDIES.items()
        for line in lines(study.study(BASE))
    ]


@pytest.mark.parametrize("term", TERMS)
def test_every_term(term: str) -> None:
    assert f"\n**{term}**" in GLOSSARY
