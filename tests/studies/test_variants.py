"""Variants of one field: each row is the page of its own link, and entries are read as people write lists."""

import pytest

from inferdash import links
from inferdash.scenario import BASE
from inferdash.studies import variants
from inferdash.studies.comparison import answer
from inferdash.studies.numbers import show


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1, 16, 64", ["1", "16", "64"]),
        ("1,16,64", ["1", "16", "64"]),
        ("1,000; 2,000", ["1,000", "2,000"]),
        ("10,000", ["10,000"]),
        ("80 GB, 141 GB", ["80 GB", "141 GB"]),
        ("", []),
    ],
)
def test_a_list_is_read_as_people_write_it(text: str, read: list[str]) -> None:
    assert variants.values(text) == read


@pytest.mark.parametrize("page", ["overview", "memory", "kv_cache"])
def test_a_row_is_the_page_of_its_own_link(page: str) -> None:
    found = variants.variants(links.BASELINE, "accelerator", ["h100-sxm", "h200-sxm", "mi300x", "b200-sxm"])
    table = variants.table(page, found, address=page)
    assert len(table.rows) == 4
    for row in table.rows:
        link = row.label.partition("?")[2].removesuffix(")")
        shown = answer(page, links.decode(link).scenario).shown
        assert [cell.partition(" (batch")[0] for cell in row.values] == [show(one.value, one.unit) for one in shown]


def test_what_cannot_be_read_is_said_and_equal_values_stand_once() -> None:
    found = variants.variants(links.BASELINE, "batch", ["1", "2", "2", "-3", "x"])
    assert [one.batch for one in found.scenarios] == [1, 2]
    assert [one.sentence.partition(" is")[0] for one in found.problems] == ["batch=-3", "batch=x"]
    many = variants.variants(links.BASELINE, "batch", [*map(str, range(1, 12))])
    assert len(many.scenarios) == variants.MOST
    assert many.problems[-1].sentence == "There are 11 values; the table has the first 8."


def test_a_number_of_another_batch_says_so() -> None:
    found = variants.variants(links.decode("?model=qwen3-32b&v=2").scenario, "weights", ["bf16", "fp8"])
    cells = {row.label: row.values[-1] for row in variants.table("overview", found).rows}
    assert cells["bf16"].endswith("(batch 23)")
    assert cells["fp8"].endswith("(batch 145)")


@pytest.mark.parametrize("page", ["overview", "batching"])
def test_in_a_table_by_batch_each_row_is_of_its_own_batch(page: str) -> None:
    """One request alone pays for the whole GPU, so that it costs most."""
    found = variants.variants(BASE, "batch", ["1", "2", "16"])
    rows = variants.records(page, found)
    name = next(name for name in rows[1] if name.startswith("Cost per million"))
    assert "batch 2" in name
    costs = [next(value for one, value in row.items() if one.startswith("Cost per million")) for row in rows]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] == pytest.approx(2 * costs[1], rel=0.1)
