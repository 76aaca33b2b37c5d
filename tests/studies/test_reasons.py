"""Why two scenarios differ, and whether they surely do: by ratios that are worked out here, from bytes and bands."""

import re

import pytest

from inferdash import pairs
from inferdash.facts import library
from inferdash.studies import comparison, reasons
from inferdash.studies.price import feature_cost, other_models, ranges
from inferdash.studies.report import PAGES


def _said(page: str, query: str) -> tuple[str, str]:
    pair = pairs.decode(query).pair
    return comparison.sentence(page, pair.a, pair.edited), reasons.of(page, pair.a, pair.edited)


def test_fewer_bits_are_fewer_bytes() -> None:
    pair = pairs.decode("?b.weights=int4-g128&v=2").pair
    read = [PAGES["compute_vs_memory"].study(one).decode.bytes_read for one in (pair.a, pair.edited)]
    less = f"{100 * (1 - read[1] / read[0]):.1f}% fewer bytes"
    assert less in _said("overview", "?b.weights=int4-g128&v=2")[1]


def test_two_gpus_have_twice_the_bandwidth() -> None:
    bandwidth = library.accelerators()["h100-sxm"].bandwidth / 1e12
    said = _said("overview", "?b.gpus=2&v=2")[1]
    assert f"2 times as much memory bandwidth ({bandwidth:.2f} TB/s in A, {2 * bandwidth:.2f} TB/s in B)" in said


def test_engines_differ_in_what_was_measured() -> None:
    sentence, why = _said("overview", "?b.engine=sglang&v=2")
    assert "which is better is not sure" in sentence
    assert "engines were measured" in why


@pytest.mark.parametrize("change", ["prompt=1200", "batch=2", "gpus=2"])
def test_what_errs_together_is_not_called_unsure(change: str) -> None:
    assert "not sure" not in _said("overview", f"?b.{change}&v=2")[0]


@pytest.mark.parametrize("change", ["engine=sglang", "weights=fp8", "model=qwen3-8b", "accelerator=l40s"])
def test_unsure_is_what_both_bands_hold(change: str) -> None:
    """The bands as they are read in the text below each number, not as the comparison has them."""
    pair = pairs.decode(f"?b.{change}&v=2").pair
    sentence = comparison.sentence("overview", pair.a, pair.edited)
    for one in comparison.headlines("overview", pair.a, pair.edited):
        assert one.a
        assert one.b
        ends = [_band(shown.beside) for shown in (one.a, one.b)]
        held = all(
            low * 0.99 <= (value or 0) / scale <= high * 1.01
            for value, (low, high), scale in (
                (one.a.value, ends[1], _scale(one.b.shown, one.b.value)),
                (one.b.value, ends[0], _scale(one.a.shown, one.a.value)),
            )
        )
        if one.ratio != 1 and f"{one.name[0].lower()}{one.name[1:]}" in sentence.partition("Of that,")[2]:
            assert held, one.name


def _band(text: str) -> tuple[float, float]:
    found = re.match(r"\$?([\d.,]+) to \$?([\d.,]+)", text)
    assert found, text
    low, high = (float(end.strip(",").replace(",", "")) for end in found.groups())
    return low, high


def _scale(shown: str, value: float | None) -> float:
    """The unit in which a band is written, from the number above it."""
    found = re.match(r"\$?([\d.,]+)", shown)
    assert found
    return round(float(f"{(value or 0) / float(found[1].replace(',', '')):.1g}"), 9)


def test_one_rent_for_two_accelerators_is_said() -> None:
    quoted = library.accelerators()["l40s"].rent
    assert quoted
    sentence, _ = _said("overview", "?b.accelerator=l40s&v=2")
    assert "counted at $3 a GPU-hour; sellers ask" in sentence
    assert f"${quoted.middle:,.2f} for B" in sentence
    assert "counted at" not in _said("overview", "?b.accelerator=l40s&b.rent=1.24&v=2")[0]


def test_quantization_compares_the_formats_that_were_chosen() -> None:
    sentence, why = _said("quantization", "?b.weights=int4-g32&v=2")
    assert sentence.startswith("With B (Weight precision: int4, group 32), the parameters take 62.5% less memory")
    assert "fewer bytes" in why


def test_a_model_that_cannot_hold_the_requests_is_not_the_cheapest() -> None:
    scenario = pairs.decode("?runs_on=rented&ranges=users 20k..60k&v=2").pair.a
    result = feature_cost.study(scenario)
    assert other_models.longest_request(scenario) > (scenario.architecture.context or 0)
    assert feature_cost.sentence(scenario, result).startswith("Llama 3 8B supports 8,192 tokens")
    said = ranges.sentence(scenario, ranges.results(scenario, result))
    assert "is Llama 3 8B" not in said
    assert said.endswith("choose another model.")
