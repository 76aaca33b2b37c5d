"""The button that fetches prices, and a price book, on the page that prices a feature."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from inferdash import shipped
from inferdash.facts import price_books, price_days
from inferdash.studies.price import book as study
from inferdash.ui.server import FRAME
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
