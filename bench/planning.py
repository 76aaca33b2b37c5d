"""The planner: configurations scored over numpy by hand, and its closed forms over the simulator on a grid."""

import statistics
import timeit
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from inferdash.facts import library
from inferdash.serving.planned.candidates import Setup
from inferdash.serving.planned.confirming import confirmed
from inferdash.serving.planned.curves import BATCHES, PLACES, REPLICAS, curves_of
from inferdash.serving.planned.offers import Demand, Offer

CASES: Final = (
    ("llama-3.1-8b", "h100-sxm", "bf16", 1, 1024, 256, 0.0),
    ("llama-3.1-8b", "mi300x", "fp8", 1, 1024, 256, 0.0),
    ("llama-3.1-8b", "l4", "fp8", 1, 1024, 256, 0.0),
    ("llama-3.1-8b", "h100-sxm", "bf16", 1, 200, 50, 0.0),
    ("llama-3.1-8b", "h100-sxm", "bf16", 1, 8000, 200, 0.9),
    ("llama-3.1-8b", "h100-sxm", "fp8", 1, 8000, 200, 0.0),
    ("llama-3.1-8b", "a100-80gb-sxm", "bf16", 1, 300, 1000, 0.0),
    ("gpt-oss-120b", "h100-sxm", "mxfp4", 2, 2048, 512, 0.0),
    ("gpt-oss-120b", "mi355x", "mxfp4", 8, 2048, 512, 0.0),
    ("deepseek-v3", "h200-sxm", "fp8-block", 8, 4096, 1024, 0.0),
    ("llama-3.1-70b", "h100-sxm", "fp8", 4, 16000, 300, 0.0),
)
"""Model, accelerator, format, GPUs of a replica, tokens of prompt and answer, share found."""
LOADS: Final = (0.3, 0.6, 0.75, 0.85)
"""Of what full places carry."""


def ratios(
    cases: tuple[tuple[str, str, str, int, int, int, float], ...] = CASES,
    places: tuple[int, ...] = (8, 32, 128, 512),
    replicas: tuple[int, ...] = (1, 2, 8),
) -> Iterator[tuple[str, int, int, float, float, float]]:
    """Name, places, replicas, load, and predicted over simulated p90: to the first token, and between tokens."""
    for model, chip, weights, gpus, prompt, answer, found in cases:
        demand = Demand(requests_per_s=1, prompt=prompt, answer=answer, found_share=found)
        offer = Offer(
            model=library.models()[model],
            accelerators={chip: library.accelerators()[chip]},
            weights=(weights,),
            engine=library.engines()["vllm"],
        )
        for curves in curves_of(demand, offer):
            if curves.layout.gpus != gpus or curves.layout.pipeline > 1:
                continue
            for most in places:
                place = int(np.searchsorted(PLACES, most))
                if curves.most_places[0, place] < most:
                    continue
                full = curves.full_per_s[0, place] * curves.layout.data
                for count in replicas:
                    for load in LOADS:
                        asked = replace(demand, requests_per_s=load * full * count)
                        setup = Setup(curves, 0, place, place, np.full(len(REPLICAS), full), 1.0)
                        one = setup.candidate(asked, 1.0, count)
                        said = confirmed(one, asked, offer)
                        first, latency = said.time_to_first_token_s.p90, said.inter_token_latency_s.p90
                        assert first
                        assert latency
                        yield (
                            f"{model} {chip} {prompt}/{answer} dp{curves.layout.data}",
                            most,
                            count,
                            load,
                            one.time_to_first_token_s / first,
                            one.inter_token_latency_s / latency,
                        )


