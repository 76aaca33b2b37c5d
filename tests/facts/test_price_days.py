"""The update of prices against a server that is slow, cut, absurd or away: what was stays, a sentence says why."""

import json
import threading
import time
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from inferdash import links
from inferdash.cli import main
from inferdash.facts.money import price_days, prices
from inferdash.facts.money.price_days import PriceUpdateError, newest, read, update
from inferdash.studies.price import dated

TODAY = date(2026, 12, 5)


def a_list(**changed: tuple[Any, Any]) -> list[dict[str, Any]]:
    """Four models of one maker, with other prices of input and output for some."""
    usual: dict[str, tuple[Any, Any]] = {"small": (1, 5), "large": (5, 25), "free": (0, 0), "old": (0.5, 1.5)}
    models = [
        {"id": key, "match": {"equals": key}, "prices": {"input_mtok": read, "output_mtok": written}}
        for key, (read, written) in (usual | changed).items()
    ]
    return [{"id": "maker", "name": "Maker", "api_pattern": "maker", "models": models}]


KNOWN = price_days.providers_in(json.dumps(a_list()).encode())
_ANSWERS: dict[str, bytes] = {
    "good": json.dumps(a_list(small=(1.5, 5))).encode(),
    "times": json.dumps(a_list(small=(100, 500))).encode(),
    "free": json.dumps(a_list(large=(0, 25))).encode(),
    "negative": json.dumps(a_list(small=(-1, 5))).encode(),
    "words": json.dumps(a_list(small=("cheap", 5))).encode(),
    "schema": json.dumps({"version": 9, "prices": []}).encode(),
    "empty": b"[]",
    "few": json.dumps([{**a_list()[0], "models": a_list()[0]["models"][:1]}]).encode(),
    "html": b"<html>Sign in to the network</html>",
}


