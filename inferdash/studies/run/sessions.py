"""Agent sessions in a server: how long they take, what of their contexts is found again, and what they wait for."""

from typing import Final

import numpy as np

from inferdash import quantities
from inferdash.scenario import Scenario
from inferdash.scenario.agents import SESSIONS
from inferdash.serving.simulated.requests import Floats
from inferdash.serving.simulated.summary import percentiles
from inferdash.studies import ratios
from inferdash.studies.numbers import Headline, Row, Table, show
from inferdash.studies.run import plan
from inferdash.studies.run.arrivals import LONGEST, most_turns
from inferdash.studies.run.simulation import Run, run
from inferdash.studies.run.tiers import reused

FEW: Final = 20
"""Sessions behind a percentile, at least."""
INTRO: Final = (
    "A coding agent calls the model again and again, each time with all that came before: its context grows, and most "
    "of it is in the prefix cache if it is still there after the pause for a tool or a person."
)
NOTE: Final = (
    "Sessions take turns in as many places as are live; each stays on its replica. A context is found again by whole "
    "blocks of 64 tokens, up to the last one that is still cached; answers are computed again with what follows them, "
    "as where thinking is left out. Two of three pauses lie within 2.3 times their median, as in five recorded "
    "sessions of Claude Code."
)


def is_of(scenario: Scenario) -> bool:
    """Whether requests come as the turns of sessions."""
    return scenario.pattern == SESSIONS


def times_s(ran: Run) -> Floats:
    """Seconds of each session that was simulated as a whole: from its first request to its last token."""
    if ran.session is None or not ran.whole:
        return np.zeros(0)
    count = int(ran.session.max()) + 1
    begins, ends, finish_s = np.full(count, np.inf), np.zeros(count), ran.served.finish_s
    ended = np.isfinite(finish_s)
    np.minimum.at(begins, ran.session, ran.asked.arrival_s)
    np.maximum.at(ends, ran.session[ended], finish_s[ended])
    whole = np.array(sorted(ran.whole))
    spans = ends[whole] - begins[whole]
    found: Floats = spans[spans > 0]
    return found


def waited_share(ran: Run) -> float:
    """Share of the sessions' time in which a request was under way: the rest are pauses."""
    if ran.session is None:
        return 0.0
    measured = np.isin(ran.session, [*ran.whole])
    ended = np.isfinite(ran.served.finish_s) & measured
    under_way = float((ran.served.finish_s - ran.asked.arrival_s)[ended].sum())
    whole = float(times_s(ran).sum())
    return min(1.0, under_way / whole) if whole else 0.0


def sentence(scenario: Scenario, ran: Run | None) -> str:
    """What those who work with agents feel, in words."""
    if ran is None:
        if scenario.deployment.peak is None or scenario.deployment.attention_peak is None:
            return f"Serving cannot be simulated: no peak is published for {scenario.hardware.name}."
        if most_turns(scenario):
            many = quantities.count(scenario.live_sessions, "live session")
            return (
                f"Sessions cannot be simulated: {many} of {scenario.session_turns:,} requests are too many at a time."
            )
        return (
            f"Sessions cannot be simulated: their contexts grow to over {LONGEST:,} tokens. Compaction shortens them."
        )
    said = ran.summary(scenario)
    first = said.time_to_first_token_s.p90
    live = quantities.count(scenario.live_sessions, "live session")
    if first is None:
        return f"{live}: too few requests are within the cache for percentiles."
    found = reused(ran)
    if said.refused:  # such a session is never whole
        share = quantities.percent(said.refused / (said.refused + said.measured))
        return (
            f"With {live}, {share} of requests are larger than the cache and are refused; 90% of the others get their"
            f" first token within {show(first + ran.server_s, 's')}."
        )
    whole = times_s(ran)
    middle = percentiles(whole).p50
    lasts = "" if middle is None else f"a session takes {show(middle, 's')}, and "
    return (
        f"With {live}, {lasts}90% of requests get their first token within {show(first + ran.server_s, 's')}; "
        f"{quantities.percent(found.found)} of the prompts’ tokens are found in the cache."
    )


def notes(scenario: Scenario, ran: Run | None) -> list[str]:
    """What the reader should know of sessions before trusting the numbers."""
    if not is_of(scenario):
        return []
    found = []
    if scenario.disaggregated:
        found.append("Sessions are simulated on workers that do both: prefill and decode apart does not count here.")
    if ran is not None and len(ran.whole) < FEW:
        whole = quantities.count(len(ran.whole), "session")
        found.append(f"Only {whole} ran from start to end: raise “Requests simulated” for their time.")
    return found


def longest(scenario: Scenario, ran: Run | None) -> int:
    """Tokens of the longest text, its prompt and answer together."""
    if ran is None or not is_of(scenario):
        return scenario.prompt + scenario.answer
    return int((ran.asked.prompt + ran.asked.answer).max(initial=0))


def headline_numbers(scenario: Scenario, ran: Run | None) -> list[Headline]:
    """The four numbers on top."""
    if ran is None:
        return []
    said, whole = ran.summary(scenario), times_s(ran)
    first, between = said.time_to_first_token_s.p90, said.inter_token_latency_s.p90
    how = f"({scenario.speed})"
    return [
        Headline(
            f"Time to first token, p90 {how}",
            None if first is None else first + ran.server_s,
            "s",
            ratio=ratios.FIRST,
        ),
        Headline(f"Inter-token latency, p90 {how}", between, "s", ratio=ratios.BETWEEN),
        Headline(
            f"Time of a session, p50 {how}",
            percentiles(whole).p50,
            "s",
            ratio=ratios.lasting("a session takes {}"),
        ),
        Headline("Found in the prefix cache", reused(ran).found, "%"),
    ]


def load_fields(scenario: Scenario) -> tuple[str, ...]:
    """The fields that say the load."""
    return ("live_sessions",) if is_of(scenario) else ("load_as", *plan.load_fields(scenario))


def table(scenario: Scenario) -> Table:
    """Sessions, their requests, and the cache between them; no rows where nothing runs."""
    ran, columns = run(scenario), (quantities.count(scenario.live_sessions, "live session"),)
    if ran is None:
        return Table(columns, (), head="Sessions")
    whole, said, found = percentiles(times_s(ran)), ran.summary(scenario), reused(ran)
    arrival_s = ran.asked.arrival_s
    per_s = (len(arrival_s) - ran.warm_up) / max(1e-9, float(arrival_s[-1] - arrival_s[ran.warm_up]))
    rows = (
        Row("Time of a session, p50", "s", (whole.p50,)),
        Row("Time of a session, p90", "s", (whole.p90,)),
        Row("Of it waiting for the model", "%", (waited_share(ran),)),
        Row("Requests", "requests/s", (ran.share * per_s,)),
        Row("Mean prompt", "tokens", (float(ran.asked.prompt[ran.warm_up :].mean()),)),
        Row("Prompt tokens found in the prefix cache", "%", (found.found,)),
        Row("Prompt tokens reloaded from host memory or SSD", "%", (found.reloaded,)),
        Row("Preemptions", "requests", (round(ran.share * said.preemptions),)),
    )
    return Table(columns, rows, head="Sessions")
