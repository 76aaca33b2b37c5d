"""Section 10.6: experts: what a position works with, what a batch loads, what must stay in memory."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.models.architecture import Architecture
from inferdash.formula import remembered, section
from inferdash.layers.feed_forward import Experts, GatedFeedForward, distinct_experts
from inferdash.physics import experts as physics
from inferdash.physics.capacity import memory
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.passes import decode
from inferdash.scenario import Scenario, numbers_in
from inferdash.studies import ratios
from inferdash.studies.numbers import Headline, Row, Table, number

NAME: Final = "experts"
TITLE: Final = "Experts"
EXAMPLE: Final = "deepseek-v3"
"""The model that the page offers where the chosen one has no experts."""
DISTINCT_NOTE: Final = "The line is the mean for even routing; each square is one random pass with the skew above."
_CURVE_POINTS: Final = 60
_LARGEST_BATCH: Final = 65_536
_DRAWN_POSITIONS: Final = 1024
_DRAWN_AT_ONCE: Final = 2**20
"""Positions times experts of a draw, at most; the models there are have half as many."""


@dataclass(frozen=True)
class ExpertNumbers:
    """Every headline number of the page; those of the model's experts are None where it has none."""

    shares: tuple[float, ...] = number("list", "shares of the chosen experts, in the example")
    chosen_experts: tuple[int, ...] = number("list", "chosen experts, in the example")
    parameters: float = number("parameters", "in memory")
    active_parameters: float = number("parameters", "active per token, without the input embedding")
    operations_per_token: float = number("FLOP", "per output token, without attention")
    stored_bytes: float = number("B", "parameters in memory")
    min_gpus: int = number("GPUs", "that hold the parameters")
    distinct_experts: float | None = number("experts", "of a layer that a decode pass of the batch reads")
    expected_unused: float | None = number("experts", "of a layer that a decode pass of the batch leaves unused")
    positions_per_expert: float | None = number("positions", "of the batch that share one read of an expert")
    dense_cost_batch: int | None = number(
        "requests", "from which on a token takes at most 10% longer than in a dense model of the active size"
    )


@remembered
def study(scenario: Scenario) -> ExpertNumbers:
    """The numbers of the page for a scenario."""
    machine, kind = scenario.deployment, experts_of(scenario.architecture)
    logits = numbers_in(scenario.logits)[:16]
    choice = physics.route(logits, chosen=min(scenario.chosen, len(logits)))
    with section("The model"):
        operations = physics.operations_per_token(active=machine.parameters.active_total)
    distinct = unused = sharing = None
    if kind:
        with section("A pass of the batch"):
            many = {
                "experts": kind.experts,
                "experts_per_token": kind.experts_per_token,
                "positions": scenario.batch,
            }
            distinct, unused = float(distinct_experts(**many)), float(physics.expected_unused(**many))
            sharing = float(physics.positions_per_expert(**many))
    return ExpertNumbers(
        shares=choice.shares,
        chosen_experts=choice.experts,
        parameters=float(machine.parameters.stored_total),
        active_parameters=float(machine.parameters.active_total),
        operations_per_token=float(operations),
        stored_bytes=float(machine.stored_bytes),
        min_gpus=int(
            memory.gpus_that_hold(stored_bytes=machine.stored_bytes, requests=0, cache_bytes=0, memory=machine.memory)
        ),
        distinct_experts=distinct,
        expected_unused=unused,
        positions_per_expert=sharing,
        dense_cost_batch=_dense_cost_batch(scenario, machine) if kind else None,
    )


def experts_of(architecture: Architecture) -> Experts | None:
    """The experts of a model's layers, None where it has none."""
    kinds = (network for blocks in architecture.blocks for network in blocks.networks)
    return next((kind for kind in kinds if isinstance(kind, Experts)), None)


def _dense(machine: Deployment, *, active: bool) -> Deployment:
    """A dense model of the active or of the total size: each layer's experts as one network of that width."""
    blocks = []
    for block in machine.architecture.blocks:
        kind = block.feed_forward
        if isinstance(kind, Experts):
            routed = kind.experts_per_token if active else kind.experts
            kind = GatedFeedForward(width=routed * kind.width + kind.shared_width)
        blocks.append(block.model_copy(update={"feed_forward": kind}))
    return deploy(
        machine.architecture.model_copy(update={"blocks": tuple(blocks)}),
        machine.accelerator,
        gpus=machine.gpus,
        weights=machine.weights,
        cache=machine.cache,
    )


