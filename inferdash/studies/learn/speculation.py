"""What a draft model gains or loses, and how a check keeps the proposals."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.facts.library import models
from inferdash.formula import Number
from inferdash.physics import speculation
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.passes import Pass, decode, one_pass
from inferdash.scenario import SHARE, Scenario
from inferdash.studies.numbers import Row, Table, number

ACCEPTANCES: Final = (0.5, 0.8, 0.9, 1.0)
"""Shares of kept proposals for which the gain of a draft model is drawn."""
MOST_DRAFT_TOKENS: Final = 16
_EVEN: Final = 1.01
"""Below this a gain is none."""


@dataclass(frozen=True)
class Speculation:
    """A round of speculative decoding."""

    tokens_per_pass: float = number("tokens", "output tokens per verification step, on average")
    draft_s: float | None = number("s", "passes of the draft model (limit)")
    verify_s: float | None = number("s", "verification step of the large model (limit)")
    pass_s: float | None = number("s", "round of both (limit)")
    speedup: float | None = number("times", "speed-up")


def study(scenario: Scenario, machine: Deployment, *, decode_pass_s: float | None) -> Speculation:
    """A round of speculative decoding against the plain decode, whose pass takes `decode_pass_s`."""
    tokens = speculation.tokens_per_pass(draft_tokens=scenario.draft_tokens, acceptance=scenario.acceptance)
    check = _verify(scenario, machine, scenario.draft_tokens).pass_s
    if decode_pass_s is None or check is None:
        return Speculation(tokens_per_pass=float(tokens), draft_s=None, verify_s=None, pass_s=None, speedup=None)
    draft = speculation.draft_s(
        draft_tokens=scenario.draft_tokens, draft_pass_s=_draft_pass_s(scenario, machine, decode_pass_s)
    )
    both = speculation.round_s(draft_s=draft, verify_s=check)
    gain = speculation.speedup(tokens_per_pass=tokens, decode_pass_s=decode_pass_s, round_s=both)
    return Speculation(
        tokens_per_pass=float(tokens),
        draft_s=float(draft),
        verify_s=float(check),
        pass_s=float(both),
        speedup=float(gain),
    )


def _draft_pass_s(scenario: Scenario, machine: Deployment, decode_pass_s: Number) -> Number:
    """Seconds of one pass of the draft model, for each request of the batch."""
    if scenario.draft == SHARE:
        return speculation.draft_pass_s(draft_share=scenario.draft_share, decode_pass_s=decode_pass_s)
    small = deploy(
        models()[scenario.draft],
        machine.accelerator,
        gpus=machine.gpus,
        weights=machine.weights,
        cache=machine.cache,
    )
    alone = decode(small, requests=scenario.batch, past=scenario.prompt).pass_s
    if alone is None:  # its peak is that of the large model, whose pass has a time
        raise AssertionError
    return alone


def _verify(scenario: Scenario, machine: Deployment, draft_tokens: Number) -> Pass:
    """The pass of the large model over the last written token and the proposed ones."""
    positions = draft_tokens + 1
    return one_pass(
        machine, requests=scenario.batch, positions=positions, past=scenario.prompt, output_positions=positions
    )


def sentence(scenario: Scenario, result: Speculation) -> str:
    """What the draft model does to the speed of the answer, in words."""
    if result.speedup is None:
        return "The gain of a draft model depends on the peak of the accelerator, which is not known."
    tokens = quantities.shown(result.tokens_per_pass, "tokens")
    said = f"With a draft model, a verification step yields {tokens} on average"
    if result.speedup >= _EVEN:
        return (
            f"{said}, and at the limit the answer comes {quantities.times(result.speedup, 'as fast')} as without one."
        )
    if result.speedup > 1 / _EVEN:
        return f"{said}, and at the limit the answer comes about as fast as without one."
    slower = quantities.times(1 / result.speedup, "as long")
    batch = f" at a batch of {scenario.batch:,}" if scenario.batch > 1 else ""
    return f"{said}, but it slows decoding down{batch}: at the limit the answer takes {slower} as without one."


def gain_rows(scenario: Scenario, result: Speculation) -> dict[str, list[dict[str, Any]]]:
    """The speed-up against the number of proposed tokens; nothing where no peak is known.

    Returns rows under "gain" (for several acceptances), "ends" (their last points), "path" and "own" (the scenario's
    line and point) and "even" (no gain, no loss).
    """
    machine = scenario.deployment
    writing = decode(machine, requests=scenario.batch, past=scenario.prompt).pass_s
    proposals = np.arange(1.0, MOST_DRAFT_TOKENS + 1)
    check = _verify(scenario, machine, proposals).pass_s
    if writing is None or check is None or result.speedup is None:
        return {}
    draft = speculation.draft_s(draft_tokens=proposals, draft_pass_s=_draft_pass_s(scenario, machine, writing))
    rounds = np.asarray(speculation.round_s(draft_s=draft, verify_s=check)).tolist()
    shown = np.asarray((*ACCEPTANCES, scenario.acceptance))
    points = []
    for k, both in enumerate(rounds, start=1):
        tokens = speculation.tokens_per_pass(draft_tokens=k, acceptance=shown)
        gains = np.asarray(speculation.speedup(tokens_per_pass=tokens, decode_pass_s=writing, round_s=both))
        points.append([{"draft_tokens": k, "speedup": gain} for gain in gains.tolist()])
    lines = [
        {"acceptance": a, "share": quantities.percent(a), "label": f"{quantities.percent(a)} accepted"} | point
        for row in points
        for a, point in zip(ACCEPTANCES, row, strict=False)
    ]
    own = {"draft_tokens": scenario.draft_tokens, "speedup": result.speedup}
    return {
        "gain": lines,
        "ends": lines[-len(ACCEPTANCES) :],
        "path": [row[-1] for row in points],
        "own": [own | {"label": quantities.times(result.speedup)}],
        "even": [{"speedup": 1.0, "draft_tokens": 0.5, "last": MOST_DRAFT_TOKENS, "label": "as fast as without"}],
    }


_OWN: Final = (".", "end")
"""What the large model writes after "The ride of 3 km cost $9"; "end" is the end token."""
_PROPOSALS: Final = {"both": (".", "end"), "first": (".", "Then"), "none": ("km", "end")}


def caption(scenario: Scenario) -> str:
    """How to read the lines."""
    own = quantities.percent(scenario.acceptance)
    return f"Each thin line is one acceptance rate, the thick line is {own}."


def example(proposal: str) -> Table:
    """The chapter's example place by place: what is proposed, what the large model writes, what is kept."""
    proposals = _PROPOSALS[proposal]
    agreed = speculation.kept(proposals, _OWN)
    own = [f"“{token}”" if place <= agreed else "not checked" for place, token in enumerate(_OWN)]
    kept = ["yes" if place < agreed else "no" for place in range(len(proposals))]
    return Table(
        columns=tuple(f"Token {place}" for place in range(1, len(proposals) + 1)),
        rows=(
            Row("Draft model proposes", "word", tuple(f"“{token}”" for token in proposals)),
            Row("Large model would write", "word", tuple(own)),
            Row("Accepted", "word", tuple(kept)),
        ),
        head="Who",
    )


def example_sentence(proposal: str) -> str:
    """What the check of the chapter's example writes, and why the answer stays the same."""
    proposals = _PROPOSALS[proposal]
    agreed = speculation.kept(proposals, _OWN)
    tokens = _OWN[: agreed + 1]
    written = " and ".join(f"“{token}”" for token in tokens)
    each = "It is the token" if len(tokens) == 1 else "Each is the token"
    count = quantities.count(len(tokens), "token")
    return (
        "The text so far is “The ride of 3 km cost \\$9”. One pass over the positions of “9” and "
        f"“{proposals[0]}” writes {count}: {written}. {each} that the large "
        "model itself writes in that place, so with greedy decoding the answer is exactly the one that it writes alone."
    )
