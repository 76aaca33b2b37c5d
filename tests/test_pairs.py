"""Two scenarios in one link: it keeps both, and what is said of their difference is true both ways round."""

import base64
import json
import math
import tracemalloc
import zlib
from pathlib import Path
from random import Random
from urllib.parse import parse_qsl, urlencode

import pytest

from inferdash import answers, links, pairs
from inferdash.cli import main
from inferdash.pairs import Pair
from inferdash.scenario import FIELDS, Scenario, counts
from inferdash.studies import comparison, differing, ratios, side_by_side
from inferdash.studies.numbers import Row, Table
from inferdash.studies.report import STUDIES
from tests.scenarios import canonical, edited, valid

_KEPT = json.loads(Path(__file__).with_name("golden_pairs.json").read_text(encoding="utf-8"))
GOLDEN, TEN = _KEPT["links"], _KEPT["ten"]
LIGHT = [name for name in STUDIES if name not in {"serving", "plan"}]


def pair_of(seed: int) -> Pair:
    """A pair from a seed: two scenarios of their own, or one and what some edits make of it."""
    a, random = valid(seed), Random(seed)  # noqa: S311 - nothing is kept secret with it
    if seed % 2:
        return Pair(a, valid(seed + 100_000))
    b = a
    for _ in range(random.randint(0, 4)):
        b = edited(b, random.choice([*FIELDS]), random) or b
    return Pair(a, canonical(b))


@pytest.mark.parametrize("seed", range(30))
def test_a_link_of_two_keeps_both(seed: int) -> None:
    pair = pair_of(seed)
    link = pairs.encode(pair)
    decoded = pairs.decode(f"?{link}")
    assert decoded.problems == ()
    assert decoded.pair.a == pair.a
    assert decoded.pair.b is not None
    assert pair.b is not None
    assert links.encode(decoded.pair.b) == links.encode(pair.b)
    assert pairs.encode(decoded.pair) == link


def test_what_counts_in_b_alone_is_kept_though_a_had_it_before() -> None:
    """An edit of A leaves values that no longer count in it, and so are not in its link."""
    random, lost = Random(3), 0  # noqa: S311 - nothing is kept secret with it
    for seed in range(40):
        b = valid(seed)
        for name in ("api", "layout", "speed", "disaggregated", "speculation", "runs_on", "load_as"):
            a = edited(b, name, random) or b
            decoded = pairs.decode(pairs.encode(Pair(a, b)))
            assert decoded.problems == ()
            assert decoded.pair.edited == b
            lost += {name for name in FIELDS if counts(name, b)} > {name for name in FIELDS if counts(name, a)}
    assert lost > 20


@pytest.mark.parametrize("seed", range(30))
def test_a_link_without_what_is_of_b_is_that_of_a_to_the_letter(seed: int) -> None:
    pair = pair_of(seed)
    kept = [part for part in pairs.encode(pair).split("&") if not part.startswith(("b.", "b="))]
    assert "&".join(kept) == links.encode(pair.a) == pairs.encode(Pair(pair.a))


@pytest.mark.parametrize("link", GOLDEN)
def test_golden_links_of_two_give_the_old_sentences(link: str) -> None:
    """As `golden_links.json` for one scenario: a link keeps its meaning, and what is said of it."""
    decoded = pairs.decode(link)
    a, b = decoded.pair.a, decoded.pair.b
    assert decoded.problems == ()
    assert f"?{pairs.encode(decoded.pair)}" == link
    assert b is not None
    assert {page: comparison.sentence(page, a, b) for page in GOLDEN[link]} == GOLDEN[link]


@pytest.mark.parametrize("name", TEN)
def test_each_of_ten_choices_is_answered_in_one_sentence(name: str) -> None:
    page, _, query = TEN[name].partition("?")
    said = GOLDEN[f"?{query}"][page]
    assert said.startswith("With B (")
    assert any(word in said for word in ("faster", "times as", "less", "more"))
    pair = pairs.decode(query).pair
    assert any(one.ratio and one.ratio != 1 for one in comparison.headlines(page, pair.a, pair.edited))