def _token_s(machine: Deployment, batches: Any, past: int) -> Any:
    one = decode(machine, requests=batches, past=past)
    return np.asarray(one.load_s if one.pass_s is None else one.pass_s) / batches


def _dense_cost_batch(scenario: Scenario, machine: Deployment) -> int | None:
    batches = np.unique(np.geomspace(1, _LARGEST_BATCH, 400).round())
    mixture = _token_s(machine, batches, scenario.prompt)
    dense = _token_s(_dense(machine, active=True), batches, scenario.prompt)
    near = np.flatnonzero((mixture <= 1.1 * dense) & (batches > 1))
    return int(batches[near[0]]) if near.size else None


def pictured(scenario: Scenario) -> Scenario:
    """The scenario, with the example's model where its own has no experts to draw."""
    return scenario if experts_of(scenario.architecture) else scenario.model_copy(update={"model": EXAMPLE})


def _example_name() -> str:
    return library.models()[EXAMPLE].name


def offer() -> str:
    """What the button says that shows the example."""
    return f"Show {_example_name()}"


def sentence(scenario: Scenario, result: ExpertNumbers) -> str:
    """The result in words."""
    name = scenario.architecture.name
    size = quantities.shown(result.parameters, "parameters").number
    kind = experts_of(scenario.architecture)
    if kind is None or result.distinct_experts is None:
        return (
            f"{name} is dense: every token uses all weights. In a mixture of experts, such as {_example_name()}, it "
            "uses a part of them."
        )
    active = quantities.shown(result.active_parameters, "parameters").number
    distinct = quantities.digits(result.distinct_experts)
    return (
        f"{name} has {size} parameters, {active} active per token; at batch {scenario.batch:,} a pass reads "
        f"{distinct} of {kind.experts} experts per layer."
    )


def headline_numbers(_: Scenario, result: ExpertNumbers) -> list[Headline]:
    """The four numbers on top."""
    return [
        Headline("Parameters", result.parameters, "parameters", ratio=ratios.PARAMETERS),
        Headline(
            "Active per token, without the input embedding",
            result.active_parameters,
            "parameters",
            ratio=ratios.ACTIVE,
        ),
        Headline(
            "Operations per token, without attention",
            result.operations_per_token,
            "FLOP",
            ratio=ratios.many("a token takes {} operations", "less"),
        ),
        Headline("Fewest GPUs for the parameters", result.min_gpus, "GPUs", ratio=ratios.GPUS),
    ]


