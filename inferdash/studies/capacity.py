"""How many requests fit: of the whole memory as the limit, and of what an engine has of it as what is expected."""

from dataclasses import replace
from typing import Any, Final

from inferdash.physics.capacity.memory import fewest_gpus, largest_batch
from inferdash.scenario import Scenario, in_memory
from inferdash.scenario.marks import AUTO
from inferdash.studies.numbers import Estimate

_MOST_GPUS: Final = 1024
_LARGER_SHARE: Final = 0.95
FEWER_REQUESTS: Final = 256
"""For which an engine keeps less memory than for its default of 1,024 on accelerators of 70 GB or more."""


def batch_of(scenario: Scenario, *, tokens: int) -> Estimate:
    """Requests of so many tokens that fit.

    The limit is not known where the engine's memory was chosen, nor what is expected where the whole was.
    """
    whole = scenario.limit.memory_of == "datasheet"
    limit = int(largest_batch(scenario.deployment, tokens=tokens)) if whole else None
    if whole and not apart(scenario):
        return Estimate(limit, None, None, None)
    machine, kept = scenario.as_run, scenario.kept
    expected = int(largest_batch(machine, tokens=tokens))
    if kept is None:
        return Estimate(limit, expected, expected, expected)
    weights = float(machine.stored_bytes_of_one)
    room = kept.usable + -in_memory.weights_of_one(scenario, weights=weights)
    low, high = (
        int(largest_batch(replace(machine, memory=max(0.0, weights + edge)), tokens=tokens))
        for edge in (room.low, room.high)
    )
    return Estimate(limit, expected, min(low, expected), max(high, expected))


def apart(scenario: Scenario) -> bool:
    """Whether the limit and what is expected are of different memory or layouts, as links of version 2 have it."""
    return AUTO in {scenario.memory_of, scenario.layout if scenario.gpus > 1 else ""}


def that_fit(scenario: Scenario, *, tokens: int) -> int:
    """The largest batch that is priced and timed: that which is expected to fit, or at the limit where it is shown."""
    found = batch_of(scenario, tokens=tokens)
    both = (found.limit, found.expected) if scenario.speed == "limit" else (found.expected, found.limit)
    return int(next((most for most in both if most is not None), 0))


def fitting(scenario: Scenario) -> Scenario:
    """The scenario, or with the largest batch that fits where its own does not; as it is where none does."""
    most = that_fit(scenario, tokens=scenario.prompt) if apart(scenario) else 0
    return scenario.model_copy(update={"batch": most}) if 0 < most < scenario.batch else scenario


def ways_out(scenario: Scenario, *, tokens: int) -> dict[str, dict[str, Any]]:
    """Changes with which a request fits where none does: what a button says, and the fields that it sets."""
    if not apart(scenario) or that_fit(scenario, tokens=tokens):
        return {}
    gpus = fewest(scenario, requests=1, tokens=tokens)
    more = {f"Use {gpus:,} GPUs": {"gpus": gpus}} if gpus and gpus > scenario.gpus else {}
    taken = that_fit(scenario.model_copy(update={"engine_share": _LARGER_SHARE}), tokens=tokens)
    share = {f"Let the engine take {_LARGER_SHARE:.0%} of the memory": {"engine_share": _LARGER_SHARE}} if taken else {}
    most = with_fewer_requests(scenario, tokens=tokens)
    fewer = {f"Start the engine for {FEWER_REQUESTS:,} requests": {"max_num_seqs": FEWER_REQUESTS}} if most else {}
    return fewer | more | share


def with_fewer_requests(scenario: Scenario, *, tokens: int) -> int:
    """Requests that fit where the engine is started for fewer at a time; 0 where that makes no room."""
    kept = scenario.kept
    if kept is None or kept.requests[1] <= FEWER_REQUESTS:
        return 0
    return that_fit(scenario.model_copy(update={"max_num_seqs": FEWER_REQUESTS}), tokens=tokens)


def fewest(scenario: Scenario, *, requests: int, tokens: int) -> int | None:
    """Accelerators that hold so many requests, as a machine has them; None where a thousand do not.

    Where the reader chose the layout: the fewest whose memory together is enough.
    """
    if not apart(scenario) or scenario.speed == "limit":
        return int(fewest_gpus(scenario.deployment, requests=requests, tokens=tokens))
    gpus = 1
    while gpus <= _MOST_GPUS:
        machine = scenario.model_copy(update={"gpus": gpus}).as_run
        if largest_batch(machine, tokens=tokens) >= requests:
            return gpus
        gpus *= 2
    return None
