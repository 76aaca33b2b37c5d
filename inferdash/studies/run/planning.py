"""A scenario's plan: what is asked for, what it may be built from, and what the planner found."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from inferdash import quantities
from inferdash.facts import library
from inferdash.formula import Number, section, unrecorded
from inferdash.physics.deployment import Deployment
from inferdash.physics.fitted.confidence import FIRSTS, slower
from inferdash.physics.fitted.expected import expected_pass
from inferdash.physics.parallelism import Fabric, Layout
from inferdash.physics.passes import one_pass
from inferdash.physics.under_load import disaggregation, steady_state
from inferdash.scenario import BASE, Scenario
from inferdash.scenario.disaggregating import SAME
from inferdash.scenario.speculating import NONE, SPECULATED
from inferdash.serving.planned import planner
from inferdash.serving.planned.candidates import Candidate, Readers
from inferdash.serving.planned.commands import SLACK, Command, commands
from inferdash.serving.planned.confirming import Known
from inferdash.serving.planned.curves import Curves, curves_of
from inferdash.serving.planned.offers import NODE, Demand, Offer, Room, started_for
from inferdash.serving.planned.placed import deployment_of
from inferdash.serving.planned.planner import Plan
from inferdash.serving.simulated.requests import Floats
from inferdash.studies.kept import Kept
from inferdash.studies.run.workers import only

__all__ = ["SLACK", "changes", "confidence", "demand", "obstacle", "offer", "planned", "server_s", "starts", "worked"]


def obstacle(scenario: Scenario) -> str:
    """Why nothing is planned, in words; nothing where something is."""
    if scenario.answer < 2:  # noqa: PLR2004 - between two tokens lies the latency
        return "A plan needs answers of at least two tokens, or there is no inter-token latency."
    context = scenario.architecture.context
    tokens = scenario.prompt + scenario.answer
    if context is not None and tokens > context:
        return f"A prompt and its answer are {tokens:,} tokens; {scenario.architecture.name} supports {context:,}."
    if _first_target(scenario) <= 0:
        server = quantities.shown(server_s(scenario), "s")
        return f"The server alone adds {server} to the time to first token, more than its target."
    if not scenario.considered or not scenario.tried:
        return "Choose the accelerators and weight precisions to consider."
    return ""


def _first_target(scenario: Scenario) -> float:
    return scenario.target_first - server_s(scenario)


def confidence(scenario: Scenario) -> str:
    """With which a plan holds its targets: nothing is uncertain about a limit."""
    return scenario.confidence if scenario.speed == "expected" else "even"


def server_s(scenario: Scenario) -> float:
    """Seconds that the server adds to each first token, with the confidence that is asked for."""
    if scenario.speed != "expected":
        return 0.0
    engine = library.engines()[scenario.engine]
    families = {library.accelerators()[key].family for key in scenario.considered}
    times = max((engine.reach[family].bands.first_token[1] for family in families), default=1.0)
    return float((engine.server + engine.server_token * scenario.prompt) * times ** FIRSTS[scenario.confidence])


_MOST_REPLICAS: Final = 1024
_LEAST_LOAD: Final = 0.01
_AS_PLANNED: Final = (
    *("memory", "bandwidth", "peak", "engine_share", "activations", "overhead", "weight_memory"),
    *("cache_room", "cache_room_of"),
    *("pattern", "length_spread", "schedule", "page", "preemption", "prefixes", "measured"),
)
"""Fields for which a plan has the baseline's values: the datasheet's figures, texts of one length, prompts first."""


_READ: Final = frozenset(
    {
        *("model", "config", "layers", "hidden", "heads", "kv_heads", "head_dim", "feed_forward", "vocabulary", "tied"),
        *(
            "kv",
            "engine",
            "engine_version",
            "prompt",
            "answer",
            "load",
            "load_as",
            "active_users",
            "think",
            "found_share",
            "speed",
        ),
        *SPECULATED,
        *("disaggregated", "decode_prefixes", "fabric", "fabric_bandwidth", "fabric_latency"),
        *("target_first", "target_between", "confidence", "considered", "formats", "own_rents", "most_gpus", "seed"),
    }
)
"""Fields that a plan depends on: not the accelerators of the scenario, so that it stays when they are chosen by it."""


_SHAPE: Final = _READ - {"load", "load_as", "active_users", "think", "target_first", "target_between", "seed"}
"""Those of them that the curves of set-ups depend on."""
_TARGETED: Final = _SHAPE | {"target_first", "target_between"}
"""Those that what the curves carry within the targets depends on."""
_KEPT: Final = 160
"""Accelerators times formats whose curves are kept, over all scenarios, half a megabyte each."""
_KEPT_OF_ONE: Final = 40
"""The same of one scenario."""
_GROUPS: Final = 4
"""Groups of accelerators that a scenario keeps for the simulator, the last ones."""
_SHORT: Final = 8192
"""Tokens of texts for which they are kept: a megabyte each at most."""


def planned(scenario: Scenario) -> Plan | None:
    """The plan of a scenario; None where there is an obstacle."""
    return _planned(only(scenario.model_copy(update={"formats": scenario.tried}), _READ))


@lru_cache(maxsize=16)
def _planned(scenario: Scenario) -> Plan | None:
    if obstacle(scenario):
        return None
    with unrecorded():
        asked, given = demand(scenario), offer(scenario)
        if _scored(scenario) > _KEPT_OF_ONE:
            return planner.plan(asked, given, seed=scenario.seed)
        kept, within = _within(only(scenario, _TARGETED))
        groups = dict(kept.groups)
        found = planner.plan(
            asked, given, blocks=kept.blocks, within=lambda one, _: within[one], known=groups, seed=scenario.seed
        )
        if asked.tokens <= _SHORT:
            kept.groups = dict([*groups.items()][-_GROUPS:])
        return found


def _scored(scenario: Scenario) -> int:
    """Accelerators times formats, with and without proposals, together and apart."""
    ways = (2 if scenario.proposals else 1) * (2 if scenario.disaggregated else 1)
    return len(scenario.considered) * len(scenario.formats) * ways


@dataclass(eq=False)
class _Curved:
    """What the set-ups of a scenario carry, and what the simulator needs of those that it played last."""

    blocks: tuple[Curves, ...]
    groups: Known = field(default_factory=dict)


def _curved(scenario: Scenario) -> _Curved:
    return _Curved(tuple(curves_of(demand(scenario), offer(scenario))))


_curves: Final = Kept(_curved, _scored, most=_KEPT)
"""By scenario: a reader turns load and targets more than what is chosen from, and compares a few answers."""


def _carried(scenario: Scenario) -> tuple[_Curved, dict[Curves, Floats]]:
    asked, curved = demand(scenario), _curves(only(scenario, _SHAPE))
    return curved, {one: one.within(asked) for one in curved.blocks}


_within: Final = Kept(_carried, _scored, most=_KEPT)
"""The same curves by scenario, with what each carries within the targets: of these curves, not of later ones."""


def demand(scenario: Scenario) -> Demand:
    """What is asked for."""
    return Demand(
        requests_per_s=scenario.demand_per_s,
        prompt=scenario.prompt,
        answer=scenario.answer,
        found_share=scenario.found_share,
        time_to_first_token_s=_first_target(scenario),
        inter_token_latency_s=scenario.target_between,
        confidence=confidence(scenario),
    )


def offer(scenario: Scenario) -> Offer:
    """What it may be built from: each accelerator at the reader's rent, or the middle of what is quoted."""
    chips = {key: library.accelerators()[key] for key in scenario.considered}
    quoted = {key: chip.rent.middle for key, chip in chips.items() if chip.rent}
    return Offer(
        model=scenario.architecture,
        accelerators=chips,
        rents={key: price for key, price in (quoted | scenario.rents).items() if key in chips},
        weights=scenario.tried,
        caches=(scenario.kv,),
        engine=library.engines()[scenario.engine] if scenario.speed == "expected" else None,
        room=Room(rule=library.memory_of(scenario.engine), version=scenario.engine_version),
        most_gpus=scenario.most_gpus,
        proposals=scenario.proposals,
        fabric=_fabric(scenario),
        apart=scenario.disaggregated,
        decode_prefixes=scenario.decode_prefixes,
    )


