"""Caches in host memory: measured gains and losses beside those of the simulator.

    python -m bench.kv_tiers

The rows of bench/measured/kv_tiers.csv are those whose model, accelerators, rooms and load are stated. Left out are
rows without an accelerator (nine of SGLang), without the speed of a storage (four with Lustre), without lengths (the
other ratios of vLLM's note), and two whose blocks were found on the GPU or not at all. Nothing here was fitted to them.
Groups of prompts with the same prefix go to the same replica, as their router does; answers of vLLM's note are taken
to have one token.
"""

import csv
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.capacity.tiers import HOST_REACHED, LATENCY_S
from inferdash.physics.deployment import deploy
from inferdash.physics.parallelism import usual
from inferdash.serving.simulated.pass_times import PassTimes, pass_times
from inferdash.serving.simulated.requests import Requests, Texts, Turns, requests
from inferdash.serving.simulated.scheduling import Routing, Scheduling, Tiers
from inferdash.serving.simulated.simulator import simulate

TABLE = Path(__file__).parent / "measured" / "kv_tiers.csv"
PCIE = 63e9
PASS_TOKENS = 8192
_EVEN = 0.1
"""Changes below this are neither a gain nor a loss: from 0.12 to 0.13 s is one that its source calls none."""
_SET_UP = (
    "model",
    "accelerator",
    "replicas",
    "gpus",
    "prefix",
    "question",
    "answer",
    "groups",
    "lanes",
    "each",
    "warm",
)
_ROOMS = ("gpu_pages", "host_pages", "page")


def _asked(row: dict[str, int]) -> Requests:
    """As many requests at a time as there are lanes, each with the prefix of a group of its replica."""
    rng, replicas, page = np.random.default_rng(0), row["replicas"], row["page"]
    lanes, each = row["lanes"], row["each"]
    prefix, question = row["prefix"] // page, row["question"] // page
    names: list[list[int]] = []
    before: list[list[int]] = []
    own = row["groups"] * prefix
    for lane in range(lanes):
        mine = np.arange(lane % replicas, row["groups"], replicas)
        for turn in range(each):
            group = int(rng.choice(mine))
            if row["warm"]:  # all are stored by one request, then found by another
                group = lane + lanes * (turn % (each // 2))
            names.append([*range(group * prefix, (group + 1) * prefix), *range(own, own + question)])
            own += question
            before.append([len(before) - 1] if turn else [])
    count = len(before)
    return requests(
        np.zeros(count),
        prompt=row["prefix"] + row["question"],
        answer=row["answer"],
        texts=Texts.of(names, block=page),
        turns=Turns.of(before, pause_s=0.0),
    )


@cache
def _times(model: str, accelerator: str, gpus: int, tokens: int) -> tuple[PassTimes, float]:
    """The times of passes, and the bytes of a token."""
    architecture, chip = library.models()[model], library.accelerators()[accelerator]
    machine = deploy(
        architecture,
        chip,
        gpus=gpus,
        weights=PRECISIONS["bf16"],
        cache=PRECISIONS["bf16"],
        layout=usual(architecture, gpus=gpus, linked=chip.linked),
    )
    times = pass_times(machine, library.engines()["vllm"], places=256, tokens=tokens, pass_tokens=PASS_TOKENS)
    assert times is not None
    return times, float(request_cache_bytes(architecture, tokens=1, bytes_per_number=2))


@cache
def _served(set_up: tuple[tuple[str, Any], ...]) -> dict[str, tuple[float, float]]:
    """What is measured, without host memory and with it."""
    row: dict[str, Any] = dict(set_up)
    times, token_bytes = _times(
        row["model"], row["accelerator"], row["gpus"], row["prefix"] + row["question"] + row["answer"]
    )
    who = _asked(row)
    how = Scheduling(places=256, page=row["page"], pages=row["gpu_pages"], pass_tokens=PASS_TOKENS, chunked=True)
    tiers = Tiers(
        host_pages=row["host_pages"],
        host_token_s=token_bytes / (row["gpus"] * PCIE * HOST_REACHED),
        latency_s=LATENCY_S,
    )
    found: dict[str, tuple[float, ...]] = {"mean TTFT": (), "p90 TTFT": (), "throughput": ()}
    for one in (how, replace(how, tiers=tiers)):
        served = simulate(who, times, one, Routing(replicas=row["replicas"]))
        first_s = served.first_token_s - served.arrival_s
        ends = np.sort(served.finish_s)[row["warm"] :]  # those before it stored what the others find
        per_s = len(ends) / (ends[-1] - (ends[0] if row["warm"] else 0))
        found["mean TTFT"] += (float(first_s.mean()),)
        found["p90 TTFT"] += (float(np.quantile(first_s, 0.9)),)
        found["throughput"] += (float(per_s) * (row["prefix"] + row["question"] + row["answer"]),)
    return {name: (values[0], values[1]) for name, values in found.items()}


def kv_tiers() -> Iterator[str]:
    """A line for all rows, and one for each of them."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines, off, alike = [], [], 0
    for row in rows:
        numbers = {name: int(row[name]) for name in (*_SET_UP[2:], *_ROOMS)}
        set_up = ({"model": row["model"], "accelerator": row["accelerator"]} | numbers).items()
        without, with_it = _served(tuple(set_up))[row["what"]]
        expected, measured = with_it / without, float(row["with"]) / float(row["without"])
        better = row["what"] == "throughput"
        same = (expected > 1) == (measured > 1) if abs(expected - 1) > _EVEN else abs(measured - 1) <= _EVEN
        alike += same
        off.append(abs(expected / measured - 1))
        sign = 1 if better else -1
        lines.append(
            f"  {row['model']:13} {row['replicas']}x{row['gpus']} {row['what']:10} prefix {row['prefix']:>6}: measured "
            f"{row['without']} -> {row['with']} {row['unit']} ({measured**sign:.2f} times), expected "
            f"{without:.3g} -> {with_it:.3g} ({expected**sign:.2f} times)" + ("" if same else "  the other way")
        )
    yield (
        f"caches in host memory, {len(rows)} measured gains: off by {np.median(off):.0%} at the median, "
        f"{np.quantile(off, 0.9):.0%} at the 90th; gain or loss right in {alike} ({alike / len(rows):.0%})"
    )
    yield from lines


def main() -> None:
    """Prints both."""
    for line in kv_tiers():
        print(line)


if __name__ == "__main__":
    main()
