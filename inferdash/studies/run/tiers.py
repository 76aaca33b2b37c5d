"""Caches below the GPUs: whether blocks are reloaded or computed, and what more room for them is worth."""

from dataclasses import dataclass
from typing import Final

from inferdash import quantities
from inferdash.formula import recording
from inferdash.physics.capacity.tiers import TB, break_even_bandwidth, least_tokens, reload_s
from inferdash.scenario import Scenario
from inferdash.scenario.agents import SESSIONS
from inferdash.serving.simulated.summary import prompt_s
from inferdash.studies.numbers import Row, Table, show
from inferdash.studies.run.simulation import Run, run

_HOURS: Final = 730
"""Of a month, as rents are said."""
NOTE: Final = (
    "Blocks move beside the passes, one request after another over all links of a replica, at 50 of 63 GB/s of PCIe as "
    "measured on an H100 and after 5 ms (assumed); writing takes no time. Cache life: how long an unused block stays, "
    "until as many tokens were computed as there is room for."
)
UNKNOWN: Final = (
    "It counts where earlier blocks are known: in agent sessions, and in your own requests if the file names blocks."
)
ENDLESS: Final = 1e15
"""Bytes that no simulation fills."""
_LEAST: Final = 1024
"""Tokens of the shortest text for which the two are compared."""


@dataclass(frozen=True)
class Reused:
    """What a simulation found of its prompts after its warm-up."""

    found: float
    """Share of the prompts' tokens that were not computed."""
    reloaded: float
    """Share that came from host memory or an SSD."""
    computed_tok_per_s: float
    """Tokens of prompts that one replica computed, a second."""


def reused(ran: Run) -> Reused:
    """Of a run whose requests have blocks."""
    measured = slice(ran.warm_up, None)
    there = ran.served.replica[measured] >= 0
    prompts, found, reloaded = (
        float(one[measured][there].sum()) for one in (ran.asked.prompt, ran.served.found, ran.served.reloaded)
    )
    start_s, end_s = float(ran.asked.arrival_s[ran.warm_up]), float(ran.asked.arrival_s[-1])
    span_s = max(end_s - start_s, 1e-9)
    return Reused(
        found=found / max(1.0, prompts),
        reloaded=reloaded / max(1.0, prompts),
        computed_tok_per_s=(prompts - found) / span_s / ran.copies,
    )


def life_s(ran: Run) -> float | None:
    """Seconds for which a block that nobody uses stays, about: until as many tokens were computed as there is room.

    None where nothing gave way.
    """
    pages = max(ran.how.pages or 0, ran.how.tiers.host_pages + ran.how.tiers.ssd_pages)
    computed = reused(ran).computed_tok_per_s
    if not ran.served.evicted.any() or not computed:
        return None
    return pages * ran.how.page / computed


def sentence(scenario: Scenario, ran: Run | None) -> str:
    """Whether a text is reloaded or computed, and from what length on, in words."""
    if ran is None:
        return ""
    tokens = min(_context(scenario), ran.times.tokens - 1)
    computed_s = prompt_s(ran.times, prompt=tokens, pass_tokens=scenario.pass_tokens)
    tiers = ran.how.tiers
    said = [f"{quantities.count(tokens, 'token')} take {show(computed_s, 's')} to compute"]
    for name, there, token_s in (
        ("host memory", scenario.host_memory > 0, tiers.host_token_s),
        ("the SSD", scenario.ssd > 0, tiers.ssd_token_s),
    ):
        if there:
            moved_s = tiers.latency_s + tokens * token_s
            said.append(f"{show(moved_s, 's')} from {name}")
    if len(said) == 1:
        with recording():
            moved_s = float(
                reload_s(latency_s=tiers.latency_s, tokens=tokens, token_bytes=tiers.host_token_s, bandwidth=1.0)
            )
        said.append(f"{show(moved_s, 's')} to reload from host memory, if there were any for it")
    return (
        f"{', '.join(said)}. A request takes whichever is quicker, with the waits for the link and for other prompts."
    )


