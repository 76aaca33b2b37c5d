"""A model of the reader's own travels in the link: the fields of its config.json that were read."""

import json
from pathlib import Path
from typing import Any

import pytest

from inferdash import links
from inferdash.facts import library
from inferdash.facts.models import huggingface
from inferdash.facts.models.huggingface import UnreadConfigError
from inferdash.scenario import CONFIG, Scenario
from inferdash.studies.report import report

MODELS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "facts" / "published_models.json").read_text())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model["preset"])
def test_link_and_back(model: dict[str, Any]) -> None:
    found = huggingface.read(model["config"])
    scenario = Scenario(model=CONFIG, config=json.dumps(found.used, separators=(",", ":")))
    decoded = links.decode(links.encode(scenario))
    assert decoded.problems == ()
    assert decoded.scenario == scenario
    assert decoded.scenario.architecture.blocks == library.models()[model["preset"]].blocks


def test_every_page_reports_it() -> None:
    found = huggingface.read(MODELS[0]["config"])
    scenario = Scenario(model=CONFIG, config=json.dumps(found.used))
    same = Scenario(model=MODELS[0]["preset"])
    assert report(scenario) == report(same)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("model=config&v=1", "needs the fields of a config.json"),
        ("model=config&config={}&v=1", "hidden_size or n_embd is missing"),
        ("model=config&config=[1]&v=1", "not a JSON object"),
        ("model=config&config=not json&v=1", "not JSON"),
        ('model=config&config={"hidden_size":"4096"}&v=1', "not a whole number"),
        ('model=config&config={"hidden_size":"\\ud800"}&v=1', "half a character"),
        ("model=config&config=" + "x" * 9000 + "&v=1", "longer than 8000 characters"),
    ],
)
def test_a_broken_configuration_in_a_link_is_a_sentence(query: str, words: str) -> None:
    decoded = links.decode(query)
    assert any(words in problem.sentence for problem in decoded.problems), decoded.problems
    assert decoded.scenario.model == "llama-3-8b"


def test_a_name_is_no_markup() -> None:
    named = MODELS[0]["config"] | {"_name_or_path": "evil/[a](http://b.c) :red[x] www.d.e 2.5"}
    name = huggingface.read(named).architecture.name
    assert not set("[]():/_*<>") & set(name)
    assert "www.d" not in name


@pytest.mark.parametrize("preset", library.models())
def test_a_preset_is_written_and_read_back(preset: str, tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(library.written(library.models()[preset]), encoding="utf-8")
    assert library.read(path, type(library.models()[preset])) == library.models()[preset]


def test_a_configuration_that_is_none_raises_nothing_else() -> None:
    with pytest.raises(UnreadConfigError):
        huggingface.read({"num_hidden_layers": None})
