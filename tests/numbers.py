"""What is wrong with the numbers of a page: none, without an end, negative where that cannot be, or no page at all."""

import json
import logging
import math
import re
from collections.abc import Iterator
from random import Random
from typing import Any, Final
from urllib.parse import parse_qsl

import pyarrow as pa
from streamlit.testing.v1 import AppTest

from inferdash import links, pairs, shipped
from inferdash.pairs import Pair
from inferdash.scenario import Choices, Scenario, mark
from inferdash.studies.numbers import lines
from inferdash.studies.report import PAGES, STUDIES
from inferdash.ui.hosting.server import FRAME
from tests.pages.fields import unfolded
from tests.scenarios import drawn

NO_NUMBER: Final = re.compile(r"(?i:\b(nan|inf|infinity|infty)\b|∞)|\bNone\b(?! of)")
"""What no reader should meet: a number that is none, or the want of one as Python writes it."""
_OF_EITHER_SIGN: Final = re.compile(
    r"(?i)logit|weight|addend|margin|sav|profit|gain|differ|error|change|scaled|round|value|bend|integer|sum|drive|restored|dot\b|free_bytes|room"
)
"""In the name of a number, or of a row of a chart, that may be below 0: what a reader entered so, a difference, or
memory that is missing."""


class _Heard(logging.Handler):
    """Keeps the last error that the frame logged, which names where a page failed."""

    said = ""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        frame = error.__traceback__ if error else None
        while frame and frame.tb_next:
            frame = frame.tb_next
        place = f"{frame.tb_frame.f_code.co_filename.rpartition('/')[2]}:{frame.tb_lineno}" if frame else ""
        self.said = f"{type(error).__name__}: {error} at {place}"


class Reading:
    """One session that reads every page of one scenario after another."""

    def __init__(self) -> None:
        self.app = AppTest.from_file(str(FRAME), default_timeout=300)
        self.heard = _Heard()
        logging.getLogger("inferdash").addHandler(self.heard)
        self.app.query_params["v"] = "1"
        unfolded(self.app.run())

    def close(self) -> None:
        """Listens no more."""
        logging.getLogger("inferdash").removeHandler(self.heard)

    def wrong(self, page: str, scenario: Scenario | Pair, *, varied: str = "") -> Iterator[str]:
        """What is wrong on a page in a scenario, or in two of them, with variants of a field where one is named."""
        self.heard.said = ""
        pair = scenario if isinstance(scenario, Pair) else Pair(scenario)
        self.app.query_params.clear()
        link = pairs.encode(pair)
        written = links.packed(link) if len(link) % 2 else link  # the short form says the same
        self.app.query_params.update(parse_qsl(written, keep_blank_values=True))
        if varied:
            session = self.app.session_state["_session"]
            session.varied, session.values = varied, {varied: several(varied, pair.edited)}
        self.app.switch_page(str(shipped("pages") / f"{page}.py")).run()
        if self.heard.said:
            yield self.heard.said
        yield from (f"an exception: {error.message}" for error in self.app.exception)
        for text in self._words():
            found = NO_NUMBER.search(text)
            if found:
                yield f"a word that is no number: …{text[max(0, found.start() - 60) : found.end() + 20]}…"
        for place, chart in enumerate(self.app.get("vega_lite_chart")):
            if re.search(r"\b(NaN|-?Infinity)\b", chart.proto.spec):
                yield f"chart {place} has no number in its specification"
            for part in chart.proto.datasets:
                rows = pa.ipc.open_stream(part.data.data).read_all().to_pylist()
                yield from _unsound(f"chart {place}, {part.name}", rows)

    def _words(self) -> Iterator[str]:
        for kind in ("title", "caption", "text", "markdown", "header", "subheader"):
            yield from (one.value for one in getattr(self.app, kind))
        yield from (one.proto.body for one in self.app.get("html") if not one.proto.body.startswith("<style"))


def several(name: str, scenario: Scenario) -> list[str] | str:
    """Some values of a field, as its widget for variants takes them."""
    random = Random(f"{name} of {links.encode(scenario)}")  # noqa: S311 - nothing is kept secret with it
    values = [drawn(name, random, usual=True) for _ in range(3)]
    if mark(name, Choices):
        return [*dict.fromkeys(values)]
    return "; ".join("yes" if value is True else links.written(name, value) or "0" for value in values)


def wrong_results(page: str, scenario: Scenario) -> Iterator[str]:
    """What is wrong with the numbers of a page's study."""
    if page not in STUDIES:
        return
    for line in lines(PAGES[page].study(scenario)):
        yield from _unsound(line.path, [{line.path: value} for value in _numbers(line.value)])


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _numbers(one)


def _unsound(where: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    told = set()
    for row in rows:
        for name, value in row.items():
            if name in told:
                continue
            what = _amiss(f"{where} {name}", value)
            if what:
                told.add(name)
                yield f"{where}: {name} {what} in {json.dumps(row, default=str)[:200]}"


def _amiss(name: str, value: Any) -> str:
    if value is None:
        return "is missing"
    if isinstance(value, str):
        return f"says {value}" if NO_NUMBER.search(value) else ""
    if not isinstance(value, int | float) or (math.isfinite(value) and (value >= 0 or _OF_EITHER_SIGN.search(name))):
        return ""
    return f"is {value}"
