"""The glossary has every field, every number of the report and every term that the pages lean on, as declared."""

from pathlib import Path

from inferdash.scenario import BASE, FIELDS
from inferdash.studies import terms
from inferdash.studies.numbers import lines
from inferdash.studies.report import STUDIES

GLOSSARY = (Path(__file__).parent.parent / "docs" / "glossary.md").read_text(encoding="utf-8")


def table(heading: str) -> list[str]:
    """The rows of the table under a heading."""
    under = GLOSSARY.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [line for line in under.splitlines() if line.startswith("| `")]


def test_every_field_of_a_scenario() -> None:
    assert table("Fields of a scenario") == [
        f"| `{name}` | {field.title} | {' '.join(str(field.description).split())} |" for name, field in FIELDS.items()
    ]


def test_no_two_fields_share_a_title() -> None:
    assert len({str(field.title) for field in FIELDS.values()}) == len(FIELDS)


def test_every_number_of_the_report() -> None:
    assert table("Numbers of the report") == [
        f"| `{name}.{line.path}` | {', '.join(line.labels)} | {'share' if line.unit == '%' else line.unit} |"
        for name, study in STUDIES.items()
        for line in lines(study.study(BASE))
    ]


def test_every_term_as_the_pages_have_it() -> None:
    under = GLOSSARY.partition("\n## Terms\n")[2].partition("\n## ")[0]
    assert under.strip() == terms.markdown()
    assert list(terms.TERMS) == sorted(terms.TERMS, key=str.casefold)
