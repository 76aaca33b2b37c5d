"""Prefill and decode apart: measured load tests beside what two stages of workers are expected to do.

    python -m bench.disaggregation [rows]

The rows of presets/measured/served.csv whose layout says how many workers there are of each kind; none was used to fit
anything, and none says whether tokens were proposed. A client keeps requests in flight, ten for each place, so a test
is played: prompts wait for a prefill worker, their caches are moved, and all that decode share the passes of their
worker. Gain or loss is held against results of the same model, accelerator, engine, format and lengths on one kind of
workers: the output of a GPU at the same time between tokens or less, both as measured and as expected.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from typing import Final

import numpy as np

from inferdash.facts.library import engines
from inferdash.facts.machines.engine import Engine
from inferdash.facts.measured import rows_of
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.deployment import Deployment, deploy
from inferdash.physics.fitted.expected import expected
from inferdash.physics.fitted.published import tables
from inferdash.physics.parallelism import Fabric
from inferdash.physics.under_load import disaggregation as physics
from inferdash.physics.under_load.closed_loop import WAVES, Load, expected_of_load, lengths
from inferdash.physics.under_load.served import served, shared_layout

_LAYOUT: Final = re.compile(
    r"prefill (\d+) x \(tensor (\d+), data (\d+), experts (\d+)\); "
    r"decode (\d+) x \(tensor (\d+), data (\d+), experts (\d+)\)"
)
_PORTS: Final = {"GB200": Fabric(node=72, bandwidth=100e9), "GB300": Fabric(node=72, bandwidth=100e9)}
_PORT: Final = Fabric(node=8, bandwidth=50e9)
"""Of a GPU in a machine of eight, 400 Gbit/s."""
_KNOTS: Final = 24
"""Batches at which the time of a pass is worked out."""


@dataclass(frozen=True)
class Workers:
    """Workers that are alike."""

    many: int
    machine: Deployment

    @property
    def gpus(self) -> int:
        """Of all."""
        return self.many * self.machine.gpus

    @property
    def groups(self) -> int:
        """That serve requests of their own."""
        return self.many * self.machine.layout.data


@dataclass(frozen=True)
class Test:
    """A measured row."""

    row: dict[str, str]
    engine: Engine
    prefill: Workers
    decode: Workers
    load: Load

    @property
    def gpus(self) -> int:
        """Of both."""
        return self.prefill.gpus + self.decode.gpus

    @property
    def setting(self) -> tuple[str, ...]:
        """What results on one kind of workers have alike."""
        return tuple(self.row[name] for name in ("model", "accelerator", "engine", "weights", "prompt", "answer"))


@dataclass(frozen=True)
class Found:
    """What a test finds, measured or expected."""

    first_token_s: float
    output_token_s: float
    per_gpu_s: float
    """Output tokens a second of a GPU."""


def tests() -> list[Test]:
    """Every row that states its workers and how many requests were in flight."""
    shapes, chips, _ = tables()
    by_name = {engine.name: engine for engine in engines().values()}
    found = []
    for row in rows_of("served"):
        stated = _LAYOUT.fullmatch(row["layout"])
        if not stated or row["engine"] not in by_name or not int(row["concurrency"]):
            continue
        numbers = [int(one) for one in stated.groups()]
        kinds = []
        for many, tensor, data, expert in (numbers[:4], numbers[4:]):
            machine = deploy(
                shapes[row["model"]],
                chips[row["accelerator"]][0],
                gpus=tensor * data,
                layout=shared_layout(tensor=tensor, pipeline=1, data=data, expert=expert),
                weights=PRECISIONS[row["weights"]],
                cache=PRECISIONS[row["kv"]],
            )
            kinds.append(Workers(many, machine))
        load = Load(
            in_flight=int(row["concurrency"]),
            prompt=int(row["prompt"]),
            answer=int(row["answer"]),
            spread=float(row["spread"]),
        )
        found.append(Test(row, by_name[row["engine"]], kinds[0], kinds[1], load))
    return found


def measured(row: dict[str, str], gpus: int) -> Found:
    """The figures of a row; the output of a GPU follows from the requests in flight and their times."""
    first_s, token_s = float(row["ttft_mean_s"]), float(row["tpot_s"])
    answer = int(row["answer"]) * (1 - float(row["spread"]) / 2)
    per_s = int(row["concurrency"]) * answer / (first_s + (answer - 1) * token_s)
    return Found(first_s, token_s, per_s / gpus)


def played(test: Test) -> Found | None:
    """The test request by request; None where no peak of the accelerator is known."""
    engine, load, groups = test.engine, test.load, test.decode.groups
    prompts, answers = lengths(load, WAVES * load.in_flight)
    read_s = _reading_s(test)
    write_s = _writing_s(test)
    if read_s is None or write_s is None:
        return None
    moved_s = _transfer_s(test)
    server_s = engine.server + engine.server_token * load.prompt
    free_s = [0.0] * test.prefill.groups
    first, between, done = [], [], 0
    now_s = clock = 0.0
    """Seconds, and passes that each decode worker has run."""
    coming: list[tuple[float, int, float]] = []
    """Requests whose cache is under way: when it is there, which, and when the request was sent."""
    writing: list[tuple[float, int, float]] = []
    """Those that write: at which pass they end, which, and when they began."""
    sent = 0

    def send(at_s: float) -> None:
        nonlocal sent
        if sent == len(prompts):
            return
        place = min(range(len(free_s)), key=free_s.__getitem__)
        begin_s = max(at_s, free_s[place])
        free_s[place] = begin_s + read_s * prompts[sent] / load.prompt
        first.append(free_s[place] - at_s + server_s)
        heappush(coming, (free_s[place] + moved_s, sent, at_s))
        sent += 1

    for _ in range(load.in_flight):
        send(0.0)
    while done < len(prompts):
        batch = max(1, -(-len(writing) // groups))
        pass_s = float(write_s[min(batch, len(write_s) - 1)])
        ends_s = now_s + (writing[0][0] - clock) * pass_s if writing else np.inf
        comes_s = coming[0][0] if coming else np.inf
        if comes_s <= ends_s:
            clock += (comes_s - now_s) / pass_s if writing else 0.0
            now_s = comes_s
            _, one, _ = heappop(coming)
            heappush(writing, (clock + answers[one] - 1, one, now_s))
        else:
            now_s, clock = ends_s, writing[0][0]
            _, one, began_s = heappop(writing)
            between.append((now_s - began_s + moved_s) / (answers[one] - 1))
            done += 1
            send(now_s)
    written = sum(answers) / now_s
    return Found(float(np.mean(first)), float(np.mean(between)), written / test.gpus)


def _reading_s(test: Test) -> float | None:
    """Seconds in which a group reads a prompt of the longest length, in a pass with those of the other groups."""
    machine, prompt = test.prefill.machine, test.load.prompt
    chunks = -(-prompt // test.engine.chunk)
    one = expected(
        machine,
        test.engine,
        requests=machine.layout.data,
        positions=prompt / chunks,
        past=(chunks - 1) / 2 * prompt / chunks,
    )
    return None if one is None else chunks * float(one.pass_s)


def _writing_s(test: Test) -> np.ndarray | None:
    """Seconds of a pass of a decode worker, by the requests of each of its groups."""
    machine, load = test.decode.machine, test.load
    most = -(-load.in_flight // test.decode.groups) + 1
    batches = np.unique(np.round(np.geomspace(1, most, _KNOTS)))
    past = (1 - load.spread / 2) * (load.prompt + load.answer / 2)
    found = expected(machine, test.engine, requests=machine.layout.data * batches, positions=1, past=past)
    return None if found is None else np.interp(np.arange(most + 1), batches, np.asarray(found.pass_s))


def _transfer_s(test: Test) -> float:
    reads, writes = test.prefill.machine, test.decode.machine
    fabric = _PORTS.get(test.row["accelerator"], _PORT)
    link = physics.transfer_link(reads.accelerator, writes.accelerator, fabric, gpus=test.gpus)
    if link is None:
        return 0.0
    sent, received = (float(physics.part_bytes(one, tokens=test.load.prompt)) for one in (reads, writes))
    moved = physics.transfer_s(sent_bytes=sent, received_bytes=received, link_bandwidth=link.bandwidth)
    return float(moved) + link.latency_s


@cache
def together() -> dict[tuple[str, ...], list[tuple[Found, Found]]]:
    """Results on one kind of workers, measured and expected, by setting."""
    by_name = {engine.name: engine for engine in engines().values()}
    found = defaultdict(list)
    settings = {test.setting for test in tests()}
    for row in rows_of("served"):
        setting = tuple(row[name] for name in ("model", "accelerator", "engine", "weights", "prompt", "answer"))
        if row["layout"].startswith("prefill") or not row["gpus"] or setting not in settings:
            continue
        one = served(row)
        if not one.used:
            continue
        said = expected_of_load(one.machine, by_name[row["engine"]], one.load, one.told)
        if said:
            per_gpu_s = said.output_tokens_per_s / one.machine.gpus
            found[setting].append(
                (measured(row, one.machine.gpus), Found(said.first_token_s, said.output_token_s, per_gpu_s))
            )
    return dict(found)


def gain(found: Found, others: Sequence[Found]) -> float | None:
    """Output of a GPU over that of others as fast between tokens, between the best of them; None where none is."""
    best: list[Found] = []
    for one in sorted(others, key=lambda one: one.output_token_s):
        if not best or one.per_gpu_s > best[-1].per_gpu_s:
            best.append(one)
    if not best or found.output_token_s < best[0].output_token_s:
        return None
    seconds, per_gpu = np.log([(one.output_token_s, one.per_gpu_s) for one in best]).T
    return float(found.per_gpu_s / np.exp(np.interp(np.log(found.output_token_s), seconds, per_gpu)))


def disaggregation(*, rows: bool = False) -> Iterator[str]:
    """A line for each quantity, one for gain or loss, and where asked one for each row."""
    pairs = [(test, measured(test.row, test.gpus), played(test)) for test in tests()]
    both = [(test, one, said) for test, one, said in pairs if said]
    for name in ("output_token_s", "first_token_s", "per_gpu_s"):
        ratios = np.array([getattr(said, name) / getattr(one, name) for _, one, said in both])
        off = np.abs(ratios - 1)
        yield (
            f"prefill and decode apart, {len(both)} rows, {name.replace('_s', '').replace('_', ' '):12}: off by "
            f"{np.median(off):.0%} at the median, {np.quantile(off, 0.9):.0%} at the 90th; "
            f"expected over measured {np.median(ratios):.2f} at the median"
        )
    compared = []
    for test, one, said in both:
        known = together().get(test.setting, [])
        ours = gain(one, [pair[0] for pair in known])
        theirs = gain(said, [pair[1] for pair in known])
        if ours is not None and theirs is not None:
            compared.append((test, ours, theirs))
    alike = sum((ours >= 1) == (theirs >= 1) for _, ours, theirs in compared)
    share = f" ({alike / len(compared):.0%})" if compared else ""
    yield f"gain or loss against one kind of workers: right in {alike} of {len(compared)} rows with such results{share}"
    if rows:
        gains = {id(test): (ours, theirs) for test, ours, theirs in compared}
        for test, one, said in both:
            ours, theirs = gains.get(id(test), (None, None))
            told = "" if ours is None else f"; gain measured {ours:.2f}, expected {theirs:.2f}"
            yield (
                f"  {test.row['id']}: between tokens {1e3 * one.output_token_s:.1f} ms, expected "
                f"{1e3 * said.output_token_s:.1f}; first token {one.first_token_s:.2f} s, expected "
                f"{said.first_token_s:.2f}{told}"
            )


def main() -> None:
    """Prints all."""
    for line in disaggregation(rows="rows" in sys.argv[1:]):
        print(line)


if __name__ == "__main__":
    main()
