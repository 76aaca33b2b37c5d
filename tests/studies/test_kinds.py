"""The kind of an accelerator of one's own: proposed by its figures, chosen by the reader, never taken silently."""

import pytest

from inferdash import links
from inferdash.facts.library import accelerators
from inferdash.facts.machines.accelerator import FAMILIES
from inferdash.scenario import OWN, Scenario
from inferdash.studies.check import kinds
from inferdash.studies.learn import compute_vs_memory

CHIPS = {key: chip for key, chip in accelerators().items() if chip.dense_bf16}


@pytest.mark.parametrize("key", [*CHIPS][::4])
def test_the_figures_of_a_datasheet_are_of_that_accelerators_kind(key: str) -> None:
    chip = CHIPS[key]
    own = Scenario(accelerator=OWN, memory=chip.memory, bandwidth=chip.bandwidth, peak=chip.dense_bf16)
    found = kinds.nearest(own)
    assert (found.bandwidth, found.dense_bf16) == (chip.bandwidth, chip.dense_bf16)
    proposed = kinds.proposal(own)
    if found.family == own.family:
        assert proposed is None
    else:
        label, changes = proposed or ("", {})
        assert FAMILIES[found.family] in label
        taken = own.model_copy(update=changes)
        assert taken.hardware.family == found.family
        assert kinds.proposal(taken) is None
        assert links.decode(links.encode(taken)).scenario == taken


def test_a_kind_changes_what_is_expected_and_not_the_limit() -> None:
    one, other = (Scenario(accelerator=OWN, family=family) for family in ("nvidia-datacenter", "geforce"))
    here, there = (compute_vs_memory.study(scenario).expected.decode for scenario in (one, other))
    assert here.limit == there.limit
    assert here.expected != there.expected
    assert kinds.proposal(Scenario()) is None
