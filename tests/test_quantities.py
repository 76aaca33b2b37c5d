"""Quantities as people write them, and numbers as they are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash import quantities
from inferdash.quantities import UNITS, count, digits, general, parse, percent, shown, times, written


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("80 GB", "B", 80e9),
        ("80GiB", "B", 85_899_345_920),
        ("81,559 MiB", "B", 81_559 * 2**20),
        ("3.35 TB/s", "B/s", 3.35e12),
        ("989.4 TFLOP/s", "FLOP/s", 989.4e12),
        ("1e15 FLOP/s", "FLOP/s", 1e15),
        ("34 TFLOPS", "FLOP/s", 34e12),
        ("3,350 GB/s", "B/s", 3.35e12),
        ("250 ms", "s", 0.25),
        ("250µs", "s", 250e-6),
        ("2 min", "s", 120),
        (" 7 ", "B", 7),
    ],
)
def test_parse(text: str, unit: str, value: float) -> None:
    assert parse(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit", "says"),
    [
        ("", "B", "80 GB"),
        ("GB", "B", "80 GB"),
        ("80 XB", "B", "“XB”"),
        ("80 gb", "B", "write GB"),
        ("1.2.3 GB", "B", "not a number"),
        ("3,35 TB", "B", "not a number"),
        ("34 TFLOP", "FLOP/s", "write 989 TFLOP/s"),
        ("nan", "s", "250 ms"),
        ("1e999 GB", "B", "too large"),
        ("80 GB/s", "B", "“GB/s”"),
    ],
)
def test_what_cannot_be_read_says_what_can(text: str, unit: str, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace(".", r"\.")):
        parse(text, unit)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3.35e12, "B/s", "3.35TB/s"),
        (24 * 2**30, "B", "24GiB"),
        (80e9, "B", "80GB"),
        (0.1, "s", "100ms"),
        (0, "s", "0s"),
        (989.4e12, "FLOP/s", "989.4TFLOP/s"),
    ],
)
def test_written(value: float, unit: str, text: str) -> None:
    assert written(value, unit) == text


@given(unit=st.sampled_from(sorted(UNITS)), value=st.floats(1e-12, 1e24))
def test_written_is_read_back(unit: str, value: float) -> None:
    assert parse(written(value, unit), unit) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0044806, "s", "4.48 ms"),
        (1.5e-5, "s", "15.0 µs"),
        (7200, "s", "2 h"),
        (90, "s", "90 s"),
        (0, "s", "0 s"),
        (17_179_869_184, "B", "17.2 GB"),
        (15_009_849_344, "B", "15.0 GB"),
        (999_999, "B", "1.00 MB"),
        (131_072, "B/token", "131 kB/token"),
        (989.4e12, "FLOP/s", "989 TFLOP/s"),
        (8_030_261_248, "parameters", "8.03 billion parameters"),
        (999_885_952, "parameters", "1.00 billion parameters"),
        (998_885_952, "parameters", "999 million parameters"),
        (1, "GPUs", "1 GPU"),
        (476, "requests", "476 requests"),
        (1234.5, "$", "$1,234.50"),
        (0.00123, "$", "$0.00123"),
        (0.0179, "%", "1.8%"),
        (2.5, "tokens", "2.50 tokens"),
    ],
)
def test_shown(value: float, unit: str, text: str) -> None:
    assert str(shown(value, unit)) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.5, "50%"),
        (0.017901, "1.8%"),
        (0.9966, "99.7%"),
        (0.99999, "over 99.9%"),
        (1e-6, "under 0.01%"),
    ],
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text


def test_words() -> None:
    assert times(292.74) == "293 times"
    assert times(2) == "2 times"
    assert count(1, "request") == "1 request"
    assert count(1024, "token") == "1,024 tokens"


@given(st.floats(1e-300, 1e300))
def test_three_digits_are_within_half_a_percent(value: float) -> None:
    assert float(digits(value).replace(",", "")) == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_no_page_shows_what_is_no_number(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        digits(value)


def test_one_is_one() -> None:
    assert (times(1), times(2)) == ("1 time", "2 times")
    assert [times(one, "as long") for one in (1, 1.0004, 1.04)] == [
        "just as long", "about as long", "1.04 times as long"
    ]  # fmt: skip
    assert (count(1, "pass", "passes"), count(2, "pass", "passes"), count(0, "user")) == (
        "1 pass",
        "2 passes",
        "0 users",
    )


@pytest.mark.parametrize(
    ("value", "text", "signed"),
    [
        (0.7, "0.7", "+0.7"),
        (-0.0, "0", "0"),
        (0.0, "0", "0"),
        (-1e-300, "-1e-300", "-1e-300"),
        (1e12, "1e12", "+1e12"),
        (1.42857e11, "1.429e11", "+1.429e11"),
        (-2.5e-7, "-2.5e-7", "-2.5e-7"),
        (1429, "1429", "+1429"),
    ],
)
def test_numbers_without_a_unit(value: float, text: str, signed: str) -> None:
    assert (general(value), general(value, signed=True)) == (text, signed)


TYPED = {
    "32k": 32_000,
    "1.5M": 1_500_000,
    "200 000": 200_000,
    "10,000": 10_000,
    "1’000": None,
    "12'000": 12_000,
    "9.5": 9.5,
    ".5": 0.5,
    "2.5e6": 2_500_000,
    "40%": 0.4,
    "$3": 3,
    "3 billion": 3_000_000_000,
    "0.1k": 100,
    "1,5": None,
    "10,00": None,
    "1,2345": None,
    "32q": None,
    "12 34": None,
    "": None,
    "inf": None,
    "٣": None,
}
"""Text -> the number that people mean by it; None where that is not plain."""


@pytest.mark.parametrize("text", TYPED)
def test_a_number_is_read_as_people_type_it_or_refused(text: str) -> None:
    if TYPED[text] is None:
        with pytest.raises(ValueError, match="is not a number"):
            quantities.number(text)
    else:
        assert quantities.number(text) == TYPED[text]


@given(st.floats(-1e15, 1e15) | st.integers(-(2**53), 2**53))
def test_what_a_field_shows_is_read_back(value: float) -> None:
    assert quantities.number(quantities.typed(value)) == pytest.approx(value, rel=1e-14, abs=0)
