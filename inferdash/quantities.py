"""Quantities as people write them, and numbers as they are shown.

Inside the program a quantity is a plain number in its base unit (bytes, bytes per second, FLOPs, FLOP/s,
seconds, dollars, tokens). It is converted twice: when it is read ("3.35 TB/s" -> 3.35e12) and when it is shown.
GB is 10^9 bytes and GiB is 2^30 bytes; they are never mixed.
"""

import math
import re
from dataclasses import dataclass
from typing import Final

_DECIMAL: Final = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21}
_BINARY: Final = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_TIME: Final = {
    "ns": 1e-9,
    "µs": 1e-6,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}

UNITS: Final[dict[str, dict[str, float]]] = {
    "B": {f"{p}B": f for p, f in (_DECIMAL | _BINARY).items()},
    "B/s": {f"{p}B/s": f for p, f in (_DECIMAL | _BINARY).items()},
    "FLOP/s": {f"{p}{name}": f for name in ("FLOP/s", "FLOPS", "FLOPs/s") for p, f in _DECIMAL.items()},
    "s": _TIME,
}
"""Base unit -> every unit that is read for it, with its size in base units."""

_ALIASES: Final = ("us", "FLOPS", "FLOPs/s")
"""Units that are read but never written."""
_PREFIXES: Final = ("", "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q")
_PREFIXED: Final = {"B", "B/token", "B/s", "FLOP", "FLOP/s"}
"""Units that are shown with the prefix that leaves at most three digits before the point."""
_LARGE_COUNTS: Final = {1e12: "trillion", 1e9: "billion", 1e6: "million"}
_COUNTED: Final = {"requests", "GPUs", "tokens", "numbers", "pairs", "parameters", "positions"}
"""Units that lose their plural at 1."""
_QUANTITY: Final = re.compile(
    r"([-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-zµ/]{0,12})", re.ASCII
)
"""A comma separates thousands, in groups of three; the point is decimal."""
_NUMBER: Final = re.compile(
    r"\$?\s*([-+]?(?:(?:\d{1,3}(?:[,' \u00a0\u202f]\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)\s*([a-z%]{0,8})",
    re.ASCII | re.IGNORECASE,
)
"""A comma, a space or an apostrophe separates thousands, in groups of three; the point is decimal."""
_BROKEN: Final = re.compile(r"(?<=\d) (?=[A-Za-zµ×])|(?<=×) (?=\w)|(?<=\blimit) (?=[$\d])|(?<=\bto) (?=[$\d])")
"""The spaces between a number and its unit."""
_SIZES: Final = {
    "": 1.0,
    "%": 0.01,
    **dict.fromkeys(("k", "thousand"), 1e3),
    **dict.fromkeys(("m", "mn", "million"), 1e6),
    **dict.fromkeys(("b", "bn", "billion"), 1e9),
}
_PLAIN_LIMIT: Final = 1e7
"""Below this a whole count is shown digit by digit."""


@dataclass(frozen=True)
class Shown:
    """A number as it stands on the page, apart from its unit, which is set smaller."""

    number: str
    unit: str

    def __str__(self) -> str:
        return f"{self.number} {self.unit}".rstrip()


def parse(text: str, unit: str) -> float:
    """The quantity that `text` writes, in base units.

    Args:
        text: a number and a unit: "3.35 TB/s", "80 GB", "81559 MiB", "250ms". A bare number is in base units.
        unit: the base unit to return, a key of `UNITS`.

    Raises:
        ValueError: with one sentence that says what was read and what is allowed.
    """
    known = UNITS[unit]
    match = _QUANTITY.fullmatch(text.strip())
    example = {"B": "80 GB", "B/s": "3.35 TB/s", "FLOP/s": "989 TFLOP/s", "s": "250 ms"}[unit]
    if match is None:
        raise ValueError(f"is not a number with a unit, such as {example}")
    number, written_unit = match.groups()
    factor = known.get(written_unit or unit)
    if factor is None:
        alike = [u for u in known if u.lower() == written_unit.lower()]
        raise ValueError(
            f"has the unit “{written_unit}”, which is not read here; write {alike[0] if alike else example}"
        )
    try:
        value = float(number.replace(",", "")) * factor
    except ValueError:
        raise ValueError(f"is not a number with a unit, such as {example}") from None
    if not math.isfinite(value):
        raise ValueError(f"is too large to be a quantity; write one such as {example}")
    # 3.35 * 1e12 is 3350000000000.0; a product such as 989.4e12 may be off in the last bit: take the shortest number.
    return float(f"{value:.15g}")


def number(text: str) -> float:
    """The number that `text` writes, as people type one: 32k, 1.5M, 200 000, 10,000, 2.5e6, 40%, $3.

    Raises:
        ValueError: with a sentence that says what is read.
    """
    match = _NUMBER.fullmatch(text.strip())
    size = _SIZES.get(match[2].lower()) if match else None
    if match is None or size is None:
        raise ValueError("is not a number such as 1500, 10,000, 32k, 1.5M or 40%")
    value = float(re.sub(r"[,' \u00a0\u202f]", "", match[1]))
    return value if size == 1 else float(f"{value * size:.15g}")


def is_bare(text: str) -> bool:
    """Whether `text` is a number and nothing else."""
    match = _QUANTITY.fullmatch(text.strip())
    return match is not None and not match[2]


