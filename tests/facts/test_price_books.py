"""Price books: what a contract takes off, models of one's own, and links that need a book."""

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash import links
from inferdash.facts.money import price_books
from inferdash.facts.money.price_books import UnreadBookError, keep, parse
from inferdash.facts.money.rates import KINDS
from inferdash.studies.price import book as study
from inferdash.studies.price.session import month_usd

BOOK = b"""
name = "Contract of <b>$5</b>"
day = 2026-11-01
[[discounts]]
provider = "anthropic"
model = "claude-haiku-*"
off = 0.5
[[discounts]]
provider = "anthropic"
off = 0.15
[[models]]
id = "house"
name = "House model"
input = 0.8
output = 2.4
like = "anthropic/claude-sonnet-5-5"
"""


def test_the_example_is_a_book() -> None:
    found = parse(study.EXAMPLE.encode())
    assert found.discounts[0].off == Decimal("0.15")
    assert found.named() == {"book/house-70b": "House model (Our contract)"}


def test_the_first_discount_that_names_a_model_counts_for_every_rate() -> None:
    book = keep(BOOK)
    for api, left in {
        "anthropic/claude-sonnet-5-5": "0.85",
        "anthropic/claude-haiku-4-5": "0.5",
        "openai/gpt-6-sol": "1",
    }.items():
        plain, less = (links.decode(f"api={api}&book={one}&v=2").scenario for one in ("none", book))
        for tokens in (1000, 900_000):
            rates = plain.price.for_input(tokens), less.price.for_input(tokens)
            assert all(rates[1].of(kind) == rates[0].of(kind) * Decimal(left) for kind in KINDS), api
        assert month_usd(less) == pytest.approx(month_usd(plain) * float(left))


@given(off=st.decimals("0.01", "0.99", places=2))
def test_a_larger_discount_never_costs_more(off: Decimal) -> None:
    text = 'name = "x"\nday = 2026-11-01\n[[discounts]]\nprovider = "openai"\noff = {}\n'
    months = [
        month_usd(links.decode(f"api=openai/gpt-6-sol&book={keep(text.format(one).encode())}&v=2").scenario)
        for one in (off / 2, off)
    ]
    assert months[1] <= months[0]


def test_a_model_of_the_book_is_priced_beside_others_and_follows_the_rules_it_names() -> None:
    query = f"api=book/house&beside=book/house,openai/gpt-6-sol&book={keep(BOOK)}&v=2"
    decoded = links.decode(query)
    assert decoded.problems == ()
    price = decoded.scenario.price
    assert (price.rates.input, price.rates.output, price.provider) == (Decimal("0.8"), Decimal("2.4"), "anthropic")
    assert links.decode(links.encode(decoded.scenario)).scenario == decoded.scenario


def test_a_link_without_its_book_says_so_and_holds_nothing_of_it() -> None:
    query = links.encode(links.decode(f"api=book/house&book={keep(BOOK)}&v=2").scenario)
    assert not any(word in query for word in ("0.8", "2.4", "House", "haiku"))
    price_books._uploaded.clear()  # noqa: SLF001 - as after a restart
    decoded = links.decode(query)
    assert [problem.field for problem in decoded.problems] == ["book", "api"]
    assert "is a price book that is not here; upload it" in decoded.problems[0].sentence
    assert decoded.scenario == links.BASELINE
    keep(BOOK)
    assert links.decode(query).problems == (), "the same file has the same name again"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "not TOML"),
        (b"name = ", "not TOML"),
        (b"[" * 50_000, "not TOML"),
        (b'name = "x"', "“day”: Field required"),
        (b'name = "x"\nday = 2026-11-01\n[discounts]\noff = 0.1', "“discounts”: one or more blocks belong here"),
        (BOOK.replace(b"0.15", b"15"), "“discounts 2 off”"),
        (BOOK.replace(b"0.8", b"-1"), "“models 1 input”"),
        (BOOK.replace(b"0.8", b"nan"), "“models 1 input”"),
        (BOOK.replace(b'"house"', b'"../x"'), "“models 1 id”"),
        (BOOK + b"tax = 0.2", "“models 1 tax”"),
        (b"#" * 100_001, "100,001 bytes"),
    ],
)
def test_what_is_no_book_is_refused_in_a_sentence(content: bytes, said: str) -> None:
    with pytest.raises(UnreadBookError, match=r"^[^\n]+$") as refused:
        keep(content)
    assert said in str(refused.value)


def test_a_folder_of_books_stands_beside_the_presets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acme.toml").write_bytes(BOOK)
    (tmp_path / "none.toml").write_bytes(BOOK)
    (tmp_path / "spoilt.toml").write_bytes(b"[")
    monkeypatch.setenv("INFERDASH_BOOKS", str(tmp_path))
    assert list(price_books.beside_presets()) == ["acme"]
    assert capsys.readouterr().err.count("is not taken as a price book") == 2
    assert links.decode("api=book/house&book=acme&v=2").problems == ()
