"""Who comes in a scenario over time: requests by its pattern, or the sessions that its turns belong to."""

from typing import Any, Final

import numpy as np

from inferdash.scenario import Scenario
from inferdash.serving.simulated.requests import Requests, bursts, daily, log_normal, poisson, requests
from inferdash.serving.simulated.sessions import Session

LONGEST: Final = 262_144
"""Tokens of a text, its prompt and answer together, up to which it is simulated."""
MOST: Final = 60_000
"""Requests that are simulated at most to bring the batch to its size, beside those that the reader asks for."""
TAIL: Final = 8
"""Times the median that the longest text has where lengths spread."""
_BLOCK: Final = 64
"""Tokens of a block in sessions, as in the traces of coding assistants."""
_MOST_BLOCKS: Final = 10_000_000
"""Blocks of prompts that are followed at most: 80 MB a list of them."""
HOURS: Final = (2, 1, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 12, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3)
"""Weights of the hours of a day, with a busiest one of about twice the mean: an example, not a measurement."""


def asked(scenario: Scenario, count: int, *, per_s: float) -> Requests:
    """Who comes, when, and with how many tokens; more of them begin alike."""
    seed = scenario.seed
    match scenario.pattern:
        case "bursts":
            arrival_s = bursts(count, per_s=per_s, variation=scenario.burstiness, seed=seed)
        case "day":
            arrival_s = _pressed_day(count, per_s=per_s, seed=seed)
        case _:
            arrival_s = poisson(count, per_s=per_s, seed=seed)
    prompt, answer = (
        log_normal(count, median=median, spread=scenario.length_spread, least=1, most=TAIL * median, seed=seed + shift)
        for shift, median in ((1, scenario.prompt), (2, scenario.answer))
    )
    found: Any = np.minimum(np.floor(scenario.found_share * prompt), prompt - 1)
    prefix: Any = np.random.default_rng(seed + 3).integers(scenario.prefixes, size=count) if found.any() else -1
    return requests(arrival_s, prompt=prompt, answer=answer, found=found, prefix=prefix)


def _pressed_day(count: int, *, per_s: float, seed: int) -> Any:
    """Arrivals of a day whose length is that of the requests at the mean load."""
    day_s = 86_400.0
    return daily(count, per_s=count / day_s, hours=HOURS, seed=seed) * (count / per_s / day_s)


def longest(scenario: Scenario) -> int:
    """Tokens of the longest text that can come."""
    spread = TAIL if scenario.length_spread > 1 else 1
    return spread * (scenario.prompt + scenario.answer)


def session_of(scenario: Scenario) -> Session:
    """What each session of the scenario is made of."""
    return Session(
        turns=scenario.session_turns,
        start=scenario.session_start,
        shared=scenario.session_shared,
        growth=scenario.session_growth,
        answer=scenario.answer,
        tool_pause_s=scenario.tool_pause,
        person_every=scenario.person_every,
        person_pause_s=scenario.person_pause,
        spread=scenario.length_spread,
        compact_at=scenario.compact_at,
        subagents=scenario.subagents,
        subagent_turns=scenario.subagent_turns,
    )


def most_turns(scenario: Scenario) -> int:
    """Requests of sessions that are simulated at most; 0 where contexts grow beyond what is simulated."""
    grown = scenario.session_start + scenario.session_growth * (scenario.session_turns - 1)
    if scenario.compact_at:
        grown = min(grown, max(scenario.session_start, scenario.compact_at))
    blocks = (scenario.session_start + grown) / 2 / block_of(scenario)
    return 0 if grown > LONGEST else int(min(MOST, _MOST_BLOCKS / max(1.0, blocks)))


def block_of(scenario: Scenario) -> int:
    """Tokens of a block by which contexts are found again: whole pages, about as many as traces of agents have."""
    return scenario.page * max(1, _BLOCK // scenario.page)