def _fabric(scenario: Scenario) -> Fabric | None:
    """The links between machines, which are nodes of eight for a plan where they are no racks."""
    found = scenario.between
    return found if found is None or scenario.fabric == "rack" else replace(found, node=NODE)


FREE_LINK: Final = "machines are linked as fast as GPUs within one"
"""What a set-up that spans machines rests on while nothing is said of the link."""


def spans(scenario: Scenario, one: Candidate) -> bool:
    """Whether a replica of a set-up spans machines, and the link between them costs it no time."""
    chips = [(one.accelerator, one.layout)]
    if one.readers:
        chips.append((one.readers.accelerator, one.readers.layout))
    wide = any(layout.gpus > max(NODE, library.accelerators()[key].linked) for key, layout in chips)
    return scenario.fabric == "same" and wide


def is_used(scenario: Scenario, changed: dict[str, Any]) -> bool:
    """Whether the plan is the scenario already."""
    return all(getattr(scenario, name) == value for name, value in changed.items())


def changes(scenario: Scenario) -> dict[str, Any]:
    """The fields that make the plan the scenario; none without one."""
    found = planned(scenario)
    if found is None or found.best is None:
        return {}
    one, layout, readers = found.best, found.best.layout, found.best.readers
    if max(one.replicas, 4 * readers.workers if readers else 0) > _MOST_REPLICAS or scenario.demand_per_s < _LEAST_LOAD:
        return {}
    kind = _kind(layout)
    return {name: getattr(BASE, name) for name in _AS_PLANNED} | {
        "accelerator": one.accelerator,
        "weights": one.weights,
        "gpus": one.gpus,
        "layout": kind,
        "tensor_parallel": layout.tensor if kind == "mixed" else 1,
        "pipeline_parallel": layout.pipeline if kind == "mixed" else 1,
        "expert_parallel": kind == "mixed" and layout.expert > 1,
        "memory_of": "engine",
        "max_num_seqs": started_for(one.places),
        "max_num_batched_tokens": offer(scenario).pass_tokens,
        "replicas": one.replicas,
        "rule": "turns",
        "places": one.places,
        "pass_tokens": offer(scenario).pass_tokens,
        "rent": (one.usd_per_hour - (readers.usd_per_hour if readers else 0)) / (one.replicas * one.gpus),
        "batch": max(1, round(one.batch)),
        "speculation": scenario.speculation if one.proposals else NONE,
        **_read_by(readers),
    }


