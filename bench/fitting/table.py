"""The results as amounts: what each figure of the engines multiplies in each of them, and what figures depend on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from bench.fitting.results import Result
from inferdash.physics.amounts import Amounts

Array: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Groups: TypeAlias = tuple[tuple[Sequence[str], float], ...]
STACKED: Final = ("nvidia-datacenter", "amd-datacenter", "other-datacenter")
"""Families whose memory is stacked beside the chip: several times the bytes a second for each of its processors."""
LAYERS_APART: Final = ("apple", "amd-datacenter")
"""Families on which the time of a layer has a label of its own: their kernels are others than those of NVIDIA's."""
UNTUNED_S: Final = 180e-6
"""Where the time of a layer starts whose fp8 kernels were never tuned: by what tuning one shape of them took away.

DeepSeek-R1 on eight MI300X wrote a token 6.7 to 16.3 ms sooner at 4 to 32 requests, 61 layers
(https://github.com/ROCm/aiter/pull/1930); in June 2026 these shapes still had no settings of their own there
(https://github.com/ROCm/aiter/issues/3852). Both read 2026-11-30.
"""
SHORT_SUMS: Final = 2
"""Times the peak of GeForce where sums stay at 16 bits, as llama.cpp has them; the datasheets count sums at 32."""
_FIELDS: Final = tuple(part.name for part in fields(Amounts))


@dataclass(frozen=True)
class Term:
    """A part of the time: what it multiplies, and what its factor depends on."""

    name: str
    amount: Array
    """In the whole of each result."""
    admitted: Array
    """In one pass of the decode that a new request waits for; 0 where the time is none to a first token."""
    start: float
    spread: float
    """How far the common factor may lie from its start, as a logarithm."""
    share: bool = False
    """Whether the factor is 1 over a share, at least 1."""
    groups: Groups = ()
    """A label a result, and how far its labels are taken to lie apart before the results are seen."""
    common: Array | None = None
    """The amount where the engine is not known; None where it is the same."""


def labelled(marks: npt.NDArray[np.bool_], label: str) -> list[str]:
    """A label where a mark is set."""
    return [label if mark else "" for mark in marks.tolist()]