def test_what_fits_in_one_alone_is_no_equality() -> None:
    pair = pairs.decode("?model=llama-3.1-70b&b.gpus=2&v=2").pair
    a, b = pair.a, pair.edited
    assert comparison.sentence("overview", a, b) == "With B (GPUs: 2), 2 requests fit instead of 0."
    assert comparison.sentence("overview", b, a) == "With B (GPUs: 1), 0 requests fit instead of 2."


def test_what_b_loses_stands_after_what_it_gains() -> None:
    pair = pairs.decode("?model=qwen3-32b&gpus=2&b.engine=sglang&v=2").pair
    said = comparison.sentence("overview", pair.a, pair.edited)
    gains, _, losses = said.partition(", but ")
    for one in comparison.headlines("overview", pair.a, pair.edited):
        assert one.ratio
        assert one.said in (gains if one.gained else losses)


def test_other_answers_are_not_called_equal() -> None:
    a: Scenario = links.BASELINE
    for update, said in (({"model": "qwen3-8b"}, True), ({"kv": "fp8"}, True), ({"gpus": 2}, False)):
        assert bool(differing.beyond_numbers(a, a.model_copy(update=update))) == said


@pytest.mark.parametrize("page", STUDIES)
def test_a_scenario_beside_itself_differs_nowhere(page: str) -> None:
    a = links.BASELINE
    decoded = pairs.decode("?b=a&v=2").pair
    assert decoded == Pair(a, a)
    assert comparison.sentence(page, a, a) == "A and B are the same scenario."
    assert side_by_side.differences(STUDIES[page].study(a), STUDIES[page].study(a)) == []
    assert all(
        one.ratio == 1 or not one.comparable or not one.a.value for one in comparison.headlines(page, a, a) if one.a
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_swap_turns_every_ratio_round(seed: int) -> None:
    a = valid(seed, usual=True)
    b, _ = links.read({"batch": 2 * a.batch, "prompt": a.prompt + 100, "users": a.users / 3}, a)
    assert Pair(a, b).swapped().swapped() == Pair(a, b)
    for page in LIGHT:
        there = {one.name: one for one in comparison.headlines(page, b, a)}
        for one in comparison.headlines(page, a, b):
            back = there[one.name].ratio
            if one.ratio and back:
                assert math.isclose(one.ratio * back, 1), one.name


def test_a_limit_is_not_held_against_an_expectation() -> None:
    a = links.BASELINE
    b = a.model_copy(update={"speed": "limit"})
    found = {one.name: one for one in comparison.headlines("overview", a, b)}
    assert found["Output speed per request"].ratio is None
    assert found["Output speed per request"].said == "limit and expected"


@pytest.mark.parametrize(
    ("link", "field", "said"),
    [
        ("?b.batch=-3&v=2", "b.batch", "B: batch=-3 is not a whole number from 1 to 1,000,000."),
        ("?b.bach=3&v=2", "b.bach", "B: bach is no part of a scenario and is left out; did you mean batch?"),
        ("?b=3&v=2", "b", "b=3 is left out;"),
        ("?b.layers=3&v=2", "b.layers", "B: layers=3 says nothing about this scenario"),
        ("?b.batch=3", "v", "The link has no version at its end"),
    ],
)
def test_what_cannot_be_read_of_b_is_said_and_the_rest_applies(link: str, field: str, said: str) -> None:
    decoded = pairs.decode(link)
    assert decoded.pair.b is not None
    assert next(one.sentence for one in decoded.problems if one.field == field).startswith(said)


def test_a_report_of_two_has_both_and_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "?batch=16&b.weights=fp8&v=1", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    alone = answers.report("?batch=16&v=1"), answers.report("?weights=fp8&batch=16&v=1")
    for name, one in (("a", alone[0]), ("b", alone[1])):
        assert said[name] == json.loads(json.dumps({key: one[key] for key in STUDIES}))
    assert said["difference"]["fields"] == {"weights": ["bf16", "fp8"]}
    rows = {row["name"]: row for row in said["difference"]["numbers"]["compute_vs_memory"]}
    ratio = alone[1]["compute_vs_memory"]["decode"]["pass_s"] / alone[0]["compute_vs_memory"]["decode"]["pass_s"]
    assert rows["decode.pass_s"]["ratio"] == pytest.approx(ratio)
    assert main(["report", "?batch=16&b.weights=fp8&v=1", "--markdown"]) == 0
    assert "What differs: Weight precision: bf16 → fp8" in capsys.readouterr().out.replace("\\", "")


def test_one_link_of_two_is_compared_as_two_links_are() -> None:
    assert answers.compared("?batch=16&b.batch=64&v=2") == answers.compared("?batch=16&v=2", "?batch=64&v=2")


def test_a_change_of_a_link_of_two_changes_b() -> None:
    assert answers.changed("?b=a&v=2", {"batch": 64})["link"] == "?b.batch=64&v=2"


def test_two_tables_lie_side_by_side() -> None:
    a = Table(("s", "B"), (Row("x", "word", ("1", "2")), Row("y", "word", ("3", "4"))))
    b = Table(("s", "B"), (Row("x", "word", ("1", "5")), Row("z", "word", ("", "6"))))
    found = side_by_side.beside(a, b)
    assert found.columns == ("s, A", "s, B", "B, A", "B, B")
    assert [(row.label, row.values) for row in found.rows] == [
        ("x", ("1", "1", "2", "5")),
        ("z", ("", "", "", "6")),
        ("y", ("3", "", "4", "")),
    ]


def test_what_differs_is_named_by_titles_and_units() -> None:
    a: Scenario = links.BASELINE
    b = a.model_copy(update={"batch": 64, "queue": 0.25, "title": "After"})
    assert differing.told(a, b) == "Title: – → After; Batch: 1 → 64; Queue time: 0 s → 250 ms"
    assert urlencode(parse_qsl(pairs.encode(Pair(a, b)))) == "b.title=After&b.batch=64&b.queue=250ms&v=2"


def test_a_long_link_has_a_short_form_that_says_the_same() -> None:
    kept = 0
    for seed in range(60):
        pair = pair_of(seed)
        link = pairs.encode(pair)
        short = links.packed(link)
        decoded = pairs.decode(f"?{short}")
        assert decoded.problems == ()
        assert pairs.encode(decoded.pair) == link
        assert len(short) <= len(link)
        kept += short != link
    assert kept > 10


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        (b"a" * 50_000_000, "z holds more than 100,000 characters and is left out."),
        (b"batch=64&z=x&v=2", ""),
        (b"batch=\xff64&v=2", "is damaged or cut, and is left out."),
        (b"", "is damaged or cut, and is left out."),
    ],
)
def test_a_bomb_is_refused_before_it_is_made(inside: bytes, said: str) -> None:
    text = base64.urlsafe_b64encode(zlib.compress(inside, 9)).decode().rstrip("=")
    tracemalloc.start()
    decoded = pairs.decode(f"?z={text}&v=2")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5_000_000
    assert [one.sentence.endswith(said) for one in decoded.problems] == [True] * bool(said)
    assert decoded.pair.a.batch == (1 if said else 64)


def test_a_short_form_that_was_cut_says_so() -> None:
    short = links.packed(pairs.encode(Pair(valid(5), valid(6))))
    assert short.startswith("z=")
    found = pairs.decode(short[: len(short) // 2])
    assert [problem.field for problem in found.problems] == ["z"]


@pytest.mark.parametrize("page", STUDIES)
def test_every_headline_number_has_words_of_its_own(page: str) -> None:
    for link in ("?v=2", "?speed=limit&v=2", "?accelerator=m4-max&v=2", "?use_as=month&v=2"):
        for one in comparison.answer(page, links.decode(link).scenario).shown:
            assert (one.unit == "%") == (one.ratio is None) or one.ratio is ratios.UNSAID, one.name
