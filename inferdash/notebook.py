"""For notebooks: `inferdash.report(model="qwen3-32b", batch=64)`, and a table where a field has several values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, TypeAlias, overload

import pandas as pd

from inferdash import answers, links
from inferdash.links import Problem
from inferdash.scenario import BASE, Scenario
from inferdash.studies import report as studies
from inferdash.studies.check import model
from inferdash.studies.learn import batching, compute_vs_memory, experts, kv_cache, overview, quantization
from inferdash.studies.numbers import Headline, lines
from inferdash.studies.price import feature_cost, prompt_cache
from inferdash.studies.run import memory, plan, serving

Value: TypeAlias = str | float | bool | None
"""Of a field: a number in its base unit, or a text as in a link, such as "3.35 TB/s"."""
_MOST: Final = 1000
"""Rows of a table."""


@dataclass(frozen=True)
class Report:
    """Every number of a scenario, a field a page; units are base units, as `docs/numbers.md` lists them."""

    link: str
    """The scenario as a link, which the dashboard opens."""
    scenario: Scenario
    overview: overview.Overview
    compute_vs_memory: compute_vs_memory.ComputeVsMemory
    kv_cache: kv_cache.KVCache
    prompt_cache: prompt_cache.PromptCache
    batching: batching.Batching
    quantization: quantization.Quantization
    experts: experts.ExpertNumbers
    feature_cost: feature_cost.FeatureCost
    serving: serving.Serving
    plan: plan.Meeting
    memory: memory.Memory
    model: model.Model
    headlines: Mapping[str, tuple[Headline, ...]]
    """Name of a page -> the numbers on its top, which say what is expected and what is the limit."""

    def numbers(self) -> dict[str, Any]:
        """All of them by name, such as "batching.throughput_gain"."""
        return {
            f"{name}.{line.path}": line.value
            for name in studies.STUDIES
            for line in lines(getattr(self, name))
            if line.unit != "rows"
        }


@overload
def report(link: str = "", **fields: Value) -> Report: ...  # type: ignore[overload-overlap]  # a list makes the table


@overload
def report(link: str = "", **fields: Value | Sequence[Value]) -> pd.DataFrame: ...


def report(link: str = "", **fields: Any) -> Report | pd.DataFrame:
    """The numbers of a scenario; a table with a row a scenario where a field is a list of values.

    Args:
        link: what the fields change: a link of the dashboard or its query; the baseline where it is empty.
        fields: of the scenario, by the names that links have: `inferdash.fields()` has them with help and bounds.
            Several fields with several values make every combination.

    Raises:
        ValueError: with a sentence for each part of the link or field that cannot be read, or where a table would have
            more than 1,000 rows.
    """
    start = links.decode(link)
    _refuse(start.problems)
    answers.known(fields)
    several = {name: value for name, value in fields.items() if _is_several(name, value)}
    fixed = {name: value for name, value in fields.items() if name not in several}
    if not several:
        return _report(start.scenario, fixed)
    rows = 1
    for values in several.values():
        rows *= len(values)
    if rows > _MOST:
        raise ValueError(f"These values make {rows:,} scenarios; a table has at most {_MOST:,}.")
    found = []
    for values in product(*several.values()):
        chosen = dict(zip(several, values, strict=True))
        one = _report(start.scenario, fixed | chosen)
        found.append(chosen | {"link": one.link} | one.numbers())
    return pd.DataFrame(found).set_index([*several])


def _is_several(name: str, value: Any) -> bool:
    """Whether a field has several values to try; that of a field which holds several ids is one list of them."""
    if not isinstance(value, list | tuple):
        return False
    return not isinstance(getattr(BASE, name), tuple) or any(isinstance(one, list | tuple) for one in value)


def _report(start: Scenario, fields: Mapping[str, Any]) -> Report:
    scenario, problems = links.read({name: answers.written(value) for name, value in fields.items()}, start)
    _refuse(problems)
    numbers = {name: study.study(scenario) for name, study in studies.STUDIES.items()}
    headlines = {
        name: tuple(study.headline_numbers(scenario, numbers[name])) for name, study in studies.STUDIES.items()
    }
    return Report(link=f"?{links.encode(scenario)}", scenario=scenario, headlines=headlines, **numbers)


def _refuse(problems: Iterable[Problem]) -> None:
    """A program that went on with another value than it gave would not see it."""
    said = " ".join(one.sentence.partition(" Used instead: ")[0] for one in problems)
    if said:
        raise ValueError(said)
