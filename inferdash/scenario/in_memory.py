"""What the engine of a machine keeps of the memory, by the rule or as it was entered or logged."""

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from zlib import crc32

from inferdash.facts import library
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.capacity.engine_memory import Kept, as_entered, kept
from inferdash.physics.capacity.settings import Setting, Shape, seen_bytes, shape_of
from inferdash.physics.capacity.spans import Span, exactly

if TYPE_CHECKING:
    from inferdash.scenario.machine import Machine

_LOGGED: Final = (
    *("model", "config", "layers", "hidden", "heads", "kv_heads", "head_dim", "feed_forward", "vocabulary", "tied"),
    *("weights", "accelerator", "gpus", "memory", "layout", "tensor_parallel", "pipeline_parallel", "expert_parallel"),
    *("engine", "engine_version", "engine_share", "max_num_seqs", "max_num_batched_tokens"),
)
"""Fields of the set-up that a logged room is one of."""
_ROUNDED: Final = 0.1 * 2**30
"""By which two starts of the same set-up differ."""
_SIXTEEN_BITS: Final = (0.98, 1.0, 1.03)
"""Parameters in memory over those of the files, by logs: at 16 bits."""
_FEWER_BITS: Final = (0.96, 1.0, 1.06)
"""The same in narrower formats, of which engines widen or keep some matrices."""


def set_up(machine: "Machine") -> str:
    """A short name of the set-up, which another one does not have."""
    as_run = machine.run
    return f"{crc32(repr([getattr(as_run, name) for name in _LOGGED]).encode()):08x}"


def calibrated(machine: "Machine") -> bool:
    """Whether the room that the reader logged counts: it was logged for this set-up."""
    return machine.cache_room is not None and machine.cache_room_of in {"", set_up(machine)}


def shape(machine: "Machine") -> Shape:
    """What of the model makes the memory that the engine keeps."""
    return shape_of(machine.architecture, fp4_experts=PRECISIONS[machine.format] == PRECISIONS["mxfp4"])


def setting(machine: "Machine", *, weights: float) -> Setting:
    """How the engine is started; `weights` are bytes of the parameters on one accelerator."""
    layout = machine.sharing
    return Setting(
        total=seen_bytes(machine.hardware) if machine.memory is None else machine.memory,
        a100="A100" in machine.hardware.name,
        strange=machine.hardware.maker not in {"NVIDIA", ""},
        tensor=machine.gpus if layout.even else layout.tensor,
        gpus=machine.gpus if layout.even else layout.tensor * layout.pipeline,
        expert=layout.expert,
        version=machine.engine_version,
        share=machine.engine_share,
        tokens=machine.max_num_batched_tokens,
        requests=machine.max_num_seqs,
        context=machine.prompt + machine.answer,
        weights=weights,
        activations=machine.activations,
        outside=machine.overhead,
    )


def by_rule(machine: "Machine", *, weights: float) -> Kept:
    """What the engine keeps, by the rule, with what was entered in its place."""
    if machine.activations is not None and machine.overhead is not None:
        chip = machine.hardware
        return as_entered(
            seen=chip.visible_memory or chip.memory,
            share=machine.engine_share or library.memory_of(machine.engine).share,
            activations=machine.activations,
            outside=machine.overhead,
        )
    return _kept(machine.engine, shape(machine), setting(machine, weights=weights))


@lru_cache(maxsize=512)
def _kept(engine: str, model: Shape, start: Setting) -> Kept:
    return kept(library.memory_of(engine), model, start)


def kept_of(machine: "Machine", *, weights: float) -> Kept:
    """What the engine keeps: so that the room that was logged is left, where one counts."""
    found = by_rule(machine, weights=weights)
    if machine.cache_room is None or not calibrated(machine):
        return found
    usable = weights + machine.cache_room
    total = found.usable.expected + sum(
        part.expected for part in (found.before, found.not_taken, found.outside, found.activations, found.graphs)
    )
    rest = max(0.0, total - found.not_taken.expected - usable)
    return replace(
        found,
        before=exactly(0),
        outside=exactly(0),
        graphs=exactly(0),
        activations=exactly(rest),
        usable=Span(usable - _ROUNDED, usable, usable + _ROUNDED),
    )


def weights_of_one(machine: "Machine", *, weights: float) -> Span:
    """The parameters on one accelerator with their band; without one where they were logged."""
    if machine.weight_memory is not None or calibrated(machine):
        return exactly(weights)
    wide = PRECISIONS[machine.format].matrix_bits >= 16  # noqa: PLR2004 - as the names of both bands say
    return Span(*(weights * factor for factor in (_SIXTEEN_BITS if wide else _FEWER_BITS)))