def planning() -> Iterator[str]:
    """Seven accelerators with every batch limit, load and number of replicas, by formulas and by hand; and the grid."""
    names = ("a100-40gb-sxm", "a100-80gb-sxm", "h100-sxm", "h200-sxm", "b200-sxm", "gh200", "h20")
    chips = {name: library.accelerators()[name].model_copy(update={"linked": 1}) for name in names}
    demand = Demand(requests_per_s=100, prompt=1024, answer=256, time_to_first_token_s=1, inter_token_latency_s=0.05)
    offer = Offer(
        model=library.models()["llama-3.1-8b"], accelerators=chips, rents=dict.fromkeys(names, 1.0), engine=None
    )
    bandwidth = np.array([chip.bandwidth for chip in chips.values()])[:, None]
    peak = np.array([chip.dense_bf16 for chip in chips.values()], dtype=np.float64)[:, None]

    def by_formulas() -> tuple[np.ndarray, np.ndarray]:
        (curves,) = curves_of(demand, offer)
        curves.within(demand)
        return curves.first_token_s, curves.latency_s

    def by_hand() -> tuple[np.ndarray, np.ndarray]:
        attention, read = 4 * 32 * 32 * 128, 131_072
        flops = 1024 * 2 * 6_979_588_096 + 2 * 525_336_576 + attention * 1024 * 1025 / 2
        prefill = np.maximum(flops / peak, 15_009_849_344 / bandwidth)
        requests = np.ceil(np.maximum(1, BATCHES))
        flops = requests * (2 * 7_504_924_672 + attention * 1153)
        decode = np.maximum(flops / peak, (15_009_849_344 + requests * (read * 1152)) / bandwidth)
        carried = np.maximum.accumulate(BATCHES / (BATCHES * prefill + 255 * decode), axis=1)
        growth = np.clip(np.gradient(np.log(carried), np.log(BATCHES), axis=1), 0.02, 1)
        x, e, p, t = (one[:, None, None] for one in (carried, growth, prefill, decode))
        v, places = 1 / REPLICAS[:, None, None], PLACES[:, None]
        full = carried[:, None, np.searchsorted(BATCHES, PLACES), None]
        below = (places > BATCHES) & (x < full)
        load = np.where(below, x / full, 0.5)
        spread = (BATCHES * v / e) ** 0.5
        room = np.minimum(25, np.maximum(0, (places - BATCHES - v * (1 - e) / (2 * e)) / spread))
        curve = 1 + np.exp(-1.7 * room)
        share = np.minimum(1, curve / (curve + 2.507 * spread * (1 - load) / v * np.exp(room**2 / 2)))
        beyond = np.maximum(0.02, 0.1 - share)
        reading = x * p
        prompts = v * np.maximum(
            p / reading * np.log(np.maximum(1, (1 - beyond) / (1 - reading))),
            p / (2 * (1 - reading)) * np.log(np.maximum(1, reading / beyond)),
        )
        place = v * np.log(np.maximum(1, share / 0.1)) / (2 * (1 - load) * full)
        runs = np.minimum(1, BATCHES) * t
        first = p + np.maximum((1 - beyond) * runs, prompts + runs / 2) + place
        crowd = np.maximum(BATCHES, np.minimum(places, BATCHES + v / e + 1.05 * spread))
        latency = t / (1 - x * p) * (crowd / BATCHES) ** (1 - e)
        first = np.maximum.accumulate(np.where(below, first, np.inf), axis=-1)
        return first, np.maximum.accumulate(latency, axis=-1)

    for one, other in zip(by_formulas(), by_hand(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    pairs = [(timeit.timeit(by_formulas, number=3), timeit.timeit(by_hand, number=3)) for _ in range(9)]
    ratio = statistics.median(formulas / hand for formulas, hand in pairs)
    ms = 1e3 * min(formulas for formulas, _ in pairs) / 3
    count = by_hand()[0].size
    yield f"{count:,} set-ups at a load scored over by hand {ratio:6.2f} times ({ms:.1f} ms)"
    rows = np.array([row[-2:] for row in ratios()])
    for name, values in zip(("to the first token", "between tokens"), rows.T, strict=True):
        off = np.abs(values - 1)
        low, middle, high = np.percentile(values, [10, 50, 90])
        yield (
            f"p90 {name}, predicted over simulated".ljust(52)
            + f"{middle:.3f} ({low:.2f} to {high:.2f}; off by {np.median(off):.1%}, p90 {np.percentile(off, 90):.1%})"
        )