class Server(BaseHTTPRequestHandler):
    """Answers by the name of the path."""

    def do_GET(self) -> None:
        name = self.path.strip("/")
        if name == "gone":
            self.send_error(404)
            return
        body = _ANSWERS.get(name, _ANSWERS["good"])
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if name == "cut":
            self.wfile.write(body[:20])
            return
        if name == "slow":
            for start in range(0, len(body), 10):
                time.sleep(0.05)
                try:
                    self.wfile.write(body[start : start + 10])
                    self.wfile.flush()
                except OSError:
                    return
            return
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the library
        """Says nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_good_list_is_kept_with_its_day(address: str, tmp_path: Path) -> None:
    taken = update(KNOWN, url=f"{address}/good", today=TODAY, into=tmp_path)
    assert (taken.models, taken.changed, taken.path.name) == (4, 1, "2026-12-05.json")
    assert newest(date(2026, 12, 4), within=tmp_path) is None, "a link of an earlier day keeps its number"
    assert newest(date(2026, 12, 31), within=tmp_path) == taken.path
    assert [provider.id for provider in read(taken.path)] == ["maker"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("times", "more than 10 times"),
        ("free", "more than 10 times"),
        ("negative", "negative prices"),
        ("words", "not a list of prices"),
        ("schema", "not a list of prices"),
        ("empty", "not a list of prices"),
        ("html", "not a list of prices"),
        ("few", "1 of the 4 models"),
        ("gone", "answered 404"),
        ("cut", "broke off"),
        ("slow", "within 0.3 seconds"),
    ],
)
def test_what_makes_no_sense_is_not_taken(address: str, tmp_path: Path, path: str, said: str) -> None:
    (tmp_path / "2026-12-01.json").write_bytes(_ANSWERS["good"])
    limit = 0.3 if path == "slow" else 20
    with pytest.raises(PriceUpdateError, match=said) as refused:
        update(KNOWN, url=f"{address}/{path}", today=TODAY, into=tmp_path, seconds=limit)
    assert str(refused.value).count(". ") == 0, "one sentence"
    assert [one.name for one in tmp_path.iterdir()] == ["2026-12-01.json"], "what was there stays, and nothing else"


def test_a_server_that_is_away_says_so(tmp_path: Path) -> None:
    with pytest.raises(PriceUpdateError, match="could not be fetched"):
        update(KNOWN, url="http://127.0.0.1:9/list", today=TODAY, into=tmp_path, seconds=1)
    with pytest.raises(PriceUpdateError, match="could not be fetched"):
        update(KNOWN, url="nothing", today=TODAY, into=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_tenfold_change_and_a_contradiction_are_taken_once_confirmed(address: str, tmp_path: Path) -> None:
    assert update(KNOWN, url=f"{address}/times", today=TODAY, into=tmp_path, confirmed=True).changed == 1
    right = {("maker", "sma*"): (2.0, 5.0)}
    with pytest.raises(PriceUpdateError, match="checked by hand"):
        update(KNOWN, url=f"{address}/good", today=TODAY, into=tmp_path, corrected=right)
    right = {("maker", "sma*"): (1.5, 5.0)}
    assert update(KNOWN, url=f"{address}/good", today=TODAY, into=tmp_path, corrected=right).changed == 1
    with pytest.raises(PriceUpdateError, match="negative"):
        update(KNOWN, url=f"{address}/negative", today=TODAY, into=tmp_path, confirmed=True)


def test_the_command_says_in_a_sentence_why_not(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INFERDASH_PRICES", str(tmp_path))
    assert main(["prices", "update", "--from", f"{address}/good"]) == 2
    assert "models, so it is not used" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_price_is_that_of_the_newest_list_of_its_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERDASH_PRICES", str(tmp_path))
    (tmp_path / "2026-12-05.json").write_bytes(_ANSWERS["good"])
    prices.forget()
    try:
        assert prices.price_list("maker", "small", day=TODAY).rates.input == 1.5
        with pytest.raises(prices.UnknownModelError):
            prices.price_list("maker", "small", day=date(2026, 12, 4))
        before = prices.price_list("anthropic", "claude-sonnet-5-5", day=date(2026, 11, 29))
        assert before.rates.input > 0
    finally:
        monkeypatch.delenv("INFERDASH_PRICES")
        prices.forget()


def test_a_second_list_leaves_the_numbers_of_earlier_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A month by link, before any list was fetched, after one, and after another one."""
    monkeypatch.setenv("INFERDASH_PRICES", str(tmp_path))
    bundled = prices.price_list("openai", "gpt-6-sol", day=TODAY).rates.input

    def a_maker(usd: float) -> bytes:
        listed = a_list(**{"gpt-6-sol": (usd, 30)})
        return json.dumps([{**listed[0], "id": "openai"}]).encode()

    links_of = {day: f"api=openai/gpt-6-sol&prices={day}&v=2" for day in ("2026-11-29", "2026-12-05", "2026-12-20")}
    seen: list[dict[str, float]] = []
    for fetched in (None, ("2026-12-05", 7), ("2026-12-20", 9)):
        if fetched:
            (tmp_path / f"{fetched[0]}.json").write_bytes(a_maker(fetched[1]))
        prices.forget()
        seen.append({day: float(links.decode(link).scenario.price.rates.input) for day, link in links_of.items()})
    now = float(bundled)
    assert [list(one.values()) for one in seen] == [[now, now, now], [now, 7, 7], [now, 7, 9]]
    told = dated.api_prices(links.decode(links_of["2026-12-20"]).scenario, date(2026, 12, 24))
    assert "as fetched on 2026-12-20" in told
    assert "more than a year old" in dated.api_prices(links.decode(links_of["2026-12-20"]).scenario, date(2028, 1, 1))
    monkeypatch.delenv("INFERDASH_PRICES")
    prices.forget()


def test_a_list_that_was_spoilt_is_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERDASH_PRICES", str(tmp_path))
    (tmp_path / "2026-12-05.json").write_bytes(b"[{")
    prices.forget()
    try:
        with pytest.warns(UserWarning, match="is left out"):
            assert prices.price_list("anthropic", "claude-sonnet-5-5", day=TODAY).rates.input > 0
    finally:
        monkeypatch.delenv("INFERDASH_PRICES")
        prices.forget()
