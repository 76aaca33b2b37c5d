"""Requests through the rules of a cache: known answers, cases by hand, then laws."""

import dataclasses
import itertools
import lzma
from collections.abc import Iterable
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash import shipped
from inferdash.facts.money.rates import KINDS, PriceList, Rates, Tier, entered
from inferdash.pricing import kept as module
from inferdash.pricing.bills import replay, replays
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.replay import NotRead, Replay, Request, Split
from inferdash.pricing.tokens import Tokens, bill

MOONCAKE = shipped("presets") / "traces" / "mooncake_conversation_first1200s.jsonl.xz"
LISTED = Rates(input=Decimal(2), output=Decimal(10), read=Decimal("0.10"), write=Decimal("2.50"))
RATES = entered(LISTED)
TIERED = PriceList(
    "", "", LISTED, date(2026, 11, 29), "", (Tier(1000, Rates(Decimal(4), Decimal(15), Decimal("0.2"), Decimal(5))),)
)
RULES = Rules(minimum_tokens=512, increment_tokens=512, lifetime_s=300, renewed=True)


def mooncake(rules: Rules, *, write: str = "2.50") -> Replay:
    with lzma.open(MOONCAKE) as stream:
        trace = Trace(stream)
        result = replay(trace.requests(), rules, entered(dataclasses.replace(LISTED, write=Decimal(write))))
    assert (trace.problems, trace.left_out, trace.kind) == ((), 0, "mooncake")
    return result


def test_mooncake_without_a_cache() -> None:
    result = mooncake(RULES)
    assert result.requests == 3658
    assert result.cost_without_cache_usd == Decimal("110.80533")


def test_mooncake_for_300_s_renewed_by_use() -> None:
    result = mooncake(RULES)
    assert (result.read_tokens, result.written_tokens, result.fresh_tokens) == (13_629_952, 34_419_200, 979_458)
    assert round(result.cost_usd, 4) == Decimal("102.1180")


def test_mooncake_for_300_s_not_renewed() -> None:
    result = mooncake(dataclasses.replace(RULES, renewed=False))
    assert result.read_tokens == 12_041_216
    assert round(result.cost_usd, 3) == Decimal("105.931")


def test_mooncake_for_an_hour_loses_money() -> None:
    result = mooncake(dataclasses.replace(RULES, lifetime_s=3600), write="4.00")
    assert result.read_tokens == 15_857_664
    assert round(result.cost_usd, 4) == Decimal("145.0587")
    assert result.cost_usd > result.cost_without_cache_usd


@pytest.mark.parametrize(
    ("minimum", "increment", "read_tokens"),
    [(2048, 2048, 11_438_080), (1024, 512, 12_262_400), (4096, 512, 11_658_240)],
)
def test_mooncake_with_other_minimums(minimum: int, increment: int, read_tokens: int) -> None:
    rules = dataclasses.replace(RULES, minimum_tokens=minimum, increment_tokens=increment)
    assert mooncake(rules).read_tokens == read_tokens


def ask(time_s: float, tokens: int, *blocks: int, output: int = 0, block_tokens: int = 512) -> Request:
    return Request(time_s=time_s, input_tokens=tokens, output_tokens=output, blocks=blocks, block_tokens=block_tokens)


def split(requests: Iterable[Request], rules: Rules = RULES) -> tuple[int, int, int]:
    result = replay(requests, rules, RATES)
    return result.read_tokens, result.written_tokens, result.fresh_tokens


def why(requests: Iterable[Request], rules: Rules = RULES) -> NotRead:
    return replay(requests, rules, RATES).why


def test_two_requests_share_a_block() -> None:
    """600 = 512 + 88 and 1,100 = 512 shared + 512 new + 76; $ = (512 x .1 + 1,024 x 2.5 + 164 x 2 + 7 x 10) / 1e6."""
    requests = [ask(0, 600, 1, 2, output=3), ask(1, 1100, 1, 3, 4, output=4)]
    result = replay(requests, RULES, RATES)
    assert (result.read_tokens, result.written_tokens, result.fresh_tokens) == (512, 1024, 164)
    assert result.cost_usd == Decimal("0.0030092")
    assert result.cost_without_cache_usd == Decimal("0.00347")
    assert result.read_share == 512 / 1700
    assert result.why == NotRead(never_seen=1024, rest_of_block=164)


def test_requests_of_one_moment_see_those_before() -> None:
    assert split([ask(5, 512, 1), ask(5, 512, 1)]) == (512, 512, 0)


@pytest.mark.parametrize(("gap_s", "read"), [(299.9, 512), (300.0, 512), (300.1, 0)])
def test_a_gap_about_the_lifetime(gap_s: float, read: int) -> None:
    """1,764,400,000.3 s since 1970 and that plus 300 s are not 300 apart in floating point."""
    requests = [ask(1_764_400_000.3, 512, 1), ask(1_764_400_000.3 + gap_s, 512, 1)]
    assert split(requests) == (read, 1024 - read, 0)
    assert why(requests) == NotRead(never_seen=512, gap_over_lifetime=512 - read)


