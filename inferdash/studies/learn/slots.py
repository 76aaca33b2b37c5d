"""Slots of a batch and pages of a cache: what stays idle, what is reserved, and how sums are rounded."""

import math
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.physics.under_load import batching
from inferdash.scenario import Scenario, numbers_in
from inferdash.studies.learn.batching import Batching
from inferdash.studies.numbers import Row, Table


def stay_rows(scenario: Scenario, result: Batching, way: str) -> dict[str, list[dict[str, Any]]]:
    """Requests as bars in their slots over passes, "static" or "continuous"; "end" is the last pass of both ways.

    A bar lies around the number of its slot, from half a slot above to half a slot below.
    """
    plan = {"static": batching.static, "continuous": batching.continuous}[way]
    lengths = [int(length) for length in numbers_in(scenario.lengths)]
    stays = [
        {
            "slot": stay.place + 1,
            "above": stay.place + 0.5,
            "below": stay.place + 1.5,
            "start": stay.first_pass,
            "end": stay.first_pass + stay.passes,
            "request": stay.request + 1,
            "tokens": stay.passes,
        }
        for stay in plan(lengths, places=scenario.slots)
    ]
    return {"stays": stays, "end": [{"start": max(result.static_passes, result.continuous_passes)}]}


LENGTHS_NOTE: Final = "In the answer lengths, 63x50 stands for 63 requests of 50 tokens each."
"""How a list of lengths is written short."""


def stay_sentence(result: Batching) -> str:
    """What continuous batching saves."""
    static, continuous = result.static_passes, result.continuous_passes
    passes = quantities.count(static, "pass", "passes")
    if continuous == static:
        return f"Both take {passes}: no slot becomes free in time for a waiting request."
    saved = quantities.percent(1 - continuous / static)
    idle, still_idle = (quantities.count(one, "time") for one in (result.static_idle_places, result.idle_places))
    return (
        f"Static batching takes {passes} and leaves a slot idle for a pass {idle}; continuous batching takes "
        f"{continuous:,}, {saved} fewer, and leaves one idle {still_idle}."
    )


def page_sentence(scenario: Scenario, result: Batching) -> str:
    """What pages of the KV cache gain."""
    longest = max(scenario.longest, scenario.prompt)
    fit = f"{quantities.count(result.paged_requests, 'request')} of {quantities.count(scenario.prompt, 'token')} fit"
    pages = f"With pages of {quantities.count(scenario.page, 'token')}, {fit}"
    return f"{pages}; without pages, where each reserves {longest:,} tokens, {result.reserved_requests:,} fit."


def rounding_sentence(scenario: Scenario) -> str:
    """Why the order of a sum can change a token."""
    left, right = (
        batching.rounded_sum(order, scenario.digits)
        for order in (numbers_in(scenario.addends), numbers_in(scenario.addends)[::-1])
    )
    same = "the same" if left == right else "another"
    digits = quantities.count(scenario.digits, "significant digit")
    return (
        "The result of a floating-point sum depends on the order of its terms. "
        f"With {digits}, adding the numbers below from the right gives {same} sum. Engines split their sums by the "
        "size of the batch, so logits move a little; where two are almost equal, greedy decoding then takes the other "
        "token."
    )


def rounding_table(scenario: Scenario) -> Table:
    """The same numbers added in two orders, with few digits and in float16."""
    numbers = numbers_in(scenario.addends)
    backwards = numbers[::-1]
    with np.errstate(over="ignore", invalid="ignore"):  # what float16 cannot hold is shown as such
        half = [float(np.add.accumulate(np.asarray(order, dtype=np.float16))[-1]) for order in (numbers, backwards)]
    few = [batching.rounded_sum(order, scenario.digits) for order in (numbers, backwards)]

    def text(value: float) -> str:
        return quantities.general(value, 12) if math.isfinite(value) else "too large"

    return Table(
        ("from the left", "from the right"),
        (
            Row(quantities.count(scenario.digits, "significant digit"), "word", tuple(text(value) for value in few)),
            Row("float16, as a GPU may add", "word", tuple(text(value) for value in half)),
        ),
        head="Sum",
    )
