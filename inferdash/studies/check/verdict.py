"""Whether a scenario was measured, lies between what was measured, or beyond it, and in what respect."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from math import exp, log
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.machines.engine import Bands
from inferdash.facts.measured import Measurement, measurements
from inferdash.formula import remembered
from inferdash.layers.feed_forward import Experts
from inferdash.scenario import OWN, Scenario

Kind: TypeAlias = Literal["measured", "between", "beyond"]
WORDS: Final[dict[Kind, str]] = {
    "measured": "measured",
    "between": "between measured ones",
    "beyond": "beyond what was measured",
}
"""What a verdict is called in a mark."""
_SHORT: Final[dict[Kind, str]] = {"measured": "measured", "between": "between", "beyond": "beyond"}
"""The same of a second batch."""
HELP: Final = (
    "Whether measurements of a set-up like yours were published. Beyond them the band may be too narrow. “How right is"
    " this?” says in what respect, and which is the nearest."
)
"""What a mark means."""
_SAME: Final[dict[str, float]] = {"size": log(1.1), "gpus": 0.0, "batch": log(1.5), "context": log(2)}
"""How far a measurement may lie in each respect, as a logarithm, to be one of the scenario."""
_SLACK: Final = log(1.25)
"""How far beyond the last measurement still counts as between."""
_FAR: Final = log(8)
"""How far the nearest may lie in any respect where each by itself was measured."""
_OTHER: Final = {"preset": 100.0, "family": 100.0, "engine": 2.0, "kind": 3.0, "bits": 1.5}
"""What another accelerator, kind of accelerators, engine, kind of model or width of weights adds to a distance."""
_WEIGHTS: Final = {"size": 3.0, "gpus": 1.0, "batch": 1.0, "context": 0.5}
"""What a factor of e in an amount adds."""
_BITS: Final = re.compile(r"(?:nvfp|mxfp|fp|bf|int|iq|q|w|f)(\d+)", re.IGNORECASE)


class Set(NamedTuple):
    """What a measurement, or a scenario, is of."""

    preset: str
    family: str
    engine: str
    kind: str
    bits: int
    gpus: float
    size: float
    """Bytes of all parameters."""
    batch: float
    context: float
    """Tokens of a prompt with its answer."""


@dataclass(frozen=True)
class Verdict:
    """How a scenario stands to what was measured."""

    kind: Kind
    respects: tuple[str, ...]
    """In what it lies beyond, in words."""
    nearest: Measurement


def verdict(scenario: Scenario, *, batch: float | None = None) -> Verdict:
    """The verdict for a scenario, or for another number of requests in flight; the same set-up is asked for once."""
    mine = _set(scenario)
    return _verdict(mine if batch is None else mine._replace(batch=max(1, round(batch))))


def nearest(scenario: Scenario, count: int) -> list[Measurement]:
    """The measurements that are most like a scenario, the nearest first."""
    kept = _points()[0]
    return [kept[place] for place in np.argsort(_distances(_set(scenario)), kind="stable")[:count]]


def _set(scenario: Scenario) -> Set:
    run = scenario.run
    machine = scenario.as_run
    kinds = run.architecture.blocks
    kind = "experts" if any(isinstance(one.feed_forward, Experts) for one in kinds) else "dense"
    latent = any(one.attention and one.attention.expands for one in kinds)
    return Set(
        preset=run.accelerator,
        family=run.hardware.family,
        engine=library.engines()[run.engine].name,
        kind="latent attention" if latent else kind,
        bits=_bits(run.weights),
        gpus=machine.gpus,
        size=float(machine.stored_bytes),
        batch=run.batch,
        context=run.prompt + run.answer,
    )


def _bits(weights: str) -> int:
    """Bits of a weight, by the name of its format; 16 where it names none."""
    found = _BITS.search(weights)
    return int(found[1]) if found else 16


@cache
def _points() -> tuple[list[Measurement], dict[str, Any], dict[str, Any]]:
    """The measurements, and in what each is like others: names and bits, then logarithms of amounts."""
    kept = [one for one in measurements() if not one.apart]
    sets = [_of(one) for one in kept]
    return (
        kept,
        {name: np.array([getattr(one, name) for one in sets]) for name in _OTHER},
        {name: np.log([getattr(one, name) for one in sets]) for name in _SAME},
    )


def _distances(mine: Set) -> Any:
    """How unlike each measurement is."""
    _, named, amounts = _points()
    unlike = sum(more * (named[name] != getattr(mine, name)) for name, more in _OTHER.items())
    return unlike + sum(more * abs(amounts[name] - log(getattr(mine, name))) for name, more in _WEIGHTS.items())


def _of(one: Measurement) -> Set:
    prompt, answer, context = (float(one.row.get(name) or 0) for name in ("prompt", "answer", "context"))
    return Set(
        one.preset,
        one.family,
        one.engine,
        one.model_kind,
        _bits(one.weights),
        one.gpus,
        one.model_bytes,
        one.batch,
        max(1.0, context, prompt + answer),
    )


@lru_cache(maxsize=512)
def _verdict(mine: Set) -> Verdict:
    kept, named, amounts = _points()
    place = int(np.argmin(_distances(mine)))
    apart = {name: abs(float(amounts[name][place]) - log(getattr(mine, name))) for name in _SAME}
    alike = all(named[name][place] == getattr(mine, name) for name in _OTHER)
    if alike and all(apart[name] <= most for name, most in _SAME.items()):
        return Verdict("measured", (), kept[place])
    respects = _respects(mine)
    if not respects and max(apart.values()) > _FAR:
        respects = ("each of these was measured, but not together",)
    return Verdict("beyond" if respects else "between", respects, kept[place])


def _respects(mine: Set) -> tuple[str, ...]:
    """In what a set-up lies beyond others: what nobody measured first, then the amounts beyond all."""
    kept, named, amounts = _points()
    alike = np.ones(len(kept), dtype=bool)
    found = []
    for name, what in _NOBODY.items():
        closer = alike & (named[name] == getattr(mine, name))
        if closer.any():
            alike = closer
        else:
            found.append(what(mine))
    for name in _SAME:
        value, sizes = log(getattr(mine, name)), amounts[name][alike]
        low, high = float(sizes.min()), float(sizes.max())
        if value > high + _SLACK:
            found.append(f"{_amount(name, value)} (at most {_amount(name, high, bare=True)})")
        elif value < low - _SLACK:
            found.append(f"{_amount(name, value)} (at least {_amount(name, low, bare=True)})")
    return tuple(found)


def _amount(name: str, value: float, *, bare: bool = False) -> str:
    """An amount in words; `bare`: without what it is of."""
    amount = exp(value)
    if name == "size":
        return f"{quantities.shown(amount, 'B')}{'' if bare else ' of weights'}"
    one, more = {"gpus": ("GPU", ""), "batch": ("request", " in flight"), "context": ("token", " of context")}[name]
    return f"{round(amount):,}" if bare else f"{quantities.count(round(amount), one)}{more}"


def _chip(mine: Set) -> str:
    return "your own accelerator" if mine.preset == OWN else library.accelerators()[mine.preset].name


_NOBODY: Final[dict[str, Callable[[Set], str]]] = {
    "preset": lambda mine: f"nothing was measured on {_chip(mine)}",
    "engine": lambda mine: f"nothing with {mine.engine} there",
    "kind": lambda mine: f"no model with {mine.kind} there" if mine.kind != "dense" else "no dense model there",
    "bits": lambda mine: f"no weights of {mine.bits} bits there",
}
"""Respect -> what is said where no measurement is alike in it, among those that are alike in those before."""


_WIDER: Final = 0.12
"""By which the exponent of a band grows with each respect after the first."""
_COUNTED: Final = 3
"""Respects after the first that count at most."""


@remembered
def bands(scenario: Scenario) -> Bands:
    """The bands of the scenario's engine, wider where it lies beyond what was measured in several respects.

    Bands come from results whose publisher, model family or accelerator a fit had not seen, so that one respect is in
    them. Of results beyond in two, three and more respects that band held 77 and 71% where it held 86% of those that
    lie in between; their 80% are at 1.05 and 1.24 times its logarithm. First tokens showed no such difference. An
    engine that the reader's own measurements moved is known where it is used.
    """
    own = scenario.program.reach[scenario.hardware.family].bands
    if any(one.same_set_up(scenario) for one in scenario.measurements):
        return own
    beyond = len(verdict(scenario).respects) - 1
    return own.widened(1 + _WIDER * min(max(beyond, 0), _COUNTED))


def mark(scenario: Scenario, *batches: float, served: bool = False) -> str:
    """The verdict in a few words, to stand beside what is expected.

    Args:
        scenario: that the numbers are of.
        batches: requests in flight that they are of, the scenario's unless said; of a further one where it is another.
        served: whether they are of serving, which may be of a kind that nobody measured.
    """
    if served and unmeasured(scenario):
        return f"Expected: {WORDS['beyond']}"
    first, *others = [(batch, verdict(scenario, batch=batch).kind) for batch in batches or (float(scenario.batch),)]
    apart = [f"batch {round(batch):,}: {_SHORT[kind]}" for batch, kind in others if kind != first[1]]
    return f"Expected: {WORDS[first[1]]}" + (f" ({', '.join(apart)})" if apart else "")


def unmeasured(scenario: Scenario) -> tuple[str, ...]:
    """What is switched on in serving that no measurement was made with."""
    on = {"speculative decoding": scenario.proposals, "prefill and decode apart": scenario.disaggregated}
    return tuple(name for name, chosen in on.items() if chosen)


def sentence(scenario: Scenario) -> str:
    """The verdict in words, with the nearest measurement, and what none was made with."""
    without = f" No measurement has {' or '.join(unmeasured(scenario))}." if unmeasured(scenario) else ""
    return f"{_sentence(scenario)}{without}"


def _sentence(scenario: Scenario) -> str:
    found = verdict(scenario)
    one = found.nearest
    off = quantities.percent(abs(one.expected_s / one.measured_s - 1))
    near = f"{one.model} {one.weights} on {one.gpus} × {one.accelerator} with {one.engine}, off by {off}"
    match found.kind:
        case "measured":
            return f"A set-up like yours was measured: {near}."
        case "between":
            return f"Yours is between set-ups that were measured; the nearest is {near}."
    more = len(found.respects) - _MOST
    respects = ", ".join(found.respects[:_MOST]) + (f" and {more} more" if more > 0 else "")
    return f"Beyond what was measured: {respects}. The nearest is {near}."


_MOST: Final = 2
"""Respects that a headline names at most."""


def respects(scenario: Scenario) -> str:
    """Every respect in which the scenario lies beyond, as a list; nothing where it does not."""
    return "\n".join(f"- {one}" for one in verdict(scenario).respects)
