"""The model by part: counts and bytes of a row are of the same parameters."""

import pytest

from inferdash.physics.capacity.parameters import mtp_parameters, mtp_table_copies
from inferdash.scenario import Scenario
from inferdash.studies.check import model


def test_what_predicts_further_tokens_counts_the_tables_that_its_bytes_hold() -> None:
    """DeepSeek-V3's files hold a layer of 11.6 billion parameters and two tables of 927 million more."""
    further = model.part_table(Scenario(model="deepseek-v3")).rows[-1]
    assert further.values == (f"{11_610_067_968 + 2 * 926_679_040:,}", "15.4 GB")
    assert "both tables once more" in further.label


@pytest.mark.parametrize("name", ["deepseek-v4-flash", "glm-5"])
def test_without_copies_it_is_the_layer_alone(name: str) -> None:
    scenario = Scenario(model=name)
    further = model.part_table(scenario).rows[-1]
    assert mtp_table_copies(scenario.architecture) == 0
    assert further.values[0] == f"{int(mtp_parameters(scenario.architecture).total):,}"
    assert "tables" not in further.label


def test_a_kind_of_layer_is_told_in_one_line() -> None:
    (row,) = model.layer_table(Scenario(model="mixtral-8x7b")).rows
    assert row.label == "32 layers: GQA; 2 of 8 experts, 14,336 wide"
