"""What a reader should know about a plan: what took part in it, what it counts on, and what was left out."""

from collections.abc import Iterator
from typing import Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.formats.carried_out import in_model
from inferdash.facts.models.precision import PRECISIONS
from inferdash.scenario import Scenario
from inferdash.scenario.operation import CONFIDENCE
from inferdash.scenario.speculating import METHODS
from inferdash.serving.planned.offers import NODE
from inferdash.serving.planned.planner import Plan
from inferdash.studies.numbers import show
from inferdash.studies.run.planning import confidence, planned, spans

_NAMED: Final = 6
"""Accelerators that a note names at most."""


def notes(scenario: Scenario) -> list[str]:
    """What the reader should know about the plan."""
    found = planned(scenario)
    if found is None:
        return []
    chips = [library.accelerators()[key].name for key in scenario.considered]
    racks = list(filter(None, [scenario.out_of_rack(chips)]))
    measured = ["Your own measurements do not change the plan."] * bool(scenario.measurements)
    return [
        *_machines(scenario, found),
        *_fewer_bits(scenario, found),
        *_proposing(scenario, found),
        *_slower(scenario, found),
        *_apart(scenario, found),
        *racks,
        *measured,
        *_refusals(found),
        *_left_out(found),
    ]


def _proposing(scenario: Scenario, found: Plan) -> Iterator[str]:
    """Whether what may propose tokens takes part in the plan."""
    if scenario.lacks_drafter:
        yield f"{scenario.architecture.name} is not known to have MTP layers: nothing is proposed."
    elif scenario.proposals and found.best:
        who, proposed = METHODS[scenario.proposals.method], quantities.count(scenario.proposals.draft_tokens, "token")
        if found.best.proposals:
            yield f"The plan runs with speculation: {who}, {proposed} proposed. It was also tried without."
        else:
            yield f"Speculation ({who}, {proposed} proposed) was tried and saves nothing here: the plan runs without."


def _slower(scenario: Scenario, found: Plan) -> Iterator[str]:
    """What a confidence takes into account, where one is asked for."""
    held = confidence(scenario)
    if held != "even" and found.best:
        passes, firsts = (quantities.digits(times) for times in found.best.slower)
        yield (
            f"For {CONFIDENCE[held]} the plan takes passes to last {passes} times and first tokens {firsts} times as "
            f"long as expected: {held}% of measurements that the fit had not seen stayed within that."
        )


def _apart(scenario: Scenario, found: Plan) -> Iterator[str]:
    """Whether prefill and decode apart take part in the plan, and what that saves."""
    best = found.best
    if not scenario.disaggregated or best is None:
        return
    if best.readers is None:
        if found.apart is None:
            yield "Prefill and decode apart were tried: no such workers are predicted to meet the targets."
            return
        usd = show(found.apart.usd_per_hour, "$")
        why = (
            "one replica that does both is enough for this load"
            if best.replicas == 1
            else "whole workers of both kinds cost no less than replicas that do both"
        )
        yield f"Prefill and decode apart were tried and save nothing here: {usd} an hour as predicted, as {why}."
        return
    if found.together is None:
        yield "Prefill and decode run apart: together, none of the set-ups meets the targets."
    else:
        one = found.together.candidate
        saved = quantities.percent(1 - best.usd_per_hour / one.usd_per_hour)
        yield (
            f"Prefill and decode apart save {saved}: together, the cheapest takes {show(one.usd_per_hour, '$')} an "
            f"hour, as prompts interrupt its decodes, and a batch is {quantities.digits(one.batch)} where decode "
            f"workers have {quantities.digits(best.batch)}."
        )
    if scenario.fabric == "same" and best.total_gpus > NODE:
        yield "Caches move between machines as fast as within one here, which is rarely so: choose the link below."


def _machines(scenario: Scenario, found: Plan) -> Iterator[str]:
    if found.best and spans(scenario, found.best):
        yield (
            f"A replica of {found.best.gpus:,} GPUs spans several machines. The link between them counts as fast as "
            "that within one, which it rarely is: choose it under “What to consider”."
        )


def _fewer_bits(scenario: Scenario, found: Plan) -> Iterator[str]:
    """That the plan runs in another format than the scenario."""
    if found.best is None:
        return
    chosen, runs_in = scenario.precision.name, in_model(PRECISIONS[found.best.weights], scenario.architecture).name
    if runs_in != chosen:
        yield (
            f"The plan runs in {runs_in}, the scenario in {chosen}: answers may differ, so test their quality, or "
            f"leave {runs_in} out under “What to consider”."
        )


def _refusals(found: Plan) -> Iterator[str]:
    for one in found.refused[:3]:
        chips = f"{one.candidate.total_gpus:,} × {library.accelerators()[one.candidate.accelerator].name}"
        yield f"{chips} is cheaper on paper, but {quantities.percent(one.over - 1)} over a target in the simulation."


def _left_out(found: Plan) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for key, reason in found.left_out.items():
        by_reason.setdefault(reason, []).append(library.accelerators()[key].name)
    for reason, names in by_reason.items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{', '.join(names[:_NAMED])}{more}: {reason.replace('only alone:', 'one GPU a replica, as')}."
