"""A number format as it is in one model: where a recipe decides on each matrix, it is carried out."""

from dataclasses import replace
from functools import lru_cache

from inferdash.facts.formats import gguf
from inferdash.facts.models.architecture import Architecture
from inferdash.facts.models.precision import FILES, MATRICES, PRECISIONS, Precision, Share

_MODELS_KEPT = 256


def in_model(precision: Precision, architecture: Architecture) -> Precision:
    """The format as it is in a model.

    A format without a recipe is itself. That of the files is what the model's maker gives out.
    """
    if not precision.recipe:
        return precision
    if precision.recipe == FILES and not architecture.formats:
        return in_model(PRECISIONS[architecture.weights], architecture)
    return _carried_out(precision, architecture)


@lru_cache(_MODELS_KEPT)
def _carried_out(precision: Precision, architecture: Architecture) -> Precision:
    shares = architecture.formats if precision.recipe == FILES else gguf.shares(architecture, precision.recipe)
    return of_shares(shares, precision)


def of_shares(shares: tuple[Share, ...], precision: Precision) -> Precision:
    """A format by kind of parameter, which is called as `precision` is, or as what it is made of."""
    sizes: dict[str, float] = {}
    for share in shares:
        sizes[share.name] = sizes.get(share.name, 0) + share.bits * share.parameters
    largest = sorted(sizes, key=lambda name: -sizes[name])
    worked = [share for share in shares if share.kind in {*MATRICES, "experts"}] or list(shares)
    count = sum(share.parameters for share in worked)
    return replace(
        precision,
        name=precision.name if precision.recipe != FILES else ", ".join(largest),
        matrix_bits=sum(share.bits * share.parameters for share in worked) / count,
        rate=max(worked, key=lambda share: share.parameters).rate,
        shares=shares,
    )
