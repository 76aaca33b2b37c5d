"""Working: each formula in words, symbols, numbers and with its source."""

from inferdash.formula import once, recording
from inferdash.scenario import BASE
from inferdash.studies.learn import compute_vs_memory
from inferdash.ui import working


def test_a_step_shows_words_symbols_numbers_result_and_source() -> None:
    with recording() as steps:
        compute_vs_memory.study(BASE)
    (step,) = [step for step in steps if step.formula.name == "load_s" and step.section == "Decode"]
    shown = working.shown(step)
    assert shown.startswith("Seconds of loading at the full bandwidth")
    assert r"\text{load s} &= \frac{\text{bytes read}}{\text{gpus} \cdot \text{bandwidth}}" in shown
    assert r"\frac{1.514 \times 10^{10}}{1 \cdot 3.35 \times 10^{12}}" in shown
    assert r"&= \text{4.52}\ \text{ms}" in shown
    assert "section 10.1" in shown


def test_the_same_formula_with_the_same_numbers_is_shown_once() -> None:
    with recording() as steps:
        compute_vs_memory.study(BASE)
        compute_vs_memory.study(BASE)
    assert len(once(steps)) == len(once(steps[: len(steps) // 2])) < len(steps) / 2
