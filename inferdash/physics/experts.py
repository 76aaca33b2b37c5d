"""Mixture of experts: what a router chooses, and how many experts the positions of a pass need together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inferdash.formula import Number, formula


@formula(unit="experts", ref="experts")
def expected_unused(*, experts: Number, experts_per_token: Number, positions: Number) -> Number:
    """Experts of a layer that no position of a pass chooses, on average, where each chooses evenly at random."""
    return experts * (1 - experts_per_token / experts) ** positions


@formula(unit="positions", ref="experts")
def positions_per_expert(*, experts: Number, experts_per_token: Number, positions: Number) -> Number:
    """Positions of a pass that share the loading of an expert, on average over all experts of a layer."""
    return positions * experts_per_token / experts


@formula(unit="FLOP", ref="experts")
def operations_per_token(*, active: Number) -> Number:
    """Operations of a written token with the parameters that work on it, attention over the text not counted."""
    return 2 * active


@dataclass(frozen=True)
class Choice:
    """What a router does with one position."""

    experts: tuple[int, ...]
    """Chosen experts, counted from 1, the largest logit first."""
    shares: tuple[float, ...]
    """Their shares of the output; they add up to 1."""


def route(logits: Sequence[float], *, chosen: int) -> Choice:
    """The experts with the largest logits, and the softmax over those; equal logits go to the earlier expert."""
    values = np.asarray(logits, dtype=np.float64)
    order = np.argsort(-values, kind="stable")[:chosen]
    powers = np.exp(values[order] - values[order].max())
    shares = powers / powers.sum()
    return Choice(tuple(int(expert) + 1 for expert in order), tuple(shares.tolist()))


def popularity(experts: int, *, skew: float) -> NDArray[np.float64]:
    """The share of each expert in the choices: even at a skew of 0, Zipf's law 1 / rank^skew otherwise."""
    weights = 1.0 / np.arange(1, experts + 1) ** skew
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def drawn_positions(
    experts: int, *, experts_per_token: int, positions: int, skew: float, seed: int
) -> NDArray[np.int64]:
    """Positions of each expert in one random pass: each position chooses different experts by their popularity."""
    keys = np.random.default_rng(seed).gumbel(size=(positions, experts)) + np.log(popularity(experts, skew=skew))
    chosen = np.argpartition(-keys, experts_per_token - 1, axis=1)[:, :experts_per_token]
    return np.bincount(chosen.ravel(), minlength=experts)
