"""Meet a target: the cheapest set-up that carries a load within its targets, and why others do not."""

from dataclasses import dataclass
from typing import Any, Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.pricing.feature import HOURS
from inferdash.scenario import Scenario
from inferdash.scenario.operation import CONFIDENCE
from inferdash.scenario.speculating import METHODS
from inferdash.serving.planned.candidates import Candidate, Failure, Readers
from inferdash.serving.planned.confirming import Confirmation
from inferdash.studies import ratios
from inferdash.studies.numbers import Headline, Row, Table, number, part, show
from inferdash.studies.run import plan_notes, plan_rents
from inferdash.studies.run.planning import FREE_LINK, confidence, obstacle, planned, server_s, spans, starts

NAME: Final = "plan"
TITLE: Final = "Meet a target"
_REASONS: Final = {
    "memory": ("the model and one request do not fit", "B"),
    "first token": ("the first token takes too long", "s"),
    "inter-token": ("tokens come too slowly", "s"),
    "load": ("too many GPUs are needed", "GPUs"),
}


@dataclass(frozen=True)
class Choice:
    """A set-up of the plan."""

    accelerator: str = number("word", "accelerator")
    weights: str = number("word", "weight precision")
    proposes: str = number("word", "what proposes tokens")
    layout: str = number("word", "how the GPUs of a replica share the model")
    gpus: int = number("GPUs", "of a replica")
    replicas: int = number("replicas", "copies of the model")
    total_gpus: int = number("GPUs", "in all")
    places: int = number("requests", "batch limit of a group of GPUs")
    usd_per_hour: float = number("$", "an hour")
    usd_per_month: float = number("$", f"a month of {HOURS} hours")
    usd_per_mtok_prompt: float = number("$", "a million input tokens, if they carried the whole rent")
    usd_per_mtok_written: float = number("$", "a million output tokens, if they carried the whole rent")
    carries_per_s: float = number("requests/s", "capacity within the targets")
    utilization: float = number("%", "utilization of that")
    ttft_p90_s: float = number("s", "time to first token, p90")
    itl_p90_s: float = number("s", "inter-token latency, p90")


@dataclass(frozen=True)
class Meeting:
    """Every headline number of the page."""

    best: Choice | None = part("the cheapest that meets the targets")
    candidates: tuple[Choice, ...] = number("rows", "the next by cost, predicted")
    considered: int = number("set-ups", "considered: accelerators, precisions and layouts")
    scored: int = number("set-ups", "scored, each with its batch limits and numbers of replicas")


def study(scenario: Scenario) -> Meeting:
    """The numbers of the page for a scenario."""
    found = planned(scenario)
    if found is None:
        return Meeting(None, (), 0, 0)
    return Meeting(
        best=_choice(scenario, found.best, found.confirmation) if found.best else None,
        candidates=tuple(_choice(scenario, one) for one in found.following),
        considered=found.set_ups,
        scored=found.scored,
    )


def _choice(scenario: Scenario, one: Candidate, said: Confirmation | None = None) -> Choice:
    first_s, between_s = one.time_to_first_token_s, one.inter_token_latency_s
    if said and said.time_to_first_token_s.p90 is not None and said.inter_token_latency_s.p90 is not None:
        first_s, between_s = said.time_to_first_token_s.p90, said.inter_token_latency_s.p90
    return Choice(
        accelerator=library.accelerators()[one.accelerator].name,
        weights=PRECISIONS[one.weights].name,
        proposes=f"{METHODS[one.proposals.method]}, {one.proposals.draft_tokens}" if one.proposals else "nothing",
        layout=one.layout.words
        + (_read_by(one.readers) if one.readers else "")
        + (", over a free link" if spans(scenario, one) else ""),
        gpus=one.gpus,
        replicas=one.replicas,
        total_gpus=one.total_gpus,
        places=one.places,
        usd_per_hour=one.usd_per_hour,
        usd_per_month=one.usd_per_hour * HOURS,
        usd_per_mtok_prompt=one.usd_per_mtok_prompt,
        usd_per_mtok_written=one.usd_per_mtok_written,
        carries_per_s=one.carries_per_s,
        utilization=one.utilization,
        ttft_p90_s=first_s + server_s(scenario),
        itl_p90_s=between_s,
    )


def _read_by(readers: Readers) -> str:
    chip = library.accelerators()[readers.accelerator].name.removeprefix("NVIDIA ")
    return f"; prefill on {readers.workers:,} × {chip}, {readers.layout.words}, {PRECISIONS[readers.weights].name}"


