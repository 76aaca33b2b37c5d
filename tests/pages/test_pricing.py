"""The button that fetches prices, and a price book, on the page that prices a feature."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from inferdash import shipped
from inferdash.facts.money import price_books, price_days
from inferdash.studies.price import book as study
from inferdash.ui.hosting.server import FRAME
from tests.pages.fields import unfolded


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(FRAME), default_timeout=20)
    for name, value in query.items():
        app.query_params[name] = value
    unfolded(app.run())
    app.switch_page(str(shipped("pages") / "feature_cost.py")).run()
    assert not app.exception
    return app


def words(app: AppTest) -> str:
    return " ".join(one.value for one in (*app.markdown, *app.text, *app.caption))


def test_prices_are_fetched_by_readers_only_where_the_operator_allows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INFERDASH_PRICES", str(tmp_path))
    monkeypatch.setattr(price_days, "URL", "http://127.0.0.1:9/list")
    assert not [one for one in opened(v="2").button if one.key == "_prices_update"]
    monkeypatch.setenv("INFERDASH_UPDATE_PRICES", "1")
    app = opened(v="2")
    app.button(key="_prices_update").click().run()
    assert not app.exception
    assert "The list could not be fetched" in words(app)
    assert list(tmp_path.iterdir()) == []


def test_a_book_is_in_the_choices_of_whoever_has_it_alone() -> None:
    key = price_books.keep(study.EXAMPLE.encode())
    app = opened(api="book/house-70b", book=key, v="2")
    assert "House model (Our contract)" in words(app)
    assert "Price book Our contract of 2026-11-01" in words(app)
    other = opened(api="openai/gpt-6-sol", v="2")
    lists = [option for one in (*other.selectbox, *other.multiselect) for option in one.options]
    assert lists
    assert not any("Our contract" in option for option in lists)


def test_ranges_are_chosen_by_what_fields_are_called_and_mended_where_they_are_entered() -> None:
    """A link's names stay what they are; a reader meets labels alone, and what cannot be read stays to be mended."""
    app = opened(ranges="volume 150k..300k", use_as="month", api="openai/gpt-6-sol", v="2")
    (chosen,) = (one for one in app.multiselect if one.label == "Inputs with a range")
    assert set(chosen.value) <= {"Number of requests", "volume"}
    assert "Documents, tokens" in chosen.options

    def link() -> str:
        held = app.query_params["ranges"]
        return held if isinstance(held, str) else held[-1]

    assert "documents_tokens" not in chosen.options
    chosen.set_value(["volume", "documents_tokens"]).run()
    assert link() == "volume 150k..300k, documents_tokens ±25%"

    def typed(label: str, entry: str) -> None:
        next(one for one in app.text_input if one.label == f"{label}, range").set_value(entry).run()
        assert not app.exception

    typed("Documents, tokens", "1,000/3,000/6,000")
    assert link() == "volume 150k..300k, documents_tokens 1000/3000/6000"
    typed("Number of requests", "many")
    assert link() == "volume 150k..300k, documents_tokens 1000/3000/6000"
    assert "for Number of requests" in words(app)
    assert next(one for one in app.text_input if one.label == "Number of requests, range").value == "many"
    typed("Number of requests", "100k..200k")
    assert link() == "volume 100k..200k, documents_tokens 1000/3000/6000"
    assert "for Number of requests" not in words(app)
