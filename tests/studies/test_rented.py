"""A feature on rented GPUs: the month of the busiest hour's GPUs, beside the API's, in words, numbers and bars."""

import pytest

from inferdash import links
from inferdash.studies.comparison import answer
from inferdash.studies.price import feature_cost

LINK = "?model=gpt-oss-120b&gpus=2&api=openai/gpt-oss-120b&runs_on=rented&rent=2.5{}&v=2"


@pytest.mark.parametrize("use", ["", "&users=2000000", "&use_as=month&volume=3000000"])
def test_a_month_is_gpus_times_rent_times_hours(use: str) -> None:
    scenario = links.decode(LINK.format(use)).scenario
    result = feature_cost.study(scenario)
    said = {one.name: one.value for one in answer("feature_cost", scenario).shown}
    gpus, month = said["GPUs for the busiest hour"], said["A month"]
    assert gpus
    assert month
    assert month == pytest.approx(gpus * 2.5 * 720)
    bars = feature_cost.bar_rows(scenario)["bars"]
    assert max(row["end"] for row in bars if row["way"] == "as it is") == pytest.approx(month)
    assert max(row["end"] for row in bars if row["way"] == "on the API") == pytest.approx(result.month_usd)
    each = said.get("Per user per month") or said["A request"]
    assert each == pytest.approx(month / (scenario.users if "use_as" not in use else 3_000_000))


def test_what_does_not_fit_says_so_and_keeps_the_price_of_the_api() -> None:
    scenario = links.decode("?model=llama-3.1-405b&api=openai/gpt-oss-120b&runs_on=rented&v=2").scenario
    found = answer("feature_cost", scenario)
    assert found.sentence.startswith("Llama 3.1 405B on NVIDIA H100 SXM cannot serve this feature")
    assert [one.value for one in found.shown] == [None] * 4
    assert {row["way"] for row in feature_cost.bar_rows(scenario)["bars"]} == {"on the API"}


def test_a_limit_needs_no_more_gpus_than_are_expected() -> None:
    limit, expected = (
        links.decode(LINK.format(f"&users=20000000&speed={speed}")).scenario for speed in ("limit", "expected")
    )
    gpus = [answer("feature_cost", one).shown[2].value for one in (limit, expected)]
    assert gpus[0]
    assert gpus[1]
    assert gpus[0] <= gpus[1]