def _kind(layout: Layout) -> str:
    """The id of a layout in links."""
    alone = [name for name in ("tensor", "pipeline", "data") if getattr(layout, name) > 1]
    return "even" if not alone else "expert" if alone == ["data"] else alone[0] if len(alone) == 1 else "mixed"


def _read_by(readers: Readers | None) -> dict[str, Any]:
    """The fields of prefill workers: off where there are none."""
    if readers is None:
        return {"disaggregated": False}
    return {
        "disaggregated": True,
        "prefill_workers": readers.workers,
        "prefill_accelerator": readers.accelerator,
        "prefill_gpus": readers.layout.gpus,
        "prefill_layout": _kind(readers.layout) if readers.layout.gpus > 1 else SAME,
        "prefill_weights": readers.weights,
        "prefill_rent": readers.usd_per_hour / readers.total_gpus,
        "transfer": BASE.transfer,
    }


def starts(scenario: Scenario) -> tuple[Command, ...]:
    """What starts a replica of the plan, by engine; nothing without a plan."""
    found = planned(scenario)
    return commands(found.best, demand(scenario), offer(scenario)) if found and found.best else ()


def worked(scenario: Scenario) -> None:
    """Goes once through the formulas of the plan's replica at its mean batch, so that they can be shown."""
    found = planned(scenario)
    if found is None or found.best is None:
        return
    best, asked, given = found.best, demand(scenario), offer(scenario)
    machine = deployment_of(
        given,
        (best.accelerator,),
        weights=best.weights,
        cache=best.cache,
        layout=best.layout,
        context=asked.tokens,
        places=best.places,
    )
    readers = machine
    if best.readers:
        readers = deployment_of(
            given,
            (best.readers.accelerator,),
            weights=best.readers.weights,
            cache=best.cache,
            layout=best.readers.layout,
            context=asked.tokens,
            places=best.readers.places,
        )
    past = asked.prompt + asked.answer / 2
    with section("A prefill"):
        reading_s = _pass_s(readers, given, requests=1, positions=asked.prompt - asked.found, past=asked.found)
    with section("A decode pass at the mean batch"):
        writing_s = _pass_s(machine, given, requests=best.batch * best.layout.data, positions=1, past=past)
    if best.readers:
        with section("Prefill and decode workers"):
            both = {"prefill_s": reading_s, "batch": best.batch, "passes": asked.answer - 1, "pass_s": writing_s}
            disaggregation.prefill_workers_per_decode_worker(**both)
            disaggregation.carried_apart_per_s(
                prefill_workers=best.readers.workers * best.readers.layout.data, decode_workers=best.groups, **both
            )
        return
    with section("A replica"):
        carried = steady_state.carried_per_s(
            batch=best.batch, prefill_s=reading_s, passes=asked.answer - 1, pass_s=writing_s
        )
        steady_state.interrupted_pass_s(pass_s=writing_s, carried_per_s=carried, prefill_s=reading_s)
        steady_state.fewest_replicas(
            requests_per_s=asked.requests_per_s, carried_per_s=best.carries_per_s / best.replicas
        )
    if given.engine is not None and asked.confidence != "even":
        with section("How much slower than expected it may be"):
            together = best.batch * best.layout.data
            one = one_pass(machine, requests=together, positions=1, past=past, output_positions=1)
            whole = expected_pass(machine, given.engine, one, requests=together, positions=1)
            bands = given.engine.reach[machine.accelerator.family].bands
            if whole:
                slower(bands, asked.confidence, limit_s=whole.limit_s, expected_s=whole.pass_s)


def _pass_s(machine: Deployment, given: Offer, *, requests: float, positions: int, past: float) -> Number:
    one = one_pass(machine, requests=requests, positions=positions, past=past, output_positions=1)
    if given.engine is None:
        return one.pass_s or 0.0
    whole = expected_pass(machine, given.engine, one, requests=requests, positions=positions)
    return whole.pass_s if whole else 0.0
