"""Speculative decoding: a draft model proposes tokens, and one pass of the large model checks them all."""

from collections.abc import Sequence
from itertools import takewhile

from inferdash.formula import Number, formula


@formula(unit="tokens", ref="speculative-decoding")
def tokens_per_pass(*, draft_tokens: int, acceptance: Number) -> Number:
    """Tokens that one check writes on average: the kept proposals and one of the large model's own.

    Proposal i is kept when it and all before it would have been written, each with probability `acceptance`. The
    sum is (1 - a^(k+1)) / (1 - a), and k + 1 where each proposal is kept.
    """
    return sum(acceptance**i for i in range(draft_tokens + 1))


@formula(unit="s", ref="speculative-decoding")
def draft_s(*, draft_tokens: Number, draft_pass_s: Number) -> Number:
    """Seconds in which the draft model writes its proposals, one pass for each."""
    return draft_tokens * draft_pass_s


@formula(unit="s", ref="speculative-decoding")
def round_s(*, draft_s: Number, verify_s: Number) -> Number:
    """Seconds of one round: the passes of the draft model, then the check of the large model."""
    return draft_s + verify_s


@formula(unit="times", ref="speculative-decoding")
def speedup(*, tokens_per_pass: Number, decode_pass_s: Number, round_s: Number) -> Number:
    """How many times as fast the answer comes as without a draft model; below 1 it comes more slowly."""
    return tokens_per_pass * decode_pass_s / round_s


@formula(unit="s", ref="speculative-decoding")
def draft_pass_s(*, draft_share: Number, decode_pass_s: Number) -> Number:
    """Seconds of a pass of a draft model that is the large one scaled down: its parameters, its cache, its time."""
    return draft_share * decode_pass_s


@formula(unit="s", ref="measured")
def launched_pass_s(*, pass_s: Number, launch_s: Number) -> Number:
    """Expected seconds of a pass of a drafter, with what engines take to start it."""
    return pass_s + launch_s


@formula(unit="s", ref="speculative-decoding")
def token_s(*, round_s: Number, tokens_per_pass: Number) -> Number:
    """Seconds of a written token of each request, where a round writes `tokens_per_pass` of each on average."""
    return round_s / tokens_per_pass


def rate_of(tokens_per_pass: float, *, draft_tokens: int) -> float:
    """The acceptance that writes as many tokens a pass, were it that of each proposal; the inverse of the sum.

    Raises:
        ValueError: where so many cannot be written.
    """
    if not 1 <= tokens_per_pass <= draft_tokens + 1:
        raise ValueError(f"a check of {draft_tokens} proposals writes from 1 to {draft_tokens + 1} tokens")
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if sum(middle**i for i in range(draft_tokens + 1)) < tokens_per_pass:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def kept(proposals: Sequence[str], own: Sequence[str]) -> int:
    """Proposals that the large model keeps: those before the first one that it would have written differently."""
    agreed = (proposal == token for proposal, token in zip(proposals, own, strict=False))
    return len(list(takewhile(bool, agreed)))