def test_use_renews_or_not() -> None:
    requests = [ask(0, 512, 1), ask(200, 512, 1), ask(400, 512, 1), ask(600, 512, 1)]
    assert split(requests) == (1536, 512, 0)
    assert split(requests, dataclasses.replace(RULES, renewed=False)) == (1024, 1024, 0)  # 400 stores, 600 reads


def test_what_stands_behind_an_expired_block_is_stored_again() -> None:
    """Block 2 was stored at 200 and is young at 400, but block 1 before it is not; both start anew at 400."""
    rules = dataclasses.replace(RULES, renewed=False)
    requests = [ask(0, 512, 1), ask(200, 1024, 1, 2), ask(400, 1024, 1, 2), ask(650, 1024, 1, 2)]
    result = replay(requests, rules, RATES)
    assert (result.read_tokens, result.written_tokens) == (512 + 0 + 1024, 512 + 512 + 1024)
    assert result.why == NotRead(never_seen=1024, gap_over_lifetime=1024)


def test_below_the_minimum_nothing_is_kept() -> None:
    rules = dataclasses.replace(RULES, minimum_tokens=1024)
    assert split([ask(0, 1000, 1, 2), ask(1, 1000, 1, 2)], rules) == (0, 0, 2000)
    assert why([ask(0, 1000, 1, 2)], rules) == NotRead(below_minimum=512, rest_of_block=488)


def test_a_match_below_the_minimum_is_no_read() -> None:
    """The second prompt shares 512 of its 1,024 tokens, so all 1,024 are stored, 512 of them again."""
    rules = dataclasses.replace(RULES, minimum_tokens=1024)
    requests = [ask(0, 1024, 1, 2), ask(1, 1024, 1, 3)]
    assert split(requests, rules) == (0, 2048, 0)
    assert why(requests, rules) == NotRead(below_minimum=512, never_seen=1536)


def test_an_increment_of_2048() -> None:
    """2,600 tokens keep 2,048; a prompt that shares only three of the four blocks reads nothing."""
    rules = Rules(minimum_tokens=2048, increment_tokens=2048, lifetime_s=300, renewed=True)
    first = ask(0, 2600, 1, 2, 3, 4, 5, 6)
    assert split([first], rules) == (0, 2048, 552)
    assert split([first, first], rules) == (2048, 2048, 2 * 552)
    assert split([first, ask(1, 2048, 1, 2, 3, 9)], rules) == (0, 4096, 552)
    assert why([first, first], rules) == NotRead(never_seen=2048, rest_of_block=2 * 552)


def test_an_increment_that_is_no_multiple_of_the_block() -> None:
    rules = Rules(minimum_tokens=100, increment_tokens=100, lifetime_s=300, renewed=True)
    request = ask(0, 330, 1, 2, 3, 4, 5, 6, block_tokens=64)  # 320 known, 300 kept
    assert split([request, request], rules) == (300, 300, 60)


def test_a_price_that_is_not_given_is_that_of_the_input() -> None:
    """hermes-agent#71468: gpt-4o, 1k fresh, 2k read, 50k stored, 500 out, no price of storing: $.135."""
    rates = Rates(input=Decimal("2.5"), output=Decimal(10), read=Decimal("1.25"))
    recorded = Split(read_tokens=2000, written_tokens=50_000)
    turn = Request(time_s=0, input_tokens=53_000, output_tokens=500, recorded=recorded)
    assert replay([turn], RULES, entered(rates)).cost_usd == Decimal(".135")
    bare = replay([turn], RULES, entered(Rates(input=Decimal(3), output=Decimal(15))))
    assert bare.cost_usd == bare.cost_without_cache_usd == Decimal(".1665")


def test_what_is_stored_for_an_hour_has_its_price() -> None:
    """oh-my-pi#6876: 344,139 tokens stored for an hour at twice $5 are $3.44139, not 1.25 times."""
    rates = Rates(input=Decimal(5), output=Decimal(25), write=Decimal("6.25"), write_long=Decimal(10))
    recorded = Split(read_tokens=0, written_tokens=344_139, written_long_tokens=344_139)
    request = Request(time_s=0, input_tokens=344_139, output_tokens=0, recorded=recorded)
    assert replay([request], RULES, entered(rates)).cost_usd == Decimal("3.44139")


def test_a_log_that_says_what_was_read_is_not_guessed() -> None:
    recorded = Split(read_tokens=60, written_tokens=30)
    result = replay([Request(time_s=0, input_tokens=100, output_tokens=5, recorded=recorded)], RULES, RATES)
    assert (result.read_tokens, result.written_tokens, result.fresh_tokens) == (60, 30, 10)
    assert result.why == NotRead(not_told=40)


@pytest.mark.parametrize(
    "change",
    [
        {"minimum_tokens": -1},
        {"increment_tokens": 0},
        {"lifetime_s": 0.0},
        {"lifetime_s": float("nan")},
    ],
)
def test_rules_that_are_none_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"it is"):
        dataclasses.replace(RULES, **change)  # type: ignore[arg-type]  # one field of any kind


