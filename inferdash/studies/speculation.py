"""What a draft model gains or loses, and how a check keeps the proposals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from inferdash.facts.library import models
from inferdash.formula import Number
from inferdash.physics import speculation
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.passes import Pass, decode, one_pass
from inferdash.scenario import SHARE, Scenario
from inferdash.studies.numbers import number

ACCEPTANCES: Final = (0.5, 0.7, 0.8, 0.9, 1.0)
"""Shares of kept proposals for which the gain of a draft model is drawn."""
MOST_DRAFT_TOKENS: Final = 16


@dataclass(frozen=True)
class Speculation:
    """A round of speculative decoding."""

    tokens_per_pass: float = number("tokens", "tokens written by one check, on average")
    draft_s: float | None = number("s", "passes of the draft model (limit)")
    verify_s: float | None = number("s", "check by the large model (limit)")
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


def gain_rows(scenario: Scenario) -> list[dict[str, Any]]:
    """The speed-up against the number of proposed tokens, for several acceptances; none where no peak is known."""
    machine = scenario.deployment
    writing = decode(machine, requests=scenario.batch, past=scenario.prompt).pass_s
    proposals = np.arange(1.0, MOST_DRAFT_TOKENS + 1)
    check = _verify(scenario, machine, proposals).pass_s
    if writing is None or check is None:
        return []
    draft = speculation.draft_s(draft_tokens=proposals, draft_pass_s=_draft_pass_s(scenario, machine, writing))
    rounds = np.asarray(speculation.round_s(draft_s=draft, verify_s=check))
    acceptances = np.asarray(ACCEPTANCES)
    return [
        {"draft_tokens": k, "acceptance": a, "speedup": float(gain)}
        for k, both in enumerate(rounds.tolist(), start=1)
        for a, gain in zip(
            ACCEPTANCES,
            np.asarray(
                speculation.speedup(
                    tokens_per_pass=speculation.tokens_per_pass(draft_tokens=k, acceptance=acceptances),
                    decode_pass_s=writing,
                    round_s=both,
                )
            ),
            strict=True,
        )
    ]


@dataclass(frozen=True)
class Proposal:
    """One proposed token and what became of it."""

    proposed: str
    own: str
    """What the large model writes in that place; empty after the first place that differs."""
    kept: bool


def check(proposals: Sequence[str], own: Sequence[str]) -> tuple[list[Proposal], list[str]]:
    """The proposals one by one, and the tokens that the check writes.

    The large model writes its own token where it differs, or, where it keeps all, the one after them if the answer
    goes on.
    """
    agreed = speculation.kept(proposals, own)
    steps = [
        Proposal(proposal, own[i] if i <= agreed and i < len(own) else "", kept=i < agreed)
        for i, proposal in enumerate(proposals)
    ]
    return steps, list(own[: agreed + 1])