def typed(value: float) -> str:
    """`value` as a field shows it, with every digit that counts and its thousands apart; `number` reads it back."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.15g}"


def written(value: float, unit: str) -> str:
    """`value` in base units as text that `parse` reads back exactly, short and without spaces ("3.35TB/s")."""
    sizes = {name: value / factor for name, factor in UNITS[unit].items() if not name.endswith(_ALIASES)}
    exact = [name for name, size in sizes.items() if value and parse(f"{size:.15g}{name}", unit) == value]
    # 100ms rather than 0.1s, 3.35TB/s rather than 3350GB/s, 24GiB rather than 25769803776B.
    name = min(exact, key=lambda name: (not 1 <= sizes[name] < 1000, len(f"{sizes[name]:.15g}")), default=unit)  # noqa: PLR2004 - three digits
    return f"{sizes[name]:.15g}{name}"


def digits(value: float, significant: int = 3) -> str:
    """`value` with that many significant digits, thousands separated.

    Very small and very large numbers are written in powers of ten.

    Raises:
        ValueError: for a NaN or an infinity, which no page may show.
    """
    if value == 0:
        return "0"
    if not math.isfinite(value):
        raise ValueError("a number on a page is always finite")
    exponent = math.floor(math.log10(abs(value)))
    rounded = round(value, significant - 1 - exponent)
    exponent = math.floor(math.log10(abs(rounded)))
    if exponent < -4 or abs(rounded) >= 1e15:  # noqa: PLR2004 - where plain digits stop being readable
        mantissa = rounded / 10.0**exponent
        return f"{mantissa:.{significant - 1}f}".rstrip("0").rstrip(".") + f"e{exponent}"
    decimals = max(0, significant - 1 - exponent)
    text = f"{rounded:,.{decimals}f}"
    # 80 is "80", while 15.01 is "15.0": the zero says that it was rounded.
    return text.rstrip("0").rstrip(".") if "." in text and value == round(value) else text


def shown(value: float, unit: str) -> Shown:
    """`value` in base units as it stands on a page: 0.00448 s is 4.48 ms, 17179869184 B is 17.2 GB."""
    if unit in {"s", "s/token"}:
        time = _shown_time(value)
        return Shown(time.number, time.unit + unit[1:])
    if unit == "$":
        return Shown(f"${_money(value)}", "")
    if unit == "%":
        return Shown(percent(value), "")
    if unit in _PREFIXED:
        step = 0 if value == 0 else int(math.log10(float(f"{abs(value):.3g}")) // 3)
        step = min(max(step, 0), len(_PREFIXES) - 1)
        return Shown(digits(value / 1000.0**step), f"{_PREFIXES[step]}{unit}")
    if unit == "parameters":
        for size, name in _LARGE_COUNTS.items():
            if float(f"{value:.3g}") >= size:
                return Shown(f"{digits(value / size)} {name}", unit)
    whole = value == round(value) and abs(value) < _PLAIN_LIMIT
    number = f"{value:,.0f}" if whole else digits(value, 5 if unit in _COUNTED and value >= 100 else 3)  # noqa: PLR2004
    return Shown(number, unit.removesuffix("s") if number == "1" and unit in _COUNTED else unit)


def _shown_time(value: float) -> Shown:
    size = abs(float(f"{value:.3g}"))
    if size == 0:
        return Shown("0", "s")
    for name in ("d", "h", "min"):
        if size >= 2 * _TIME[name]:
            return Shown(digits(value / _TIME[name]), name)
    for name in ("s", "ms", "µs"):
        if size >= _TIME[name]:
            return Shown(digits(value / _TIME[name]), name)
    return Shown(digits(value / _TIME["ns"]), "ns")


def _money(value: float) -> str:
    return f"{value:,.2f}" if abs(value) >= 1 or value == 0 else digits(value)


def percent(share: float) -> str:
    """A share as it stands in a sentence: 0.0179 is "1.8%", 0.9966 is "99.7%", 0.5 is "50%"."""
    value = 100 * share
    if value == 0:
        return "0%"
    if 99.9 < value < 100:  # noqa: PLR2004 - "100%" would say that nothing is left
        return "over 99.9%"
    if 0 < value < 0.01:  # noqa: PLR2004 - "0%" would say that there is nothing
        return "under 0.01%"
    text = f"{value:.1f}" if value >= 1 else f"{value:.2g}"
    return text.removesuffix(".0") + "%"


def times(factor: float, compared: str = "") -> str:
    """A factor as it stands in a sentence: 292.7 is "293 times", 2 is "2 times", 1.04 is "1.04 times".

    With what is compared, such as "as long", one is "just as long", and what rounds to it "about as long".
    """
    number = digits(factor)
    if compared and number in {"1", "1.00"}:
        return f"{'just' if factor == 1 else 'about'} {compared}"
    if compared:
        return f"{number} times {compared}"
    return f"{number} time{'' if number == '1' else 's'}"


def unbroken(text: str) -> str:
    """A sentence whose lines do not end between a number and its unit, or a number and the word that leads to it."""
    return _BROKEN.sub("\N{NO-BREAK SPACE}", text)


def general(value: float, significant: int = 4, *, signed: bool = False) -> str:
    """A number without a unit, as it was entered or follows from such: 0.7, 1429, 1e12, with its sign where `signed`.

    Nothing is "0", whatever its sign.
    """
    text = f"{value:{'+' if signed else ''}.{significant}g}"
    if float(text) == 0:
        return "0"
    mantissa, power, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if power else mantissa


def count(number: float, noun: str, several: str = "") -> str:
    """A counted noun with its plural: "1 request", "64 requests", "1 pass", "2 passes"."""
    return f"{number:,.0f} {noun if number == 1 else several or f'{noun}s'}"
