"""All pages of a scenario as one report: every headline number with its unit."""

from collections.abc import Mapping
from dataclasses import asdict
from types import ModuleType
from typing import Any, Final

from inferdash.scenario import Scenario
from inferdash.studies.check import evidence, model
from inferdash.studies.learn import batching, compute_vs_memory, experts, kv_cache, overview, quantization
from inferdash.studies.numbers import Headline, lines, literal
from inferdash.studies.price import feature_cost, prompt_cache, traffic
from inferdash.studies.run import memory, plan, serving

STUDIES: Final[Mapping[str, ModuleType]] = {
    study.NAME: study
    for study in (
        overview,
        compute_vs_memory,
        kv_cache,
        prompt_cache,
        batching,
        quantization,
        experts,
        feature_cost,
        serving,
        plan,
        memory,
        model,
    )
}
"""Name in the report, and of the page's file -> its study, in the order of the chapter and beyond it."""
PAGES: Final[Mapping[str, ModuleType]] = {**STUDIES, traffic.NAME: traffic, evidence.NAME: evidence}
"""Those, and the pages whose numbers come from a file of the reader, which no link holds, and from publishers."""
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Learn": ("overview", "compute_vs_memory", "kv_cache", "batching", "quantization", "experts"),
    "Price": ("feature_cost", "prompt_cache", "traffic"),
    "Run": ("memory", "serving", "plan"),
    "Check": ("evidence", "model"),
}
"""What people come for -> the pages for it."""


def report(scenario: Scenario) -> dict[str, Any]:
    """Numbers in base units, one object a page, those on its top under `headlines`; what is not known is None."""
    found = {}
    for name, study in STUDIES.items():
        result = study.study(scenario)
        headlines = study.headline_numbers(scenario, result)
        found[name] = {"headlines": [one.told() for one in headlines]} | asdict(result)
    return found


def markdown(scenario: Scenario, link: str) -> str:
    """The same numbers as a person reads them, with units, under each page's sentence."""
    chapters = [f"# {literal(scenario.title) or 'Inference'}", f"{scenario.subject}.", f"<{link}>"]
    chapters += [literal(note) for note in scenario.notes]
    for study in STUDIES.values():
        result = study.study(scenario)
        chapters += [f"## {study.TITLE}", study.sentence(scenario, result)]
        chapters.append("\n".join(_bullet(one) for one in study.headline_numbers(scenario, result)))
        rows = [f"| {': '.join(line.labels)} | {line.shown} |" for line in lines(result) if line.unit != "rows"]
        chapters.append("\n".join(["| quantity | value |", "| --- | --- |", *rows]))
    return "\n\n".join(chapters) + "\n"


def _bullet(one: Headline) -> str:
    return f"- {one.label}: {one.shown}{f' ({one.beside})' if one.beside else ''}"
