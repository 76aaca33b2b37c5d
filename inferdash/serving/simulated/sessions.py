"""Sessions of agents as requests: each turn comes some time after the answer before it, with all that came before.

A lane is a place for a session: when one ends, the next begins there, so that as many are live at any time. The first
session of a lane begins at a random turn, as if it had been at work before.
"""

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from inferdash.formula import Number, formula
from inferdash.serving.simulated.requests import Ints, Requests, Texts, Turns, requests

PAUSE_SPREAD: Final = 2.3
"""Factor within which two thirds of the pauses lie: of 97 pauses of five sessions of Claude Code (kv-cache-tester,
2026), those for tools are 5, 9 and 26 s and those of people 41, 133 and 372 s at the 10th, 50th and 90th percentile."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """What a session is made of, in tokens and seconds."""

    turns: int
    start: int
    """Tokens of the first context."""
    shared: int
    """Tokens at its start that all sessions share."""
    growth: int
    """Tokens that a turn adds to the context: its answer, and what it is told."""
    answer: int
    tool_pause_s: float
    """Median from an answer to the next turn."""
    person_every: int
    """Turns of which one waits for a person instead."""
    person_pause_s: float
    spread: float = 1.0
    """Factor within which two thirds of the growths and answers lie."""
    pause_spread: float = PAUSE_SPREAD
    compact_at: int = 0
    """Tokens of a context above which it falls back to the size of the first; 0: never."""
    subagents: int = 0
    """Started halfway; the turn that follows waits for all."""
    subagent_turns: int = 1


@formula(unit="tokens", ref="agent-sessions")
def prompt_tokens(*, turns: Number, start: Number, growth: Number) -> Number:
    """Tokens of the prompts of a session together, without compaction."""
    return turns * start + growth * turns * (turns - 1) / 2


@formula(unit="tokens", ref="agent-sessions")
def computed_tokens(*, turns: Number, start: Number, growth: Number) -> Number:
    """Of them those that are computed where all that was there before is found: each once."""
    return start + growth * (turns - 1)


@formula(unit="requests/s", ref="agent-sessions")
def turns_per_s(*, sessions: Number, latency_s: Number, pause_s: Number) -> Number:
    """Requests a second of so many live sessions, each of which answers and then pauses (Little)."""
    return sessions / (latency_s + pause_s)


@dataclass
class _Rows:
    """The requests of all lanes, as they are made."""

    block: int
    rng: np.random.Generator
    shared: int
    """Blocks that all contexts begin with."""
    free: int = 0
    """The next name of a block."""
    where: tuple[int, int] = (0, 0)
    """Lane and session of those that are made now."""
    lane: list[int] = field(default_factory=list)
    session: list[int] = field(default_factory=list)
    prompt: list[int] = field(default_factory=list)
    answer: list[int] = field(default_factory=list)
    pause_s: list[float] = field(default_factory=list)
    before: list[list[int]] = field(default_factory=list)
    names: list[Ints] = field(default_factory=list)

    def context(self, tokens: int) -> int:
        """The first name of the blocks of a new context that grows up to so many tokens."""
        self.free += tokens // self.block
        return self.free - tokens // self.block

    def add(self, base: int, tokens: tuple[int, int], pause_s: float, before: list[int]) -> int:
        """Adds a request with so many tokens of prompt and answer, whose context has blocks from `base` on."""
        prompt, answer = tokens
        self.lane.append(self.where[0])
        self.session.append(self.where[1])
        self.prompt.append(prompt)
        self.answer.append(answer)
        self.pause_s.append(pause_s)
        self.before.append(before)
        own, shared = max(0, prompt // self.block - self.shared), min(self.shared, prompt // self.block)
        self.names.append(np.concatenate([np.arange(shared), np.arange(base, base + own)]))
        return len(self.prompt) - 1


@dataclass(frozen=True, eq=False)
class Lanes:
    """The requests of sessions that go on in lanes, with a row a request."""

    who: Requests
    turns: Turns
    """Of them."""
    lane: Ints
    whole: frozenset[int]
    """Sessions that are there from their first turn to their last."""


def lanes(one: Session, *, live: int, count: int, block: int, seed: int) -> Lanes:
    """About `count` requests of `live` sessions at a time.

    Args:
        one: what each session is made of.
        live: lanes.
        count: requests in all, at least; each lane has one whole session at least after that which is under way.
        block: tokens of a block by which contexts are found again.
        seed: the same seed gives the same requests.
    """
    shared = min(one.shared, one.start) // block
    rows = _Rows(block, np.random.default_rng(seed), shared, free=shared)
    starts: list[float] = []
    whole: set[int] = set()
    number = 0
    for lane in range(live):
        last: list[int] = []
        begun, first = len(rows.prompt), int(rows.rng.integers(one.turns))
        while not last or len(rows.prompt) - begun < count / live or number - 1 not in whole:
            rows.where = (lane, number)
            last = _session(one, rows, last, first)
            if first == 0:
                whole.add(number)
            number, first = number + 1, 0
        starts.append(float(rows.rng.uniform(0, max(one.tool_pause_s, 1e-3))))
    return _as_requests(rows, starts, frozenset(whole))


def _session(one: Session, rows: _Rows, before: list[int], first: int) -> list[int]:
    """Adds the turns of a session from the `first` on, and returns the request after which it has ended."""
    growth, answers = _drawn(rows.rng, one.growth, one), _drawn(rows.rng, one.answer, one, least=1)
    largest = one.start + int(growth.sum())
    base, context = rows.context(largest), one.start
    for turn in range(one.turns):
        if turn >= first:
            pause_s = _pause_s(rows.rng, one, turn) if turn > first else 0.0
            before = [rows.add(base, (context, int(answers[turn])), pause_s, before)]
            if one.subagents and turn == one.turns // 2:
                before = [_helper(one, rows, before) for _ in range(one.subagents)]
        context += int(growth[turn])
        if one.compact_at and context > one.compact_at and context > one.start:
            base, context = rows.context(largest), one.start
    return before


def _helper(one: Session, rows: _Rows, before: list[int]) -> int:
    """Adds the turns of a sub-agent, and returns its last."""
    alone = replace(one, turns=one.subagent_turns, subagents=0, person_every=one.subagent_turns + 1)
    return _session(alone, rows, before, 0)[0]


def _drawn(rng: np.random.Generator, median: int, one: Session, *, least: int = 0) -> Ints:
    """Tokens for each turn, log-normal where they spread."""
    drawn = np.full(one.turns, float(median))
    if one.spread > 1:
        drawn *= np.minimum(np.exp(np.log(one.spread) * rng.standard_normal(one.turns)), 20)
    whole: Ints = np.maximum(least, np.rint(drawn)).astype(np.int64)
    return whole


def _pause_s(rng: np.random.Generator, one: Session, turn: int) -> float:
    """Seconds before a turn."""
    median = one.person_pause_s if turn % one.person_every == 0 else one.tool_pause_s
    return float(median * np.exp(np.log(one.pause_spread) * rng.standard_normal()))


def mean_pause_s(one: Session) -> float:
    """Seconds of a pause, on average over the turns of a session after its first."""
    turns = np.arange(1, one.turns)
    medians = np.where(turns % one.person_every == 0, one.person_pause_s, one.tool_pause_s)
    return float(medians.mean() * np.exp(np.log(one.pause_spread) ** 2 / 2))


def _as_requests(rows: _Rows, starts: list[float], whole: frozenset[int]) -> Lanes:
    """The rows by when their lanes begin, so that those that come by themselves are by arrival."""
    lane = np.array(rows.lane)
    begins = np.array(starts)[lane]
    order = np.argsort(begins, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    parts = [rows.names[one] for one in order]
    first = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    names = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
    used = np.zeros(rows.free + 1, dtype=np.bool_)
    used[names] = True  # few of those that were set aside
    turns = Turns.of(
        [[int(place[end]) for end in rows.before[one]] for one in order],
        pause_s=np.array(rows.pause_s)[order],
        session=np.array(rows.session)[order],  # sub-agents are of the session that started them
    )
    who = requests(
        begins[order],
        prompt=np.array(rows.prompt)[order],
        answer=np.array(rows.answer)[order],
        texts=Texts(names=used.cumsum()[names] - 1, first=first, block=rows.block),
        turns=turns,
    )
    return Lanes(who=who, turns=turns, lane=lane[order], whole=whole)
