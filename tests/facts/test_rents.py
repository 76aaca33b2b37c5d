"""Rents as they are quoted, and accelerators side by side."""

import numpy as np
import pytest
from pydantic import ValidationError

from inferdash.facts import library
from inferdash.facts.accelerator import Rent, side_by_side
from inferdash.facts.precision import PRECISIONS


def test_rents_are_those_of_their_sources() -> None:
    rented = {name: chip.rent for name, chip in library.accelerators().items() if chip.rent}
    assert len(rented) == 14
    h100, mi300x, none = rented["h100-sxm"], rented["mi300x"], library.accelerators()["h100-pcie"].rent
    assert (h100.low, h100.middle, h100.high) == (1.99, 3.0, 12.29)  # 2.245, 2.95, 3.0, 4.25, 12.29
    assert (mi300x.low, mi300x.middle, mi300x.high) == (1.5, 2.25, 3.0)
    assert none is None
    for chip in library.accelerators().values():
        for rent in chip.rents:
            assert "20" in rent.source or "undated" in rent.source


def test_a_range_starts_with_its_lower_price() -> None:
    with pytest.raises(ValidationError, match="lower price"):
        Rent(low=2, high=1, kind="", source="")


def test_side_by_side_is_a_column_of_each() -> None:
    chips = [library.accelerators()[name] for name in ("a100-80gb-sxm", "h100-sxm", "b200-sxm")]
    together = side_by_side(chips)
    assert together.family == "nvidia-datacenter"
    assert np.asarray(together.bandwidth).tolist() == [[chip.bandwidth] for chip in chips]
    assert np.asarray(together.rate(PRECISIONS["fp8"])[1]).ravel() == pytest.approx([312e12, 1978.9e12, 4500e12])
    assert side_by_side([*chips, library.accelerators()["t4"]]).link_bandwidth is None
    with pytest.raises(ValueError, match="2 families"):
        side_by_side([*chips, library.accelerators()["mi300x"]])
