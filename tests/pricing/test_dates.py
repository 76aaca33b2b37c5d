"""Dates of spreadsheets: what stands first, and the moments that they mean."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash.pricing.logs import dates
from inferdash.pricing.logs.values import UnreadLineError, time_of

DAYS = st.dates(date(2020, 1, 1), date(2035, 12, 31))


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("11/14/2026\n11/02/2026", "month"),
        ("14/11/2026\n02/11/2026", "day"),
        ("02.11.2026", "day"),
        ("11.14.2026", ""),
        ("11/01/2026\n11/02/2026\n11/03/2026", "month"),
        ("01/11/2026\n02/11/2026\n03/11/2026", "day"),
        ("11/05/2026\n11/08/2026", ""),
        ("14/14/2026\n", ""),
        ("2026-11-14", ""),
        ("no date, 1/2, 3/4/5/6, 1.2.3.4", ""),
    ],
)
def test_what_stands_first(text: str, order: str) -> None:
    assert dates.order_of(text)[0] == order


@given(st.lists(DAYS, min_size=1, max_size=30), st.sampled_from([("month", "%m/%d/%Y"), ("day", "%d/%m/%Y")]))
def test_an_order_that_is_told_is_the_one_that_was_written(days: list[date], way: tuple[str, str]) -> None:
    """It may stay open; it is wrong only where days lie as those of the other order would."""
    order, form = way
    found, shown = dates.order_of("\n".join(day.strftime(form) for day in days))
    assert shown
    if any(day.day > 12 for day in days):
        assert found == order


@given(DAYS, st.sampled_from(["month", "day"]), st.booleans())
def test_a_date_means_its_day(day: date, order: dates.Order, short: bool) -> None:
    first, second = (day.month, day.day) if order == "month" else (day.day, day.month)
    text = f"{first}/{second}/{day.year % 100 if short else day.year}"
    assert dates.moment(text, order) == datetime(day.year, day.month, day.day, tzinfo=UTC)
    assert dates.moment(text, "") is None


@pytest.mark.parametrize("clock", ["14:05", "2:05 PM", "14:05:00", "2:05:00 pm"])
def test_a_clock_may_follow(clock: str) -> None:
    assert dates.moment(f"11/01/2026 {clock}", "month") == datetime(2026, 11, 1, 14, 5, tzinfo=UTC)
    assert dates.moment(f"1.11.2026, {clock}", "day") == datetime(2026, 11, 1, 14, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["1-Nov-2026", "1 Nov 2026", "Nov 1, 2026", "November 1, 2026", "2026/11/01"])
def test_months_may_have_names(text: str) -> None:
    since = datetime(2026, 11, 1, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    assert time_of(text) == since / timedelta(seconds=1)


@pytest.mark.parametrize("text", ["13/13/2026", "11/31/2026", "11/01/2026 25:00", "11/01/2026 nonsense", "Nonember 1"])
def test_what_is_no_date_is_left_out(text: str) -> None:
    with pytest.raises(UnreadLineError):
        time_of(text, order="month")