def sentence(scenario: Scenario, result: Meeting) -> str:
    """The plan in words."""
    blocked = obstacle(scenario)
    if blocked:
        return blocked
    load = f"{quantities.digits(scenario.demand_per_s)} requests/s of {scenario.architecture.name}"
    best = result.best
    if best is None:
        found = planned(scenario)
        lacking = "; ".join(dict.fromkeys(found.left_out.values())) if found and not found.set_ups else ""
        return f"None of the set-ups considered serves {load} within both targets{': ' + lacking if lacking else ''}."
    chips = f"{best.total_gpus:,} × {best.accelerator} in {best.weights}"
    planner_best = planned(scenario)
    readers = planner_best.best.readers if planner_best and planner_best.best else None
    if readers:
        first = f"{readers.total_gpus:,} × {library.accelerators()[readers.accelerator].name} that prefill"
        chips = f"{first} and {best.total_gpus - readers.total_gpus:,} × {best.accelerator} that decode"
    rent = quantities.shown(best.usd_per_hour, "$")
    serve = "serves" if best.total_gpus == 1 else "serve"
    sure = f" with {CONFIDENCE[held]}" if (held := confidence(scenario)) != "even" else ""
    linked = f", if {FREE_LINK}" if planner_best and planner_best.best and spans(scenario, planner_best.best) else ""
    return f"{chips} {serve} {load}{sure} at {rent}/hour, cheapest of {_among(scenario)}{linked}."


def _among(scenario: Scenario) -> str:
    """What the plan chose from, in words."""
    chips = quantities.count(len(scenario.considered), "accelerator")
    return f"{chips} in {_or([PRECISIONS[key].name for key in scenario.tried])}"


