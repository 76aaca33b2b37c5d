"""What speculation gains or loses in a server, by the requests in its batch."""

from itertools import groupby
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.facts.models.acceptance import LONGEST, curves
from inferdash.formula import Number, unrecorded
from inferdash.physics.drafters import Proposals, beside, round_of
from inferdash.physics.fitted.expected import expected_pass
from inferdash.physics.passes import decode
from inferdash.physics.speculation import speedup
from inferdash.scenario import Scenario
from inferdash.scenario.speculating import ENTERED, METHODS, NONE
from inferdash.studies.numbers import show

_LINES: Final = (1, 4, 8)
"""Numbers of proposed tokens for which the gain is drawn."""
_POINTS: Final = np.unique(np.round(np.geomspace(1, 1024, 61)))
_SHOWN: Final = 1.05
"""Speed-ups nearer to 1 are none."""
_METHODS: Final = {
    "draft": "A draft model",
    "mtp": "The model’s MTP layers",
    "eagle3": "An EAGLE-3 head",
    "block": "A block drafter",
    "ngram": "An n-gram search in the text so far",
}


def gains(scenario: Scenario, proposals: Proposals, *, batch: Number) -> Number | None:
    """Times as fast as without proposals that a token is written, by the batch; None without a peak."""
    one = scenario.served
    machine, past = one.deployment, one.prompt + one.answer / 2
    engine = one.program if one.speed == "expected" else None
    with unrecorded():
        plain: Any = decode(machine, requests=batch, past=past)
        if engine is not None:
            plain = expected_pass(machine, engine, plain, requests=batch, positions=1)
        found = round_of(machine, engine, proposals, requests=batch, past=past)
        if found is None or plain is None or plain.pass_s is None:
            return None
        return speedup(tokens_per_pass=proposals.tokens_per_pass, decode_pass_s=plain.pass_s, round_s=found.round_s)


def gain(scenario: Scenario, batch: float | None) -> float | None:
    """The same at a mean batch; None where nothing is proposed, or nothing runs."""
    proposals = scenario.proposals
    if proposals is None or batch is None:
        return None
    found = gains(scenario, proposals, batch=max(1.0, batch))
    return None if found is None else float(found)


def sentence(scenario: Scenario, batch: float | None) -> str:
    """What is proposed, and what it does at the mean batch and at others, in words."""
    if scenario.speculation == NONE:
        return "Nothing is proposed: each pass generates one token per request."
    model = scenario.architecture.name
    if scenario.lacks_drafter:
        return f"{model} is not known to have MTP layers, so nothing is proposed."
    proposals = scenario.proposals
    at_mean = gain(scenario, batch)
    if proposals is None or at_mean is None or batch is None:
        return ""
    written = show(proposals.tokens_per_pass, "tokens")
    who = f"{_METHODS[proposals.method]} proposes {quantities.count(proposals.draft_tokens, 'token')}"
    said = f"{who} and a check writes {written} on average. At the mean batch of {quantities.digits(max(1, batch))}"
    return f"{said}, tokens come {_times(at_mean)}; {_turns(scenario, proposals)}."


def _times(gained: float) -> str:
    if gained >= _SHOWN:
        return f"{quantities.times(gained, 'as fast')} as without"
    if gained > 1 / _SHOWN:
        return "about as fast as without"
    return f"more slowly than without: each takes {quantities.times(1 / gained, 'as long')}"


def _turns(scenario: Scenario, proposals: Proposals) -> str:
    """Between which batches it gains."""
    batches = np.arange(1.0, scenario.places + 1)
    won = np.asarray(gains(scenario, proposals, batch=batches)) >= 1
    runs = [
        [int(batch) for batch, _ in run]
        for gained, run in groupby(zip(batches, won, strict=True), lambda one: one[1])
        if gained
    ]
    if not runs:
        return f"it is a loss at every batch up to the limit of {scenario.places:,}"
    if len(runs[0]) == len(batches):
        return f"it gains at every batch up to the limit of {scenario.places:,}"
    parts = [f"{run[0]:,} to {run[-1]:,}" if run[0] < run[-1] else f"{run[0]:,}" for run in runs]
    return f"it gains at a batch of {' or '.join(parts)} and loses at others up to {scenario.places:,}"


def rows(scenario: Scenario, batch: float | None) -> dict[str, list[dict[str, Any]]]:
    """Speed-up against the batch: "gain" and "ends" (by proposed tokens), "path" and "own", "even"; nothing without."""
    proposals = scenario.proposals
    found = None if proposals is None else gains(scenario, proposals, batch=_POINTS)
    if proposals is None or found is None:
        return {}
    lines = []
    for tokens in _LINES:
        if tokens != proposals.draft_tokens:
            other = scenario.model_copy(update={"draft_tokens": tokens}).proposals
            if other:
                lines.append((f"{tokens} proposed", np.asarray(gains(scenario, other, batch=_POINTS)).tolist()))
    places = _POINTS.tolist()
    drawn = [
        {"batch": place, "speedup": gained, "label": name}
        for name, all_gains in lines
        for place, gained in zip(places, all_gains, strict=True)
    ]
    path = [
        {"batch": place, "speedup": gained} for place, gained in zip(places, np.asarray(found).tolist(), strict=True)
    ]
    at_mean = gain(scenario, batch)
    own = (
        []
        if batch is None
        else [{"batch": max(1.0, batch), "speedup": at_mean, "label": quantities.times(at_mean or 0)}]
    )
    return {
        "gain": drawn,
        "ends": [one for one in drawn if one["batch"] == places[-1]],
        "path": path,
        "own": own,
        "even": [{"batch": 1.0, "last": places[-1], "speedup": 1.0, "label": "as fast as without"}],
    }


def words(scenario: Scenario) -> str:
    """What is proposed, in a few words for a line on the set-up; nothing where nothing is."""
    found = scenario.proposals
    return f", {METHODS[found.method]}, {found.draft_tokens} proposed" if found else ""


def caption(scenario: Scenario) -> str:
    """How to read the lines, and whose acceptance it is."""
    own = quantities.count(scenario.draft_tokens, "proposed token")
    said = f"The thick line is for {own}, with the dot at the mean batch; thin ones are for others."
    if scenario.acceptance_from == ENTERED:
        return f"{said} Acceptance is yours, the same for each proposal; measure it on your texts."
    one = curves()[scenario.acceptance_from]
    other = "" if one.method == scenario.speculation else f" That is of another method: {METHODS[one.method]}."
    return (
        f"{said} Acceptance of {one.name}: measured on {one.measured_on}, for up to {LONGEST} tokens; your texts may "
        f"keep more or fewer.{other} Source: {one.source}."
    )


def room_note(scenario: Scenario) -> str:
    """What the drafter takes of the memory, in words; nothing where that is little."""
    proposals = scenario.proposals
    if proposals is None:
        return ""
    machine = scenario.served.deployment
    free = machine.memory - float(machine.stored_bytes_of_one)
    left = beside(machine, proposals).memory - float(machine.stored_bytes_of_one)
    lost = 1 - left / free if free > 0 else 0.0
    return f"The drafter and its cache leave {quantities.percent(lost)} less room for caches." if lost >= 0.01 else ""  # noqa: PLR2004 - a hundredth is little