@st.composite
def traffic(draw: st.DrawFn) -> list[Request]:
    """Conversations that share starts: the ids of a prompt are the prefixes of a word over two letters."""
    size = draw(st.sampled_from([1, 64, 512]))
    requests = []
    now = 0.0
    for word in draw(st.lists(st.text("ab", max_size=6), max_size=25)):
        now += draw(st.sampled_from([0, 0, 1, 7, 10, 40]))
        ids = tuple(word[: end + 1] for end in range(len(word)))
        tokens = max(0, len(word) * size - draw(st.integers(0, size - 1)))
        requests.append(
            Request(time_s=now, input_tokens=tokens, output_tokens=len(word), blocks=ids, block_tokens=size)
        )
    return requests


RULES_OF_ANY_KIND = st.builds(
    Rules,
    minimum_tokens=st.sampled_from([0, 1, 100, 512, 1024]),
    increment_tokens=st.sampled_from([1, 3, 100, 128, 512, 1024]),
    lifetime_s=st.sampled_from([1.0, 10.0, 45.0, 1e9]),
    renewed=st.booleans(),
)


@given(traffic(), RULES_OF_ANY_KIND)
def test_each_token_is_counted_once(requests: list[Request], rules: Rules) -> None:
    result = replay(requests, rules, RATES)
    assert min(result.read_tokens, result.written_tokens, result.fresh_tokens, *dataclasses.astuple(result.why)) >= 0
    assert result.tokens.input == sum(request.input_tokens for request in requests)
    assert sum(dataclasses.astuple(result.why)) == result.tokens.input - result.read_tokens
    assert result.requests == len(requests)
    assert result.output_tokens == sum(request.output_tokens for request in requests)
    assert result.cost_usd >= 0


@given(traffic(), RULES_OF_ANY_KIND)
def test_the_total_is_the_sum_of_the_bills_of_the_requests(requests: list[Request], rules: Rules) -> None:
    """What a request adds is what a replay through it has more than one up to it, and that is its bill."""
    runs = [replay(requests[:end], rules, TIERED) for end in range(len(requests) + 1)]
    for (before, after), request in zip(itertools.pairwise(runs), requests, strict=True):
        one = Tokens(*(after.tokens.of(kind) - before.tokens.of(kind) for kind in KINDS))
        assert one.input == request.input_tokens
        assert bill(one, TIERED).total_usd == after.cost_usd - before.cost_usd >= 0


@given(traffic(), RULES_OF_ANY_KIND, st.sampled_from([1.0, 3.0, 10.0]))
def test_a_longer_lifetime_never_reads_less(requests: list[Request], rules: Rules, longer: float) -> None:
    short = dataclasses.replace(rules, renewed=True)
    long = dataclasses.replace(short, lifetime_s=short.lifetime_s * longer)
    assert replay(requests, long, RATES).read_share >= replay(requests, short, RATES).read_share


@given(traffic(), RULES_OF_ANY_KIND)
def test_renewal_never_reads_less(requests: list[Request], rules: Rules) -> None:
    renewed, not_renewed = (dataclasses.replace(rules, renewed=renewed) for renewed in (True, False))
    assert replay(requests, renewed, RATES).read_tokens >= replay(requests, not_renewed, RATES).read_tokens


@given(traffic(), RULES_OF_ANY_KIND)
def test_at_one_price_a_cache_changes_nothing(requests: list[Request], rules: Rules) -> None:
    result = replay(requests, rules, entered(Rates(input=Decimal(2), output=Decimal(10))))
    assert result.cost_usd == result.cost_without_cache_usd


def test_what_has_expired_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dropping changes no answer: a run that drops at every turn is one that never does."""
    rules = dataclasses.replace(RULES, renewed=False)
    kept = mooncake(rules)
    monkeypatch.setattr(module, "_SWEEP_AT_LEAST", 100)
    assert mooncake(rules) == kept


def test_blocks_beyond_the_most_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BLOCKS", 8)
    monkeypatch.setattr(module, "_SWEEP_AT_LEAST", 4)
    requests = [ask(time, 512, time) for time in range(20)]
    result = replay([*requests, ask(20, 512, 19), ask(21, 512, 0)], RULES, RATES)
    assert result.read_tokens == 512  # the newest is still there
    assert result.forgotten_blocks > 0


def test_a_tier_holds_for_the_whole_of_each_request() -> None:
    """1,000 x 2 + 10 x 10 below the tier, 1,001 x 4 + 10 x 15 above it: the sum of both would be above it too."""
    both = [Request(time_s=0, input_tokens=tokens, output_tokens=10) for tokens in (1000, 1001)]
    result = replay(both, RULES, TIERED)
    assert result.cost_usd == Decimal("0.006254")
    assert (result.over_tier, result.over_tier_usd) == (1, Decimal("0.002052"))
    assert result.usd["output"] == Decimal("0.00025")


@given(traffic(), RULES_OF_ANY_KIND)
def test_several_ways_are_the_ways_one_by_one(requests: list[Request], rules: Rules) -> None:
    ways = [(rules, RATES), (RULES, TIERED)]
    assert replays(requests, ways) == tuple(replay(requests, *way) for way in ways)
