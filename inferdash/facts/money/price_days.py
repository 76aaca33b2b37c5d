"""Lists of prices of later days: fetched when asked, held against what is there, kept beside the bundled one.

Nothing is fetched at start. A list holds from the day on which it was fetched, so a link that names an earlier day
keeps its numbers. One that cannot be read in whole, or in which a price moves more than tenfold, is not taken.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import httpx2

URL: Final = "https://raw.githubusercontent.com/pydantic/genai-prices/refs/heads/main/prices/new_data/v2/data.json"
"""Where genai-prices publishes its list."""
_SECONDS: Final = 20.0
"""In which the whole list must come."""
_LARGEST: Final = 50_000_000
"""Bytes that are read at most; the list has a few millions."""
_FOLD: Final = 10
"""Times that a price may move."""
_SOME: Final = 3
"""Models that a sentence names at most."""


class PriceUpdateError(ValueError):
    """A list that was not taken; its text is one sentence, and what was there stays."""


class UnconfirmedPricesError(PriceUpdateError):
    """One that is taken where the reader confirms it."""


@dataclass(frozen=True)
class Taken:
    """A list that was taken."""

    path: Path
    models: int
    changed: int
    """Models whose price differs from the list before."""


def folder() -> Path:
    """Where fetched lists lie: INFERDASH_PRICES, or the reader's own data."""
    named = os.environ.get("INFERDASH_PRICES")
    return Path(named or os.path.expanduser("~/.local/share/inferdash/prices"))  # noqa: PTH111 - Path's may raise


def newest(day: date, *, within: Path | None = None) -> Path | None:
    """The newest list that was fetched on a day or before it; None where the bundled one holds."""
    lists = sorted((within or folder()).glob("20[0-9][0-9]-[0-9][0-9]-[0-9][0-9].json"))
    held = [path for path in lists if path.stem <= day.isoformat()]
    return held[-1] if held else None


@lru_cache(maxsize=4)
def read(path: Path) -> tuple[Any, ...]:
    """The providers of a list that was taken."""
    return tuple(providers_in(path.read_bytes()))


def update(
    known: Sequence[Any],
    *,
    url: str = URL,
    today: date,
    corrected: Mapping[tuple[str, str], tuple[float, float]] | None = None,
    confirmed: bool = False,
    into: Path | None = None,
    seconds: float = _SECONDS,
) -> Taken:
    """Fetches the list, and keeps it where it makes sense beside the one that is known.

    Args:
        known: the providers of the list that holds now.
        url: where the list is.
        today: the day from which it holds.
        corrected: pattern of provider and model -> dollars of input and output that are known to be right.
        confirmed: whether prices that move tenfold, or contradict a correction, are taken nevertheless.
        into: the folder; `folder()` unless said.
        seconds: in which the whole list must come.

    Raises:
        PriceUpdateError: where it is not taken; nothing is written then.
    """
    content = _fetched(url, seconds)
    providers = providers_in(content)
    now = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    before, after = dict(_prices(known, now)), dict(_prices(providers, now))
    _check(before, after, corrected or {}, confirmed=confirmed)
    place = into or folder()
    path = place / f"{today.isoformat()}.json"
    try:
        place.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        raise PriceUpdateError(f"The list could not be kept in {place}: {error.strerror}.") from None
    read.cache_clear()
    changed = sum(after[key] != price for key, price in before.items() if key in after)
    return Taken(path, len(after), changed)


def _fetched(url: str, seconds: float) -> bytes:
    end, content = time.monotonic() + seconds, bytearray()
    try:
        with httpx2.stream("GET", url, timeout=seconds, follow_redirects=True) as answer:
            answer.raise_for_status()
            for part in answer.iter_bytes():
                content += part
                if len(content) > _LARGEST:
                    raise PriceUpdateError(f"The list is larger than {_LARGEST // 10**6} MB, so it was not read.")
                if time.monotonic() > end:
                    raise PriceUpdateError(f"The list did not arrive within {seconds:g} seconds.")
    except httpx2.HTTPStatusError as error:
        raise PriceUpdateError(f"The list was not found: the server answered {error.response.status_code}.") from None
    except httpx2.TimeoutException:
        raise PriceUpdateError(f"The list did not arrive within {seconds:g} seconds.") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        if isinstance(error, PriceUpdateError):
            raise
        raise PriceUpdateError("The list could not be fetched: the connection failed or broke off.") from None
    return bytes(content)


def providers_in(content: bytes) -> list[Any]:
    """The providers of a list as it is published.

    Raises:
        PriceUpdateError: where it is none, or has another schema.
    """
    # The package reads its own list with this; it is pinned to the digit, so the name holds.
    from genai_prices.types import _providers_from_raw  # noqa: PLC0415 - a schema for those who update prices

    try:
        raw = json.loads(content)
        found = list(_providers_from_raw(raw)) if isinstance(raw, list) else []
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise PriceUpdateError("The answer is not a list of prices that can be read.") from None
    if not found:
        raise PriceUpdateError("The answer is not a list of prices.")
    return found


def _prices(providers: Sequence[Any], now: datetime) -> Iterator[tuple[tuple[str, str], tuple[float, float]]]:
    """Provider and model -> dollars for a million tokens of input and output, where both have a price."""
    for provider in providers:
        for model in provider.models:
            prices = model.get_prices(now)
            both = [_number(price) for price in (prices.input_mtok, prices.output_mtok)]
            if None not in both:
                yield (provider.id, model.id), (float(both[0] or 0), float(both[1] or 0))


def _number(price: Any) -> float | None:
    return None if price is None else float(getattr(price, "base", price))


def _check(
    before: Mapping[tuple[str, str], tuple[float, float]],
    after: Mapping[tuple[str, str], tuple[float, float]],
    corrected: Mapping[tuple[str, str], tuple[float, float]],
    *,
    confirmed: bool,
) -> None:
    negative = [key for key, prices in after.items() if min(prices) < 0]
    if negative:
        raise PriceUpdateError(f"The list has negative prices ({_some(negative)}), so it is not used.")
    left = [key for key in before if key in after]
    if 2 * len(left) < len(before):
        raise PriceUpdateError(f"The list has {len(left):,} of the {len(before):,} models, so it is not used.")
    if confirmed:
        return
    moved = [key for key in left if any(map(_is_far, before[key], after[key]))]
    if moved:
        raise UnconfirmedPricesError(
            f"Prices move more than {_FOLD} times ({_some(moved)}), so the list is not used until you confirm it."
        )
    against = [
        key
        for key in left
        for (provider, pattern), right in corrected.items()
        if key[0] == provider and fnmatch(key[1], pattern) and after[key] not in {before[key], right}
    ]
    if against:
        raise UnconfirmedPricesError(
            f"Prices contradict what was checked by hand ({_some(against)}), so the list is not taken until you "
            "confirm it."
        )


def _is_far(old: float, new: float) -> bool:
    low, high = sorted((old, new))
    return high > _FOLD * low and high > 0


def _some(keys: Sequence[tuple[str, str]]) -> str:
    named = ", ".join("/".join(key) for key in keys[:_SOME])
    return f"{named} and {len(keys) - _SOME:,} more" if len(keys) > _SOME else named
