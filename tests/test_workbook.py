"""A workbook that is opened again and computed by another program's rules says what the page says, to the cent."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import formulas
import pytest
from openpyxl import load_workbook

from inferdash import pairs
from inferdash.pairs import Pair
from inferdash.scenario import Scenario
from inferdash.studies.numbers import lines
from inferdash.studies.price import feature_cost
from inferdash.studies.report import STUDIES
from inferdash.studies.run import plan
from inferdash.workbook import workbook

LINK = "?api=anthropic/claude-sonnet-5-5&title==1%2B1&b.api=openai/gpt-5.2&b.users=1000&b.load=2&v=2"


@pytest.fixture(scope="module")
def pair() -> Pair:
    return pairs.decode(LINK).pair


@pytest.fixture(scope="module")
def file(pair: Pair) -> bytes:
    return workbook(pair, link=LINK, day="2026-11-30")


def row_of(sheet: list[list[object]], name: str) -> int:
    return next(place for place, row in enumerate(sheet, start=1) if row[0] == name)


def computed(book: bytes, folder: Path) -> Callable[[str, str], float]:
    """A workbook as a formula engine computes it: sheet and name of a row -> the row's number."""
    path = folder / "book.xlsx"
    path.write_bytes(book)
    sheets = load_workbook(BytesIO(book))
    model = formulas.ExcelModel().loads(str(path)).finish()
    cells = {str(name).upper(): value for name, value in model.calculate().items()}

    def cell(sheet: str, name: str) -> float:
        rows = [[one.value for one in row] for row in sheets[sheet].iter_rows()]
        return float(cells[f"'[BOOK.XLSX]{sheet.upper()}'!C{row_of(rows, name)}"].value[0, 0])

    return cell


# The engine's own code and those that it uses are older than this Python.
@pytest.mark.filterwarnings("ignore")
def test_month_and_plan_computed_anew_equal_the_page_to_the_cent(pair: Pair, file: bytes, tmp_path: Path) -> None:
    cell = computed(file, tmp_path)
    b: Scenario = pair.edited
    for name, scenario in (("A", pair.a), ("B", b)):
        month = feature_cost.study(scenario)
        assert cell(f"Month {name}", "A month") == pytest.approx(month.month_usd, abs=0.005)
        assert cell(f"Month {name}", "A session") == pytest.approx(month.per_session_usd, rel=1e-9)
        assert cell(f"Month {name}", "A user and month") == pytest.approx(month.per_user_month_usd, rel=1e-9)
        best = plan.study(scenario).best
        assert best is not None
        assert cell(f"Plan {name}", "Rent a month") == pytest.approx(best.usd_per_month, abs=0.005)


@pytest.mark.filterwarnings("ignore")
def test_a_rented_month_and_a_plan_with_gpus_that_prefill_are_those_of_the_page(tmp_path: Path) -> None:
    link = "?model=llama-3.3-70b&gpus=4&runs_on=rented&load=20&prompt=6000&answer=300&disaggregated=yes&v=2"
    both = pairs.decode(link).pair
    cell = computed(workbook(both, link=link, day="2026-11-30"), tmp_path)
    month, each, gpus, _ = feature_cost.headline_numbers(both.a, feature_cost.study(both.a))
    assert cell("Month", "A month") == pytest.approx(month.value, abs=0.005)
    assert cell("Month", "A user and month") == pytest.approx(each.value, rel=1e-9)
    assert cell("Month", "GPUs for the busiest hour") == gpus.value
    best = plan.study(both.a).best
    assert best is not None
    assert cell("Plan", "GPUs that decode") + cell("Plan", "GPUs that prefill") == best.total_gpus
    assert cell("Plan", "Rent a month") == pytest.approx(best.usd_per_month, abs=0.005)


def test_every_number_stands_there_with_its_unit(pair: Pair, file: bytes) -> None:
    sheet = load_workbook(BytesIO(file))["Numbers"]
    rows = {(row[0].value, row[1].value): row for row in sheet.iter_rows(min_row=2)}
    for study in STUDIES.values():
        for line in lines(study.study(pair.a)):
            if line.unit == "rows":
                continue
            cells = rows[study.TITLE, ": ".join(line.labels)]
            assert (cells[2].value or "") == ("share" if line.unit == "%" else line.unit)
            if isinstance(line.value, float):
                assert cells[3].value == pytest.approx(line.value)


def test_what_a_reader_wrote_is_no_formula(file: bytes) -> None:
    book = load_workbook(BytesIO(file))
    for sheet in book.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "f" or "1+1" not in str(cell.value)
    assert {"Scenario", "Numbers", "Month A", "Plan B", "Sources"} <= set(book.sheetnames)


def test_what_is_computed_has_room_to_be_shown(file: bytes) -> None:
    """A hundred million dollars, with cents, are sixteen letters; a number too long for its column is shown as ###."""
    for sheet in load_workbook(BytesIO(file)).worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    assert sheet.column_dimensions[cell.column_letter].width >= 16
