"""Every formula shows what it calculates."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import inferdash
from inferdash.formula import FUNCTIONS, Formula, formula, recording, section
from inferdash.references import REFERENCES


def every_formula() -> Iterator[Formula[Any, Any]]:
    seen: set[str] = set()
    for module in pkgutil.walk_packages(inferdash.__path__, "inferdash."):
        if module.name.startswith(("inferdash.ui", "inferdash.__main__", "inferdash.app", "inferdash.pages")):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Formula) and f"{value.__module__}.{value.name}" not in seen:
                seen.add(f"{value.__module__}.{value.name}")
                yield value


FORMULAS = list(every_formula())
EVALUATED = {shown: getattr(np, name) for name, shown in FUNCTIONS.items()} | {"sum": sum, "range": range}


def inputs_of(one: Formula[Any, Any], first: float) -> dict[str, Any]:
    names = list(inspect.signature(one.function).parameters)
    kinds = inspect.get_annotations(one.function, eval_str=True)
    values = {name: 3 + i if kinds[name] is int else first + len(names) - i for i, name in enumerate(names)}
    return values | ({"exponent": 1.5} if "exponent" in values else {})  # 171 ** 170 is no number


def test_formulas_are_found() -> None:
    names = {one.name for one in FORMULAS}
    assert {"causal_pairs", "matrix_flops", "pass_s", "tokens_per_pass", "requests_that_fit"} <= names


@pytest.mark.parametrize("one", FORMULAS, ids=lambda one: one.name)
@pytest.mark.parametrize("first", [3, 0.25, 170.0])
def test_text_evaluates_to_the_value(one: Formula[Any, Any], first: float) -> None:
    with recording() as steps:
        value = one(**inputs_of(one, first))
    (step,) = steps
    # The text is Python's, so that a reader may paste it; nothing but the formula's own functions is in reach.
    assert eval(step.text, {"__builtins__": {}} | EVALUATED) == value  # noqa: S307 - the project's own text
    assert step.result


@pytest.mark.parametrize("one", FORMULAS, ids=lambda one: one.name)
def test_it_is_shown_in_full(one: Formula[Any, Any]) -> None:
    assert one.ref in REFERENCES
    assert one.summary.endswith(".")
    parameters = list(inspect.signature(one.function).parameters.values())
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters)
    symbols = one.latex()
    for parameter in parameters:
        assert parameter.name in one.text()
        assert parameter.name.replace("_", " ") in symbols
    with recording() as steps:
        one(**inputs_of(one, 2))
    for text in (symbols, steps[0].latex):
        assert text.count("{") == text.count("}")
        assert not re.search(r"(?<!\\)[_%$#]", re.sub(r"\\sum_", "", text))


@pytest.mark.parametrize("one", FORMULAS, ids=lambda one: one.name)
def test_arrays_give_the_numbers_one_by_one(one: Formula[Any, Any]) -> None:
    single, double = inputs_of(one, 2), inputs_of(one, 5)
    counts = {name for name, value in single.items() if value == double[name] and isinstance(value, int)}
    together = one(**{n: single[n] if n in counts else np.array([single[n], double[n]], dtype=float) for n in single})
    assert together == pytest.approx([one(**single), one(**double)], rel=1e-12)


def test_what_the_expression_says_is_what_is_shown() -> None:
    @formula(unit="B", ref="kv-cache")
    def example(*, a: float, b_c: float) -> float:
        """An example."""
        return (a + b_c) * 2 / (a - b_c) ** 2 - (-a)

    assert example.text() == "(a + b_c) * 2 / (a - b_c) ** 2 - -a"
    assert example.text({"a": 3, "b_c": -1}) == "(3 + -1) * 2 / (3 - -1) ** 2 - -3"
    assert example.latex({"a": 1e12, "b_c": 2}) == (
        r"\frac{\left(1 \times 10^{12} + 2\right) \cdot 2}{{\left(1 \times 10^{12} - 2\right)}^{2}} - -1 \times 10^{12}"
    )


def test_recording_keeps_calls_in_order_under_their_section() -> None:
    with recording() as steps:
        with section("first"):
            FORMULAS[0](**inputs_of(FORMULAS[0], 2))
        FORMULAS[1](**inputs_of(FORMULAS[1], 2))
    FORMULAS[2](**inputs_of(FORMULAS[2], 2))
    assert [(step.formula, step.section) for step in steps] == [(FORMULAS[0], "first"), (FORMULAS[1], "")]


def test_more_than_one_expression_is_no_formula() -> None:
    @formula(unit="B", ref="kv-cache")
    def two_steps(*, a: float) -> float:
        """Two steps."""
        b = a + 1
        return b * 2

    with pytest.raises(TypeError, match="not one docstring and one returned expression"):
        two_steps.text()
