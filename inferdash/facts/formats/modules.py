"""The modules of a model, matrix by matrix, in the order of its layers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from inferdash.facts.models.architecture import Architecture, Blocks
from inferdash.facts.models.precision import Kind
from inferdash.layers.matrix import Matrix

_JOINED = 2
"""Vectors that are joined before a layer that predicts a further token."""


@dataclass(frozen=True)
class Module:
    """One matrix of a model, or all those alike of a layer's experts."""

    kind: Kind
    """What it counts as."""
    role: Kind
    """What it does: as `kind`, but in a layer that predicts further tokens, which counts as "mtp", and but for an
    input embedding that is the output layer too."""
    holder: str
    """The kind of mixer that it belongs to, "network", "beside" for experts beside a dense network, or "table"."""
    layer: int | None
    """Counted from 0 over the whole model; None outside the layers."""
    matrix: Matrix


def modules(architecture: Architecture, layers: Sequence[Blocks] | None = None) -> Iterator[Module]:
    """Every matrix of a model.

    Args:
        architecture: the model.
        layers: its layers in their order, where it is known; else equal ones stand together.
    """
    hidden = architecture.hidden
    for index, blocks in _numbered(layers or architecture.blocks):
        for role, holder, matrix in _of_layer(blocks, hidden):
            yield Module(role, role, holder, index, matrix)
    if architecture.mtp:
        for further in range(architecture.layers, architecture.layers + architecture.mtp.count):
            for role, holder, matrix in _of_layer(architecture.mtp, hidden):
                yield Module("mtp", role, holder, further, matrix)
            yield Module("mtp", "small", "table", further, Matrix("eh_proj", _JOINED * hidden, hidden))
    yield from _tables(architecture)


def _numbered(layers: Sequence[Blocks]) -> Iterator[tuple[int, Blocks]]:
    """Each layer with its number; a part of a layer has that of the layer."""
    start = end = 0
    for blocks in layers:
        if not blocks.continues:
            start, end = end, end + blocks.count
        for index in range(start, start + blocks.count):
            yield index, blocks


def _of_layer(blocks: Blocks, hidden: int) -> Iterator[tuple[Kind, str, Matrix]]:
    mixer = blocks.attention
    for matrix in mixer.matrices(hidden) if mixer else ():
        yield "attention", mixer.kind, matrix  # type: ignore[union-attr]
    for network in blocks.networks:
        holder = "beside" if blocks.beside and network is blocks.feed_forward else "network"
        for role, found in network.matrices(hidden).items():
            for matrix in found:
                yield cast("Kind", role), holder, matrix
        routed = network.stored(hidden).router
        if routed:
            yield "router", holder, Matrix("gate", hidden, int(routed) // hidden)
    if blocks.token_input:
        yield "dense", "table", Matrix("per_layer_input_gate", hidden, blocks.token_input)
        yield "dense", "table", Matrix("per_layer_projection", blocks.token_input, hidden)


def _tables(architecture: Architecture) -> Iterator[Module]:
    hidden, vocabulary = architecture.hidden, architecture.vocabulary
    table = Matrix("embed_tokens", hidden, vocabulary)
    if architecture.tied_embeddings:
        yield Module("output", "input", "table", None, table)
    else:
        yield Module("input", "input", "table", None, table)
        yield Module("output", "output", "table", None, Matrix("lm_head", hidden, vocabulary))
    if architecture.further_rows:
        yield Module("input", "small", "table", None, Matrix("embed_positions", hidden, architecture.further_rows))
    width = sum(blocks.count * blocks.token_input for blocks in architecture.blocks)
    if width:
        table = Matrix("embed_tokens_per_layer", width, architecture.token_vocabulary)
        yield Module("input", "input", "table", None, table)