def rate_sentence(scenario: Scenario, ran: Run | None) -> str:
    """The bandwidth at which reloading is as quick as computing, and from how many tokens on it is quicker."""
    if ran is None:
        return ""
    tokens = min(max(_LEAST, _context(scenario)), ran.times.tokens - 1)
    token_s = prompt_s(ran.times, prompt=tokens, pass_tokens=scenario.pass_tokens) / tokens
    tiers = ran.how.tiers
    token_bytes = tiers.host_token_s * scenario.host_bandwidth
    with recording():
        even = float(break_even_bandwidth(token_bytes=token_bytes, token_s=token_s))
        if token_s <= tiers.host_token_s:
            return f"Host memory is too slow: it would take {show(even, 'B/s')} a GPU."
        least = float(
            least_tokens(latency_s=tiers.latency_s, compute_token_s=token_s, reload_token_s=tiers.host_token_s)
        )
    longer = f" and over {quantities.count(round(least), 'token')}" if least >= 1 else ""
    return f"Reloading is quicker above {show(even, 'B/s')} a GPU{longer}."


def _context(scenario: Scenario) -> int:
    return scenario.session_start if scenario.pattern == SESSIONS else scenario.prompt


def room_table(scenario: Scenario) -> Table:
    """The same sessions with other rooms for blocks: none below the GPUs, the scenario's, 1 TB more, and endless."""
    given = scenario.host_memory
    rooms = {
        "GPUs alone": {"host_memory": 0.0, "ssd": 0.0},
        "as set": {},
        "1 TB more host memory": {"host_memory": given + TB},
        "nothing evicted": {"host_memory": ENDLESS},
    }
    if not (given or scenario.ssd):
        del rooms["as set"]
    rows = []
    for name, update in rooms.items():
        one = scenario.model_copy(update=update)
        ran = run(one)
        if ran is None:
            continue
        said, found = ran.summary(one), reused(ran)
        life = life_s(ran) if one.host_memory < ENDLESS else None
        rows.append(
            Row(
                name,
                "word",
                (
                    show(found.found, "%"),
                    show(found.reloaded, "%"),
                    show(said.time_to_first_token_s.p50, "s"),
                    show(said.time_to_first_token_s.p90, "s"),
                    "no end" if life is None else show(life, "s"),
                ),
            )
        )
    columns = ("found", "reloaded", "TTFT, p50", "TTFT, p90", "cache life")
    return Table(columns, tuple(rows), head="Room for blocks")


def worth_sentence(scenario: Scenario) -> str:
    """What 1 TB more of host memory a replica saves, in words."""
    more = scenario.model_copy(update={"host_memory": scenario.host_memory + TB})
    ran, larger = run(scenario), run(more)
    if ran is None or larger is None:
        return ""
    before, after = reused(ran), reused(larger)
    if after.found - before.found < 0.001:  # noqa: PLR2004 - a thousandth is nothing that anybody would pay for
        return "1 TB more of host memory for each replica would find nothing more."
    mean = max(1, round(float(ran.asked.prompt.mean())))
    token_s = prompt_s(ran.times, prompt=mean, pass_tokens=scenario.pass_tokens) / mean
    per_prompt = (after.found - before.found) * float(ran.asked.prompt[ran.warm_up :].mean())
    saved = token_s * per_prompt * _per_s(ran) / ran.copies
    usd = saved * scenario.gpus * scenario.rent * _HOURS
    return (
        f"1 TB more of host memory for each replica would find {quantities.percent(after.found)} of the prompts’ "
        f"tokens instead of {quantities.percent(before.found)}: the prefill it saves is "
        f"{quantities.percent(saved)} of a replica’s time, worth {show(usd, '$')} a month at your rent."
    )


def _per_s(ran: Run) -> float:
    """Requests a second after the warm-up."""
    arrival_s = ran.asked.arrival_s
    return (len(arrival_s) - ran.warm_up) / max(1e-9, float(arrival_s[-1] - arrival_s[ran.warm_up]))
