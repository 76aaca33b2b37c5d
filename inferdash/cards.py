"""A page as one picture: what it says in words above its chart, for a preview of its link and for a slide."""

import re
import textwrap
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, Literal

from inferdash import pictures, shipped
from inferdash.charts import theme
from inferdash.pairs import Pair
from inferdash.studies import comparison, differing
from inferdash.studies.report import PAGES

PREVIEW: Final = (1200, 630)
"""Pixels of a preview, as sites show them."""
SLIDE: Final = (1600, 900)
"""Pixels of a picture for a slide."""
_LETTERS: Final = 70
"""Of a line of the sentence, in a preview."""
_SMALL_LETTERS: Final = 110
"""Of a line below it."""
_LINES: Final = 4
_LONGEST: Final = 400
"""Characters of a description."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


@dataclass(frozen=True)
class Words:
    """A page in plain text."""

    title: str
    """The answer in a few words."""
    sentence: str
    subject: str
    """What it is about: one scenario, or two."""


@lru_cache(maxsize=256)
def words(page: str, pair: Pair) -> Words:
    """What a page says, in plain text; of a page whose numbers follow from a file, what it asks."""
    study = PAGES[page]
    if page not in comparison.PAGES:
        return Words(study.TITLE, _plain(study.QUESTION), "")
    a, b = pair.a, pair.b
    found = comparison.headlines(page, a, b) if b else []
    title = comparison.tab(study.TITLE, comparison.answer(page, pair.edited).shown, found)
    sentence = comparison.sentence(page, a, b) if b else comparison.answer(page, a).sentence
    differs = f"B against A. {differing.told(a, b)}" if b else ""
    subject = study.subject(a) if hasattr(study, "subject") else a.subject
    return Words(_plain(title), _plain(sentence), _plain(differs or subject))


def alone(page: str) -> Words:
    """What is said of a page where nothing of a scenario is known yet."""
    return Words(PAGES[page].TITLE, "What inference of a language model takes, what it costs, and why.", "")


def _plain(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()[:_LONGEST]


def image(
    page: str,
    pair: Pair,
    *,
    size: tuple[int, int] = PREVIEW,
    form: Literal["png", "svg"] = "png",
    note: str = "",
) -> bytes:
    """A page as a picture.

    Args:
        page: its name.
        pair: one scenario or two.
        size: width and height in pixels.
        form: of the picture.
        note: what stands below the sentence, after what the page is about: the link and the day.
    """
    import vl_convert  # noqa: PLC0415 - it starts an engine of its own

    spec = _spec(page, pair, size, note)
    if form == "svg":
        return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])).encode()
    return bytes(vl_convert.vegalite_to_png(spec, scale=1, allowed_base_urls=[]))


def _spec(page: str, pair: Pair, size: tuple[int, int], note: str) -> dict[str, Any]:
    """The chart of a page with its words as title, in a fixed size and in the light colours of the pages."""
    look, found, said = _look(), pictures.picture(page, pair), words(page, pair)
    width, height = size
    factor = width / PREVIEW[0]
    if found:
        chart: dict[str, Any] = _inked(found.spec, look["textColor"])
        chart["datasets"] = {name: [dict(row) for row in rows] for name, rows in found.rows.items()}
    else:
        chart = {"data": {"values": [{}]}, "mark": {"type": "point", "opacity": 0}}
    lines = textwrap.wrap(said.sentence, _LETTERS) or [""]
    about = ". ".join(filter(None, (said.subject, found.key if found else "")))
    below = [*textwrap.wrap(about, _SMALL_LETTERS)[:2], *textwrap.wrap(note, _SMALL_LETTERS)[:2]]
    config = {
        **chart.get("config", {}),
        "range": {"category": look["chartCategoricalColors"]},
        "font": "Source Sans, Liberation Sans, Arial, sans-serif",
    }
    return chart | {
        "width": width,
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "background": look["backgroundColor"],
        "padding": {"left": 44, "right": 44, "top": 36, "bottom": 28},
        "config": config,
        "title": {
            "text": lines if len(lines) <= _LINES else [*lines[: _LINES - 1], f"{lines[_LINES - 1]}…"],
            "subtitle": below or [""],
            "anchor": "start",
            "frame": "bounds",
            "fontSize": 32 * factor,
            "subtitleFontSize": 19 * factor,
            "subtitlePadding": 10,
            "offset": 22,
            "color": look["textColor"],
            "subtitleColor": look["textColor"],
        },
    }


def _inked(part: Any, ink: str) -> Any:
    """A specification in which the page's colour of text is a colour, and nothing is for a browser."""
    if isinstance(part, dict):
        return {name: _inked(value, ink) for name, value in part.items() if name != "usermeta"}
    if isinstance(part, list):
        return [_inked(one, ink) for one in part]
    return ink if part == theme.INK else part


@cache
def _look() -> dict[str, Any]:
    """The light colours of the pages."""
    found: dict[str, Any] = tomllib.loads(shipped(".streamlit/config.toml").read_text(encoding="utf-8"))
    return dict(found["theme"]["light"])