def distinct_rows(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Experts of a layer that a pass reads, along the batch: exact for even routing, and as one seeded draw.

    Returns rows under "exact", "drawn" and "own"; nothing for a model without experts.
    """
    kind = experts_of(scenario.architecture)
    if kind is None:
        return {}
    batches = np.unique(np.geomspace(1, max(4096, scenario.batch), _CURVE_POINTS).round())

    def exact(positions: Any) -> Any:
        return distinct_experts(experts=kind.experts, experts_per_token=kind.experts_per_token, positions=positions)

    drawn = [
        {"batch": int(batch), "experts": _drawn_experts(kind, int(batch), scenario.skew), "meaning": "compute"}
        for batch in batches
        if batch <= min(_DRAWN_POSITIONS, _DRAWN_AT_ONCE / kind.experts)
    ]
    return {
        "exact": [
            {"batch": int(batch), "experts": value, "meaning": "memory"}
            for batch, value in zip(batches, np.asarray(exact(batches)).tolist(), strict=True)
        ],
        "drawn": drawn,
        "own": [
            {
                "batch": scenario.batch,
                "experts": float(exact(scenario.batch)),
                "meaning": "memory",
                "label": f"{quantities.digits(float(exact(scenario.batch)))} of {kind.experts}",
            }
        ],
    }


@lru_cache(maxsize=1024)
def _drawn_experts(kind: Experts, positions: int, skew: float) -> int:
    """Experts that one seeded pass over `positions` positions reads."""
    drawn = physics.drawn_positions(
        kind.experts, experts_per_token=kind.experts_per_token, positions=positions, skew=skew, seed=0
    )
    return int(np.count_nonzero(drawn))


def cost_rows(scenario: Scenario) -> dict[str, list[dict[str, Any]]]:
    """Accelerator time of a written token along the batch, at the limit.

    Of this model, and of dense ones of its active and total size.
    """
    machine = scenario.deployment
    if experts_of(scenario.architecture) is None:
        return {}
    batches = np.unique(np.geomspace(1, max(4096, scenario.batch), _CURVE_POINTS).round())
    models = (
        (machine.architecture.name, "memory", machine),
        ("dense model of active size", "compute", _dense(machine, active=True)),
        ("dense model of total size", "waiting", _dense(machine, active=False)),
    )
    lines = [
        {"batch": int(batch), "token_s": seconds, "model": label, "meaning": limit, "label": label}
        for label, limit, one in models
        for batch, seconds in zip(batches, _token_s(one, batches, scenario.prompt).tolist(), strict=True)
    ]
    last = int(batches[-1])
    mixture, active, total = (np.log([line["token_s"] for line in lines if line["meaning"] == m]) for _, m, _ in models)
    alone = int(batches[np.minimum(np.abs(mixture - active), np.abs(total - mixture)).argmax()])
    return {
        "lines": lines,
        "starts": [line for line in lines if (line["batch"], line["meaning"]) in {(1, "waiting"), (alone, "memory")}],
        "ends": [line for line in lines if line["batch"] == last and line["meaning"] == "compute"],
    }


def cost_sentence(scenario: Scenario, result: ExpertNumbers) -> str:
    """From which batch on the experts cost as little as a dense model of the active size."""
    name = scenario.architecture.name
    if result.dense_cost_batch is None:
        return (
            f"At every batch up to {_LARGEST_BATCH:,}, a token of {name} takes over 10% longer than in a dense model "
            "of the same active size."
        )
    return (
        f"From a batch of {result.dense_cost_batch:,} on, a token of {name} takes at most 10% longer than in a dense "
        "model of the same active size. In smaller batches too few tokens share each expert that is read."
    )


def router_sentence(result: ExpertNumbers) -> str:
    """What the router of the example chooses."""
    chosen = " and ".join(
        f"{share:.2f} of expert {expert}" for expert, share in zip(result.chosen_experts, result.shares, strict=True)
    )
    return f"The output is {chosen}; the other experts are skipped for this token."


def router_table(scenario: Scenario, result: ExpertNumbers) -> Table:
    """Each expert of the example: its logit, whether it is chosen, its share."""
    shares = dict(zip(result.chosen_experts, result.shares, strict=True))
    return Table(
        ("logit", "chosen", "share"),
        tuple(
            Row(
                f"expert {place}",
                "word",
                (
                    quantities.general(logit, 6),
                    "yes" if place in shares else "no",
                    f"{shares[place]:.3f}" if place in shares else "0, skipped",
                ),
            )
            for place, logit in enumerate(numbers_in(scenario.logits)[:16], start=1)
        ),
        head="Router",
    )


def parts_table(scenario: Scenario, result: ExpertNumbers) -> Table:
    """The model by part: in memory, and used for a token."""
    counts = scenario.deployment.parameters
    return Table(
        ("in memory", "active per token"),
        (
            Row("Routed experts", "parameters", (float(counts.stored.experts), float(counts.active.experts))),
            Row("Other matrices", "parameters", (float(counts.stored.matrices), float(counts.active.matrices))),
            Row(
                "Norms, routers, biases",
                "parameters",
                (float(counts.stored.small + counts.stored.router), float(counts.active.small + counts.active.router)),
            ),
            Row("Output layer", "parameters", (float(counts.output_layer), float(counts.output_layer))),
            Row(
                "Input embedding and other lookup tables",
                "parameters",
                (float(counts.input_embedding_apart + counts.token_tables), 0.0),
            ),
            Row("In all", "parameters", (result.parameters, result.active_parameters)),
        ),
        head="Parameters",
    )
