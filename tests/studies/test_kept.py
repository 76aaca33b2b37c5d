"""Results that are kept by scenario: the least recently asked for give way, by size."""

from inferdash.scenario import BASE, Scenario
from inferdash.studies.kept import Kept


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