def _or(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def headline_numbers(scenario: Scenario, result: Meeting) -> list[Headline]:
    """The four numbers on top."""
    held = confidence(scenario)
    how = f"({scenario.speed if held == 'even' else CONFIDENCE[held]})"
    found = result.best
    figures = (
        (None,) * 4 if found is None else (found.usd_per_hour, found.usd_per_month, found.ttft_p90_s, found.itl_p90_s)
    )
    told = (
        ("Rent per hour", "$", ratios.cost("the cheapest set-up costs {} an hour")),
        ("Rent per month", "$", ratios.cost("the cheapest set-up costs {} a month", told_by="Rent per hour")),
        (f"Time to first token, p90 {how}", "s", ratios.FIRST),
        (f"Inter-token latency, p90 {how}", "s", ratios.BETWEEN),
    )
    return [
        Headline(label, value, unit, of=label.removesuffix(f" {how}"), ratio=ratio)
        for (label, unit, ratio), value in zip(told, figures, strict=True)
    ]


def cost_sentence(scenario: Scenario, result: Meeting) -> str:
    """What the rent is for a token, and for a user; nothing without a plan."""
    best = result.best
    if best is None:
        return ""
    prompt, written = show(best.usd_per_mtok_prompt, "$"), show(best.usd_per_mtok_written, "$")
    said = f"With the whole rent on input tokens a million costs {prompt}; with all of it on output tokens, {written}"
    if scenario.load_as == "users":
        user = show(best.usd_per_month / scenario.active_users, "$")
        said = f"{said}. Per concurrent user it is {user} a month"
    return " ".join(filter(None, (f"{said}.", plan_rents.quoted(scenario, best.accelerator))))


def choice_table(result: Meeting) -> Table:
    """The cheapest that holds, and the next."""
    rows = [*filter(None, [result.best]), *result.candidates]
    proposing = ("speculation",) if any(one.proposes != "nothing" for one in rows) else ()
    columns = (
        "GPUs",
        "per hour",
        "TTFT, p90",
        "ITL, p90",
        "precision",
        "layout of a replica",
        "replicas",
        "batch limit",
    )
    return Table(
        (*columns, *proposing),
        tuple(
            Row(
                one.accelerator,
                "word",
                (
                    f"{one.total_gpus:,}",
                    show(one.usd_per_hour, "$"),
                    show(one.ttft_p90_s, "s"),
                    show(one.itl_p90_s, "s"),
                    one.weights,
                    one.layout,
                    f"{one.replicas:,}",
                    f"{one.places:,}",
                    *([one.proposes] if proposing else []),
                ),
            )
            for one in rows
        ),
        head="Set-up",
    )


def frontier_rows(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Cost against speed: "frontier" (what none beats in both), "best" and "target"; nothing without a plan."""
    found = planned(scenario)
    if found is None or not found.frontier:
        return {}
    rows = [_dot(scenario, one) for one in found.frontier]
    best = [_dot(scenario, found.best) | {"label": "the plan"}] if found.best else []
    return {"frontier": rows, "best": best, "target": [{"itl_s": scenario.target_between, "label": "target"}]}


def _dot(scenario: Scenario, one: Candidate) -> dict[str, Any]:
    choice = _choice(scenario, one)
    return {
        "usd_per_hour": one.usd_per_hour,
        "itl_s": one.inter_token_latency_s,
        "meaning": "money",
        "label": f"{choice.total_gpus} × {choice.accelerator.removeprefix('NVIDIA ')}",
        "said": f"{choice.weights}, {choice.layout}, {quantities.count(choice.replicas, 'replica')}",
    }


def failure_table(scenario: Scenario) -> Table | None:
    """Why other set-ups fail, with the one that misses by least; None where none fails."""
    found = planned(scenario)
    if found is None or not found.failures:
        return None
    return Table(
        ("set-ups", "nearest miss", "it takes", "allowed"),
        tuple(failure_row(one) for one in found.failures),
        head="They fail because",
    )


def failure_row(one: Failure) -> Row:
    """A reason, and the set-up that misses by least: what it takes and what there is, told apart in any case."""
    why, unit = _REASONS[one.reason]
    name = library.accelerators()[one.accelerator].name
    miss = f"{name}, {PRECISIONS[one.weights].name}, {one.layout.words}"
    takes, allowed = show(one.value, unit), show(one.allowed, unit)
    if takes == allowed:  # the digits shown do not tell them apart
        takes = f"{takes}, {quantities.percent(one.value / one.allowed - 1)} more"
    return Row(why, "word", (f"{one.set_ups:,}", miss, takes, allowed))


METHOD: Final = (
    "Every accelerator, precision and layout is scored over batch limits and numbers of replicas with "
    "the formulas of the other pages; the simulator then confirms from the cheapest up, with prompts first and "
    "round-robin routing. No margin is added: for failing machines and busier days, "
    "plan a higher load."
)


FRONTIER: Final = (
    "Each dot is the cheapest set-up that is predicted to be as fast: faster answers cost more, down the "
    "line. The plan meets both targets in the simulation."
)


def subject(scenario: Scenario) -> str:
    """What the plan is for, in a line."""
    load = f"{quantities.digits(scenario.demand_per_s)} requests per second"
    if scenario.load_as == "users":
        users, think = quantities.count(scenario.active_users, "user"), quantities.shown(scenario.think, "s")
        load = f"{users} who each ask every {think}, {load}"
    first, between = (quantities.shown(s, "s") for s in (scenario.target_first, scenario.target_between))
    cached = f" ({quantities.percent(scenario.found_share)} cached)" if scenario.found_share else ""
    texts = f"prompt {scenario.prompt:,}{cached}, answer {scenario.answer:,}"
    return f"{scenario.architecture.name}, {load}, {texts}, TTFT {first}, inter-token latency {between}"


def taken(scenario: Scenario) -> str:
    """What of the scenario counts for the plan, and what the plan chooses itself."""
    share = f"{quantities.percent(scenario.found_share)} of each" if scenario.found_share else "no part of a"
    return (
        "From the scenario a plan takes model, KV cache precision, engine, prompt and answer; accelerator, GPUs, "
        f"weight precision and batch it chooses itself. It counts on {share} prompt being in a prefix cache "
        "(“What to consider”)."
    )


IN_USE: Final = "This set-up is now the scenario of every page: “Serving over time” shows it under this load."


def load_fields(scenario: Scenario) -> tuple[str, ...]:
    """The fields that say the load."""
    return ("load",) if scenario.load_as == "requests" else ("active_users", "think")


def markdown(scenario: Scenario, result: Meeting) -> str:
    """The plan to paste."""
    lines = [f"# {TITLE}", f"{subject(scenario)}.", sentence(scenario, result), choice_table(result).markdown()]
    failures = failure_table(scenario)
    if failures:
        lines.append(failures.markdown())
    said = [f"- {note}" for note in plan_notes.notes(scenario)]
    lines += [f"```\n{one.text}\n```" for one in starts(scenario)]
    return "\n\n".join([*lines, "\n".join(said), plan_rents.rent_table(scenario).markdown(), METHOD]) + "\n"
