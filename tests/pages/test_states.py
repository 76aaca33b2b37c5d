"""Scenario, widgets and address agree, whatever a reader does."""

import pytest

from inferdash import links, shipped
from tests.states import Reader


@pytest.mark.parametrize("seed", range(1000, 1006))
def test_scenario_widgets_and_address_agree_after_each_step(seed: int) -> None:
    assert list(Reader(seed).walk(20)) == []


def test_an_emptied_field_shows_what_stands_for_it_and_an_empty_prompt_is_a_prompt() -> None:
    reader = Reader(1000)
    reader.page = "prompt_cache"
    reader.app.switch_page(str(shipped("pages") / "prompt_cache.py")).run()
    for name, shown in (("shared", "10,000"), ("second_prompt", "")):
        widget = next(widget for widget, of in reader.widgets() if of == name)
        widget.set_value("").run()
        reader.scenario = links.read({**dict(reader.scenario), name: getattr(links.BASELINE, name) if shown else ""})[0]
        assert list(reader.wrong()) == []
        assert next(widget for widget, of in reader.widgets() if of == name).value == shown
