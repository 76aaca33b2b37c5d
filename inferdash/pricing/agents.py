"""A turn as an agent takes it: several calls of the model, whose context grows with what tools answer.

The first call of a turn is that of the feature. Each further one reads the prompt before it, what the model wrote to
call a tool and what the tool answered. Calls of one turn follow each other closely, so each finds the one before in
the cache. Where the context would grow beyond a limit, one more call reads it and writes a summary in its place.
"""

from dataclasses import dataclass

from inferdash.formula import Number, formula
from inferdash.pricing.feature import Cache, Turn, stored


@dataclass(frozen=True)
class Loop:
    """What an agent does in a turn, in tokens."""

    steps: int
    """Calls of the model in a turn; 1 where it answers at once."""
    call: int
    """Written to call a tool."""
    result: int
    """What the tool answers, which the next call reads."""
    compact_above: int = 0
    """Tokens of a prompt above which it is summarised; 0: never."""
    summary: int = 0
    """Tokens of the summary."""
    kept: int = 0
    """Tokens at the start that a summary does not replace: tools and the system turn."""


@formula(unit="tokens", ref="agent-loops")
def context_of_step(*, prompt: Number, step: Number, call: Number, result: Number) -> Number:
    """Tokens of the prompt of a call of the model; `step` counts from 0, which is the first call of the turn."""
    return prompt + step * (call + result)


def further_calls(prompt: float, loop: Loop, cache: Cache | None) -> list[Turn]:
    """The calls of a turn after its first, summaries included, by what their tokens are billed as.

    Args:
        prompt: tokens of the first call's prompt.
        loop: what the agent does.
        cache: the rules under which prompts are stored; None where all input is fresh.
    """
    found: list[Turn] = []
    before = prompt
    for _ in range(loop.steps - 1):
        now = float(context_of_step(prompt=before, step=1, call=loop.call, result=loop.result))
        if loop.compact_above and now > loop.compact_above and now > loop.kept + loop.summary:
            found.append(_call(now, before, loop.summary, cache))
            before, now = float(loop.kept), float(loop.kept + loop.summary)
        found.append(_call(now, before, loop.call, cache))
        before = now
    return found


def _call(prompt: float, before: float, output: float, cache: Cache | None) -> Turn:
    """One call whose prompt begins with that of the call before."""
    if cache is None:
        return Turn(fresh=prompt, read=0.0, written=0.0, output=output)
    read = stored(min(before, prompt), cache)
    kept = max(read, stored(prompt, cache))
    return Turn(fresh=prompt - kept, read=read, written=kept - read, output=output)


@formula(unit="requests", ref="retries")
def attempts(*, again: Number) -> Number:
    """Calls for one answer where a share of them is asked again, and of those the same share once more."""
    return 1 / (1 - again)


@formula(unit="$", ref="retries")
def usd_per_accepted(*, month_usd: Number, answers: Number, accepted: Number) -> Number:
    """Dollars of an answer that is accepted, where the others cost as much and are worth nothing."""
    return month_usd / (answers * accepted)
