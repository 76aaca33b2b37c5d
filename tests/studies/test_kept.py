"""Results that are kept by scenario: the least recently asked for give way, by size."""

from inferdash.scenario import BASE, Scenario
from inferdash.studies.kept import Kept
from inferdash.studies.run import planning


def test_the_least_recently_asked_for_give_way() -> None:
    """Room for 10: prompts of 4, 3 and 3 stay; another of 4 takes the place of the one that was not asked for again."""
    worked_out = []

    def prompt(scenario: Scenario) -> int:
        worked_out.append(scenario.prompt)
        return scenario.prompt

    kept = Kept(prompt, lambda scenario: scenario.prompt, most=10)
    four, three, also = (
        BASE.model_copy(update={"prompt": size, "answer": answer}) for size, answer in ((4, 1), (3, 1), (3, 2))
    )
    assert [kept(one) for one in (four, three, also, four)] == [4, 3, 3, 4]
    assert worked_out == [4, 3, 3]
    other = BASE.model_copy(update={"prompt": 4, "answer": 9})
    assert [kept(one) for one in (other, four, three)] == [4, 4, 3]
    assert worked_out == [4, 3, 3, 4, 3]
    assert kept(BASE.model_copy(update={"prompt": 50})) == 50  # one is kept, however large
    assert kept(BASE.model_copy(update={"prompt": 50})) == 50
    assert worked_out.count(50) == 1


def test_a_plan_does_not_need_that_all_it_kept_is_still_there() -> None:
    """What curves carry within the targets stays when the curves themselves gave way to others, or two made them."""
    scenario = Scenario(considered=("h100-sxm",), load=3)
    before = planning.planned(scenario)
    vars(vars(planning)["_curves"])["_found"].clear()
    after = planning.planned(scenario.model_copy(update={"load": 3.01}))
    assert before
    assert after
    assert before.best
    assert after.best
    assert (after.best.accelerator, after.best.gpus) == (before.best.accelerator, before.best.gpus)