class Table:
    """The results as arrays, one a term."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = results
        self.measured = np.array([one.measured_s for one in results])
        self.publishers, self.phases, self.engines, self.models, self.systems, self.kinds = (
            np.array([getattr(one, name) for one in results])
            for name in ("publisher", "phase", "engine", "model", "system", "kind")
        )
        self.batches = np.array([one.batch for one in results])
        self.usable = np.array([not one.apart for one in results])
        self.served = np.array([float(one.prompt > 0) for one in results])
        write, read = (
            np.array(
                [[0.0] * len(_FIELDS) if one is None else [float(getattr(one, f)) for f in _FIELDS] for one in side]
            )
            for side in ([one.write for one in results], [one.read for one in results])
        )
        writes, reads = (np.array([getattr(one, name) for one in results]) for name in ("writes", "reads"))
        whole = writes[:, None] * write + reads[:, None] * read
        self._whole = dict(zip(_FIELDS, whole.T, strict=True))
        self._admitted = dict(zip(_FIELDS, (self.served[:, None] * write).T, strict=True))
        self.link = self._whole["link_s"]
        own = [np.nan if one.limit_s is None else one.limit_s for one in results]
        self.limit = np.where(np.isnan(own), self._whole["limit_s"], own)
        self.admitted_link = self._admitted["link_s"]
        self.terms = self._terms()
        sizes = self._group_sizes()
        self.weights = sizes**-0.5
        self.weights *= len(results) / self.weights.sum()

    def _group_sizes(self) -> Array:
        """By result, the geometric mean of two sizes: its publisher and phase; these, its model and its system.

        So that a thousand results of one publisher, or of one model, are not a thousand witnesses.
        """
        pairs = np.char.add(np.char.add(self.publishers, " "), self.phases)
        cells = np.char.add(np.char.add(pairs, self.models), self.systems)
        both = []
        for labels in (pairs, cells):
            _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
            both.append(counts[inverse] / counts.mean())
        sizes: Array = np.sqrt(both[0] * both[1])
        return sizes

    def _terms(self) -> tuple[Term, ...]:
        results, whole = self.results, self._whole
        llama = self.engines == "llama.cpp"
        bandwidths = np.array([one.machine.accelerator.bandwidth for one in results])
        peaks = np.array([one.machine.peak or 0.0 for one in results])
        doubled = np.where(llama & (self.kinds == "geforce"), SHORT_SUMS, 1)
        slowed = llama & np.isin(self.kinds, STACKED)
        kind, engine = self.kinds.tolist(), self.engines.tolist()
        early = labelled(np.array([one.early for one in results]), "early")
        apple, amd = (labelled(self.kinds == kind, kind) for kind in LAYERS_APART)
        ones = np.ones(len(results))
        prompts = np.array([float(one.prompt) for one in results])
        first = (self.phases == "first token").astype(float)
        none = np.zeros(len(results))

        def term(
            name: str,
            amount: Callable[[dict[str, Array]], Array],
            start: float,
            spread: float,
            *,
            share: bool = False,
            groups: Groups = (),
            common: Array | None = None,
        ) -> Term:
            return Term(name, amount(whole), amount(self._admitted), start, spread, share, groups, common)

        def loads(x: dict[str, Array]) -> Array:
            return x["load_matrices_s"] + x["load_cache_s"] + x["load_experts_s"]

        def arithmetic(x: dict[str, Array]) -> Array:
            return x["matrices_s"] + x["experts_s"]

        def field(name: str) -> Callable[[dict[str, Array]], Array]:
            return lambda x: x[name]

        def only(name: str, amount: Array, start: float, spread: float, groups: Groups) -> Term:
            return Term(name, amount, none, start, spread, groups=groups)

        return (
            term("load", lambda x: x["load_matrices_s"] + x["load_cache_s"], 0.2, 1, share=True, groups=((kind, 0.5),)),
            term("load-experts", field("load_experts_s"), 0.25, 1, share=True, groups=((kind, 0.5),)),
            term("load-ceiling", lambda x: loads(x) * bandwidths / 1e12 * slowed, 0.25, 0.5, common=none),
            term(
                "matrices",
                lambda x: x["matrices_s"] / doubled,
                0.6,
                1,
                share=True,
                groups=((kind, 0.5),),
                common=whole["matrices_s"],
            ),
            term(
                "experts",
                lambda x: x["experts_s"] / doubled,
                0.25,
                1,
                share=True,
                groups=((kind, 0.5),),
                common=whole["experts_s"],
            ),
            term("arithmetic-ceiling", lambda x: arithmetic(x) * peaks / 1e14 * llama, 0.7, 0.5, common=none),
            term("attention", field("attention_s"), 2, 1, share=True),
            term("latent", field("latent_s"), 1, 0.8),
            term("narrow", field("narrow_s"), 0.5, 0.8),
            term("packed", field("packed_s"), 1, 0.8),
            term("layer", field("layers"), 40e-6, 0.5, groups=((engine, 0.3), (apple, 0.35), (amd, 0.35))),
            term("layer-experts", field("experts_layers"), 10e-6, 0.5),
            term("layer-latent", field("latent_layers"), 40e-6, 0.5),
            term("layer-latent-read", field("latent_reads"), 100e-6, 0.8),
            term("layer-sparse", field("sparse_layers"), 60e-6, 0.5),
            term("layer-recurrent", field("recurrent_layers"), 60e-6, 0.5),
            term("layer-scaled", field("scaled_layers"), 10e-6, 0.6),
            term("layer-fnuz", field("fnuz_layers"), UNTUNED_S, 0.5),
            term("vectors", field("vectors_s"), 15, 0.6),
            term("exchange", field("exchanges"), 8e-6, 0.4, groups=((kind, 0.6),)),
            term("stage", field("gaps"), 0.2e-3, 0.6),
            term("host-pass", field("passes"), 0.1e-3, 0.6, groups=((early, 1.0),)),
            term("host-request", field("requests"), 10e-6, 0.8, groups=((engine, 0.6), (early, 0.6))),
            only("server", ones * self.served, 9e-3, 0.3, ()),
            only("server-token", prompts * first, 3e-6, 0.8, ()),
            only("server-request", self.batches * first, 0.3e-3, 0.8, ((engine, 0.6),)),
        )


KNOWN: Final = {("host-pass", "early"): 20.0, ("host-request", "early"): 2.5}
"""Term and label -> the factor that it starts from, where a source tells more than nothing.

vLLM before 0.6 spent 29% of its time on preparing passes of Llama 3 8B on an H100 and 38% on the GPU
(https://blog.vllm.ai/2024/09/05/perf-update.html, read 2026-11-30): about 6 ms beside 8, here 2 for a pass and 4 for a
batch of 160.
"""
ADMISSION: Final = (4.0, 0.8, 1.0)
"""Passes that only write until a new request is read, beyond those under way: start, spread, spread of engines."""
