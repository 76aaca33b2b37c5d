"""Requests of a file, sent through the scenario's replicas as fast as they came."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

import numpy as np

from inferdash import quantities
from inferdash.pricing.logs.packed import Readable
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.replay import UNTIMED
from inferdash.scenario import Scenario
from inferdash.serving.simulated.requests import Requests, Texts, Turns, requests
from inferdash.studies.run import sessions
from inferdash.studies.run.serving import Serving, study_of
from inferdash.studies.run.simulation import Run, run_of

MOST: Final = 200_000
"""Requests of a file that are simulated, its first ones."""
_MOST_BLOCKS: Final = 400_000
"""Different blocks of prompts that are told apart, the first ones."""
_TIMELESS: Final = "The file has no timestamps, so its requests cannot be replayed in time."
INTRO: Final = (
    "Upload a log or a trace that “Your traffic” reads: its requests arrive at their own times, with their own "
    "lengths. Where the file has block ids of prompts, earlier blocks are read from the prefix cache of their replica "
    "while there is room; the least recently used block is evicted. Times and lengths stay in the memory of this "
    "server for a while; nothing of the file is stored, logged or passed on."
)


@dataclass(frozen=True, eq=False)
class Own:
    """The requests of a file."""

    who: Requests
    problems: tuple[str, ...]
    """What the reader should know about the file, in sentences."""


def study(stream: Readable) -> Own:
    """Reads the requests of a file; those without tokens count as one.

    Args:
        stream: a file that is open for bytes.

    Raises:
        OSError: where the file cannot be read.
    """
    trace, numbers = Trace(stream), dict[Hashable, int]()
    rows: list[tuple[float, int, int, int, tuple[int, ...], str, float]] = []
    block = 0
    for one in islice(trace.requests(), MOST + 1):
        tokens = max(1, one.input_tokens)
        block = one.block_tokens or block
        names: Sequence[Hashable] = one.blocks[: tokens // block] if block else ()
        if trace.kind == "session":  # whose ids are its own
            names = [(one.session.partition("/")[0], name) for name in names]
        known = takewhile(lambda name: name in numbers or len(numbers) < _MOST_BLOCKS, names)
        mine = tuple(numbers.setdefault(name, len(numbers)) for name in known)
        read = one.recorded.read_tokens if one.recorded else 0
        rows.append(
            (one.time_s, tokens, max(1, one.output_tokens), min(read, tokens - 1), mine, one.session, one.pause_s)
        )
    cut: tuple[str, ...] = ()
    if len(rows) > MOST:
        cut += (f"Only the first {MOST:,} requests of the file are read.",)
    if len(numbers) >= _MOST_BLOCKS:
        cut += (f"Of the blocks of prompts the first {_MOST_BLOCKS:,} are told apart; later ones are not found again.",)
    del rows[MOST:]
    rows = [row for row in rows if row[0] != UNTIMED] or [(0.0, *row[1:]) for row in rows]
    rows.sort()
    table = np.array([row[:4] for row in rows]).reshape(-1, 4)
    arrival_s = table[:, 0] - table[0, 0] if rows else table[:, 0]
    prompt, answer, found = table[:, 1:].astype(np.int64).T
    texts = Texts.of([row[4] for row in rows], block=block) if numbers else None
    turns = _turns([row[5:] for row in rows])
    who = requests(arrival_s, prompt=prompt, answer=answer, found=found, texts=texts, turns=turns)
    if len(who) > 1 and not who.arrival_s[-1]:
        return Own(requests([], prompt=[], answer=[]), (_TIMELESS,))
    return Own(who, (*trace.problems, *cut))


def _turns(told: Sequence[tuple[str, float]]) -> Turns | None:
    """Which requests follow on others, by session and pause; None where no pause is told."""
    last: dict[str, int] = {}
    before: list[list[int]] = []
    for one, (session, pause_s) in enumerate(told):
        before.append([last[session]] if session in last and pause_s >= 0 else [])
        if session:
            last[session] = one
    if not any(before):
        return None
    number: dict[str, int] = {}
    return Turns.of(
        before,
        pause_s=[max(0.0, pause_s) for _, pause_s in told],
        session=[number.setdefault(session or f"\0{one}", len(number)) for one, (session, _) in enumerate(told)],
    )


def result(scenario: Scenario, own: Own) -> tuple[Run | None, Serving]:
    """What became of them."""
    ran = run_of(scenario, own.who) if len(own.who) else None
    return ran, study_of(scenario, ran)


def sentence(own: Own, found: Serving) -> str:
    """What their users would have felt."""
    count = len(own.who)
    if not count:
        return "The file has no requests that can be read."
    span_s = float(own.who.arrival_s[-1])
    rate = f", {quantities.digits((count - 1) / span_s)} per second" if span_s else ""
    said = f"{quantities.count(count, 'request')}{rate}"
    if found.ttft_s.p90 is None or found.met_targets_share is None:
        return f"{said}: too few can be simulated for percentiles."
    first = quantities.shown(found.ttft_s.p90, "s")
    met = quantities.percent(found.met_targets_share)
    return f"{said}: 90% of users get their first token within {first}; {met} of requests meet both targets."


def session_sentence(ran: Run | None) -> str:
    """How long sessions take whose turns follow on each other; nothing where none do."""
    whole = sessions.times_s(ran) if ran else np.zeros(0)
    if not len(whole):
        return ""
    count = quantities.count(len(whole), "session")
    return (
        f"Turns come their recorded pause after the answer before them: {count} from start to end, half of them within "
        f"{quantities.shown(float(np.median(whole)), 's')}."
    )


def reuse_sentence(ran: Run | None) -> str:
    """What of the prompts was found in the cache, and what more room would find; nothing where no block is known."""
    if ran is None or not ran.blocks:
        return ""
    there = ran.served.replica >= 0
    prompts = int(ran.asked.prompt[there].sum())
    found = int(ran.served.found[there].sum()) / max(1, prompts)
    said = f"{quantities.percent(found)} of the prompts’ tokens were found in the cache"
    moved = int(ran.served.reloaded[there].sum()) / max(1, prompts)
    if moved:
        said += f" ({quantities.percent(moved)} reloaded from host memory or SSD)"
    pages = int(ran.served.evicted.sum())
    if not pages:
        return f"{said}, and nothing was evicted."
    gone = quantities.count(pages * ran.how.page, "token")
    return f"{said}; {gone} gave way to others, of which more memory may find some again."
