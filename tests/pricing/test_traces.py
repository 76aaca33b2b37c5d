"""Files of requests: how usage is counted, kinds of files, then files that are broken."""

import gzip
import io
import json
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferdash.facts.money.rates import Rates, entered
from inferdash.pricing.bills import replay
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs import file_notes, pieces, traces
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.logs.usage import UnreadLineError, usage
from inferdash.pricing.replay import UNTIMED, Replay, Request

RULES = Rules(minimum_tokens=1, increment_tokens=1, lifetime_s=300, renewed=True)
DOLLAR = entered(Rates(input=Decimal(1), output=Decimal(1)))


def read(content: str | bytes) -> tuple[list[Request], tuple[str, ...], Trace]:
    trace = Trace(io.BytesIO(content.encode() if isinstance(content, str) else content))
    requests = list(trace.requests())
    return requests, trace.problems, trace


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def billed(counted: dict[str, Any], *prices: str) -> Replay:
    """One line of a log, at the prices of input, read, storing and output."""
    rates = Rates(**dict(zip(("input", "read", "write", "output"), map(Decimal, prices), strict=True)))
    requests, problems, _ = read(lines({"time": 0, "model": "one"} | counted))
    assert problems == ()
    return replay(requests, RULES, entered(rates))


def test_c1_cached_tokens_are_inside_the_input() -> None:
    """earendil-works/pi#2148: 3,914 x .5 + 16,298 x .05 + 931 x 3; counted twice it was .0137139."""
    openai = {"usage": {"prompt_tokens": 20_212, "prompt_tokens_details": {"cached_tokens": 16_298}}}
    openai["usage"]["completion_tokens"] = 931
    result = billed(openai, ".5", ".05", ".5", "3")
    assert result.cost_usd == Decimal(".0055649")
    assert billed({"input": 20_212, "cached": 16_298, "output": 931}, ".5", ".05", ".5", "3") == result


def test_c3_google_counts_cached_tokens_inside_the_prompt() -> None:
    """litellm#14849, the split of the usage, at the prices of the high tier: 5,005 fresh."""
    google = {"promptTokenCount": 262_960, "cachedContentTokenCount": 257_955, "candidatesTokenCount": 1744}
    result = billed({"usageMetadata": google}, "2.5", ".625", "2.5", "15")
    assert (result.fresh_tokens, result.read_tokens) == (5005, 257_955)
    assert result.cost_usd == Decimal(".199894375")


def test_c4_anthropic_counts_cached_tokens_apart() -> None:
    """litellm#11364: 98,805 = 10 fresh + 66,360 read + 32,435 stored."""
    anthropic = {
        "input_tokens": 10,
        "cache_read_input_tokens": 66_360,
        "cache_creation_input_tokens": 32_435,
        "output_tokens": 5120,
    }
    result = billed({"usage": anthropic}, "5", ".5", "6.25", "25")
    assert (result.tokens.input, result.fresh_tokens) == (98_805, 10)
    assert result.cost_usd == Decimal(".36394875")
    hour = {"cache_creation": {"ephemeral_5m_input_tokens": 2435, "ephemeral_1h_input_tokens": 30_000}}
    assert billed({"message": {"usage": anthropic | hour}}, "5", ".5", "6.25", "25").tokens.written_long == 30_000
    del anthropic["cache_creation_input_tokens"]
    assert billed({"usage": anthropic | hour}, "5", ".5", "6.25", "25").written_tokens == 32_435


def test_c16_read_and_stored_tokens_are_parts_of_the_input() -> None:
    """OpenAI's guide: 2,600 = 2,000 read + 400 stored + 200; added on top it was .0165."""
    details = {"cached_tokens": 2000, "cache_write_tokens": 400}
    openai = {"input_tokens": 2600, "input_tokens_details": details, "output_tokens": 0}
    assert billed({"usage": openai}, "5", ".5", "6.25", "30").cost_usd == Decimal(".0045")


def test_c21_reasoning_is_inside_the_output_but_for_google() -> None:
    """opencode#17566: 14,746 x 30 + 1,944 x 180; with its 1,360 of reasoning added it was 1.0371."""
    details = {"prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 1360}}
    openai = {"prompt_tokens": 14_746, "completion_tokens": 1944} | details
    result = billed({"usage": openai}, "30", "30", "30", "180")
    assert result.cost_usd == Decimal(".7923")
    google = {"promptTokenCount": 14_746, "candidatesTokenCount": 584, "thoughtsTokenCount": 1360}
    assert billed({"usageMetadata": google}, "30", "30", "30", "180").cost_usd == result.cost_usd


def test_c22_the_output_is_not_more_than_the_total() -> None:
    """codeburn#1075: 251 output tokens, 53 of reasoning among them; 23,318 + 251 = 23,569."""
    openai = {
        "input_tokens": 23_318,
        "output_tokens": 251,
        "output_tokens_details": {"reasoning_tokens": 53},
        "total_tokens": 23_569,
    }
    counted = usage({"response": {"usage": openai}})
    assert counted.output_tokens == 251
    assert counted.input_tokens + counted.output_tokens == 23_569


@pytest.mark.parametrize(("tokens", "cached", "fresh"), [(29_065, 28_634, 431), (696_219, 696_190, 29)])
def test_c24_fresh_is_what_is_left(tokens: int, cached: int, fresh: int) -> None:
    """sub2api#445 and claude-code-hub#338 billed the whole input as fresh."""
    result = billed({"input_tokens": tokens, "cached_tokens": cached, "output_tokens": 0}, "1", "1", "1", "1")
    assert result.fresh_tokens == fresh


def test_c33_more_read_than_sent_is_an_error() -> None:
    with pytest.raises(UnreadLineError):
        usage({"input": 100, "cached": 200, "output": 1})
    requests, problems, trace = read(lines({"time": 0, "input": 100, "cached": 200, "output": 1}))
    assert (requests, trace.left_out) == ([], 1)
    assert problems == ("1 line has more cached tokens than tokens in its prompt.",)


def test_google_leaves_out_what_is_0() -> None:
    counted = usage({"usageMetadata": {"promptTokenCount": 7}})
    assert (counted.input_tokens, counted.output_tokens) == (7, 0)


def test_opentelemetry_counts_cached_tokens_inside() -> None:
    names = {"input_tokens": 100, "cache_read.input_tokens": 60, "cache_creation.input_tokens": 30, "output_tokens": 1}
    counted = usage({f"gen_ai.usage.{name}": tokens for name, tokens in names.items()})
    assert counted.input_tokens == 100
    assert counted.recorded is not None
    assert (counted.recorded.read_tokens, counted.recorded.written_tokens) == (60, 30)


SESSION = {
    "id": "one",
    "models": ["a"],
    "block_size": 64,
    "requests": [
        {"t": 0.0, "type": "s", "model": "a", "in": 130, "out": 5, "hash_ids": [1, 2]},
        {
            "t": 10.0,
            "type": "subagent",
            "requests": [
                {"t": 0.0, "type": "n", "model": "b", "in": 70, "out": 1, "hash_ids": [1]},
                {"t": 2.0, "type": "n", "model": "b", "in": 80, "out": 2, "hash_ids": [1]},
            ],
        },
        {"t": 20.0, "type": "s", "model": "a", "in": 200, "out": 7, "hash_ids": [1, 2, 3]},
    ],
    "totals": {"requests": 4},
}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_session_with_a_sub_agent(indent: int | None) -> None:
    """The sub-agent's times count from its start, and its ids are those of the session."""
    requests, problems, trace = read(json.dumps(SESSION, indent=indent))
    assert trace.kind == "session"
    assert [(one.time_s, one.input_tokens, one.output_tokens) for one in requests] == [
        (0, 130, 5),
        (10, 70, 1),
        (12, 80, 2),
        (20, 200, 7),
    ]
    assert requests[3].blocks == (1, 2, 3)
    assert {one.block_tokens for one in requests} == {64}
    assert replay(requests, RULES, DOLLAR).read_tokens == 64 + 64 + 128
    assert problems == ()
    assert len(trace.models) == 2


def test_a_session_that_is_cut() -> None:
    whole = json.dumps(SESSION)
    requests, problems, trace = read(whole[: whole.index('"in": 200')])
    assert (len(requests), trace.left_out) == (3, 1)
    assert problems[0] == "The file is cut off, or is not valid JSON from some point on."


def test_azure_says_nothing_about_prefixes() -> None:
    """The first lines of AzureLLMInferenceTrace_conv.csv (Azure/AzurePublicDataset)."""
    requests, problems, trace = read(
        "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
        "2023-11-16 18:15:46.6805900,374,44\r\n"
        "2023-11-16 18:15:50.9951690,396,109\r\n"
    )
    assert trace.kind == "azure"
    assert [(one.input_tokens, one.output_tokens) for one in requests] == [(374, 44), (396, 109)]
    assert requests[1].time_s - requests[0].time_s == pytest.approx(4.314579, abs=1e-6)
    assert problems == ("The file does not say what prompts have in common, so nothing is read from the cache there.",)
    assert replay(requests, RULES, DOLLAR).why.not_told == 770


@pytest.mark.parametrize(
    "time",
    [
        1_764_453_600,
        1_764_453_600_000,
        "1764453600",
        "2025-11-29T22:00:00Z",
        "2025-11-29 22:00:00",
        "2025-11-29T23:00+01:00",
    ],
)
def test_times(time: float | str) -> None:
    requests, _, _ = read(lines({"timestamp": time, "input": 1, "cached": 0, "output": 1}))
    assert requests[0].time_s == 1_764_453_600


def test_usage_as_csv_is_usage_as_json_lines() -> None:
    table = "time;model;input;cached;output\n0;a;100;60;5\n\n1;a;200;;6\n2;a;300.0;300;7\n"
    records = [
        {"time": time, "model": "a", "input": tokens, "cached": cached, "output": output}
        for time, tokens, cached, output in [(0, 100, 60, 5), (1, 200, 0, 6), (2, 300, 300, 7)]
    ]
    from_table, problems, _ = read(table)
    assert problems == ()
    assert from_table == read(lines(*records))[0]
    assert from_table == read(json.dumps(records))[0]
    assert from_table == read(json.dumps(records, indent=1))[0]
    assert from_table == read("\ufeff" + table)[0]


def test_a_table_in_the_words_of_anthropic() -> None:
    requests, _, _ = read(
        "timestamp,usage.input_tokens,usage.cache_read_input_tokens,usage.cache_creation_input_tokens,output_tokens\n"
        "0,10,66360,32435,5120\n"
    )
    assert requests[0].input_tokens == 98_805


def test_lines_without_a_time_are_counted() -> None:
    good = {"time": 0, "input": 5, "cached": 0, "output": 1}
    bad = {"input": 5, "cached": 0, "output": 1}
    written = (good, bad | {"input": 6}, bad | {"input": 7, "id": "a"}, good | {"input": 7, "id": "a"})
    for one in permutations(written):
        requests, problems, trace = read(lines(*one))
        left = [request for request in requests if request.time_s != UNTIMED]
        is_last = one.index(written[3]) > one.index(written[2])  # of two copies
        assert (len(left), trace.left_out) == ((2, 1) if is_last else (1, 2))
        assert problems == ("1 line has no time." if is_last else "2 lines have no time.",)
    _, problems, _ = read("time,input,cached,output\n0,5,0,1\n,5,0,1\n")
    assert problems == ("1 line has no time.",)


def test_a_log_of_usage_needs_no_times() -> None:
    requests, problems, trace = read(lines({"input": 5, "cached": 2, "output": 1}))
    assert (len(requests), trace.left_out, problems) == (1, 0, ("The file has no times.",))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{broken}", "1 line is not valid JSON."),
        ("[" * 100_000, "1 line is not valid JSON."),
        ("7", "1 line is not a JSON object."),
        ('{"time": 1, "output": 2}', "1 line has no count of input tokens."),
        ('{"time": 1, "input": 2}', "1 line has no count of output tokens."),
        ('{"time": 1, "input": -2, "output": 1}', "1 line has a negative token count."),
        ('{"time": 1, "input": 1e300, "output": 1}', "1 line has more than 10^12 tokens."),
        (
            '{"time": 1, "input": 2.5, "output": 1}',
            "1 line has a token count that is not a whole number (write 10000).",
        ),
        (
            '{"time": 1, "input": "10.000", "output": 1}',
            "1 line has a token count that is not a whole number (write 10000).",
        ),
        (
            '{"time": 1, "input": true, "output": 1}',
            "1 line has a token count that is not a whole number (write 10000).",
        ),
        (
            '{"time": 1, "input": [1], "output": 1}',
            "1 line has a token count that is not a whole number (write 10000).",
        ),
        ('{"time": "soon", "input": 1, "output": 1}', "1 line has a time that cannot be read."),
        ('{"time": NaN, "input": 1, "output": 1}', "1 line has a time that cannot be read."),
        ('{"time": 1' + "0" * 400 + ', "input": 1, "output": 1}', "1 line has a time that cannot be read."),
        ('{"timestamp": 1, "input_length": 1, "output_length": 1, "hash_ids": [[1]]}', "1 line has block ids that are"),
        ('{"input_length": 1, "output_length": 1, "hash_ids": [1]}', "1 line has no time."),
    ],
)
def test_a_line_that_is_left_out_has_a_reason(line: str, problem: str) -> None:
    good = '{"time": 0, "input": 5, "cached": 0, "output": 1}\n'
    requests, problems, trace = read(f"{good}{line}\n")
    assert (len(requests), trace.left_out) == (1, 1)
    assert [problems[0][: len(problem)]] == [problem]
    assert len(problems) == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "The file is empty."),
        (b" \n\n", "The file is empty."),
        (bytes(range(256)), "The file is not UTF-8 text."),
        ("time,input,output\n1,2,3\n".encode("utf-16"), "The file is not UTF-8 text."),
        (gzip.compress(b"{}"), "The file is compressed; unpack it first."),
        (b"Dear all,\nsee below\n", "The file is not a known list of requests:"),
        (b"1,2,3\n4,5,6\n", "The file is not a known list of requests:"),
        (b"time,input,output\n", "The file holds no requests."),
        (b"[]", "The file holds no requests."),
    ],
)
def test_a_file_that_holds_no_requests_says_so(content: bytes, problem: str) -> None:
    requests, problems, _ = read(content)
    assert requests == []
    assert [one[: len(problem)] for one in problems] == [problem]


def test_a_cut_file_is_read_up_to_there() -> None:
    whole = lines(*({"timestamp": n, "input_length": 600, "output_length": 1, "hash_ids": [n, -n]} for n in range(3)))
    requests, problems, _ = read(whole[:-9])
    assert (len(requests), problems) == (2, ("The last line is cut off.",))
    requests, problems, _ = read("time,input,cached,output\n1,2,1,3\n2,")
    assert (len(requests), problems) == (1, ("The last line is cut off.",))


def test_mixed_columns_are_counted() -> None:
    requests, problems, _ = read("time,input,cached,output\n1,2,1,3\n1,2\n1,2,1,3,4,5\n2,2,1,3,,\n")
    assert len(requests) == 2
    assert problems == ("2 lines have a different number of columns from the first line.",)


def test_repetition_and_disorder_are_said() -> None:
    first = {"time": 9, "input": 5, "cached": 0, "output": 1}
    requests, problems, trace = read(lines(first, first, first | {"time": 3}))
    assert (len(requests), trace.left_out) == (3, 0)
    assert problems == (
        "1 line repeats an earlier one; each is counted.",
        "1 line is earlier in time than the one before; the file’s order is kept, so a prompt may read what was stored later. Sort the file by time.",  # noqa: E501 - one sentence
    )


def test_a_line_that_is_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "PIECE", 100)
    monkeypatch.setattr(traces, "_MORE", 100)
    monkeypatch.setattr(pieces, "LONGEST", 1000)
    good = '{"time": 0, "input": 5, "cached": 0, "output": 1, "note": "' + "x" * 500 + '"}\n'
    requests, problems, _ = read(good + good.replace("x", "xxx") + good.replace("5", "6"))
    assert [one.input_tokens for one in requests] == [5, 6]
    assert problems == ("1 line is longer than 16 MB.",)


def test_no_more_lines_or_requests_than_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_notes, "MOST", 3)
    line = '{"time": 0, "in": 5, "out": 1}'
    for content, noun in (
        ("\n".join([line] * 4), "lines"),
        (f"{line}\nx\nx\nx", "lines"),
        ("time,in,out" + "\n0,5,1" * 4, "lines"),
        (f"[{','.join([line] * 4)}]", "requests"),
        ('{"block_size": 1, "requests": [' + ",".join(['{"t": 0, "in": 5, "out": 1}'] * 4) + "]}", "requests"),
        ('{"block_size": 1, "requests": [{"requests": [' + ",".join(["1"] * 4) + "]}]}", "requests"),
    ):
        requests, problems, trace = read(content)
        assert len(requests) <= 3
        assert f"The file has more than 3 {noun}; those after them are not read." in problems
        assert trace.left_out


def test_blank_lines_are_no_lines() -> None:
    content = "\n \n\r\n in,out\n" + "\n" * 200_000 + "  \n5,1\r\n\r\n \t\n" + "6,1" + "\n" * 70_000
    requests, problems, trace = read(content)
    assert [one.input_tokens for one in requests] == [5, 6]
    assert trace.left_out == 0
    assert len(problems) == 2


def test_names_and_ids_of_a_file_take_little_memory() -> None:
    long = "n" * 1_000_000
    line = {"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [long, long + "x"]}
    (one,), _, _ = read(json.dumps(line))
    assert len(one.blocks) == len(set(one.blocks)) == 2
    assert max(len(str(block)) for block in one.blocks) < 50
    (one,), _, _ = read(json.dumps(line | {"input_length": 2560, "hash_ids": [10**4000, 10**4000 + 1, 5, -1, -2]}))
    assert len(set(one.blocks)) == 5
    assert max(len(str(block)) for block in one.blocks) < 50
    _, _, trace = read(json.dumps({"time": 0, "in": 1, "out": 1, "model": long}))
    assert [len(name) for name in trace.models] == [100]


def test_more_columns_than_a_log_has() -> None:
    _, problems, _ = read("in,out" + ",x" * 1_000_000 + "\n1,1\n")
    assert problems == ("The first line has more than 1,000 columns, so it is not a list of requests.",)
    requests, problems, _ = read("in,out\n1,1\n" + "," * 1_000_000 + "\n2,1\n")
    assert [one.input_tokens for one in requests] == [1, 2]
    assert "1 line has a different number of columns from the first line." in problems


def test_sub_agents_below_each_other_without_end() -> None:
    inner = '{"t": 0, "in": 5, "out": 1}'
    for _ in range(300):
        inner = f'{{"requests": [{inner}]}}'
    requests, problems, trace = read(f'{{"block_size": 64, "requests": [{inner}]}}')
    assert (requests, trace.left_out) == ([], 1)
    assert problems


class Endless:
    """A log that never ends, and counts what was taken from it."""

    def __init__(self) -> None:
        self.taken = 0

    def read(self, size: int, /) -> bytes:
        self.taken += 1
        return b'{"time": %d, "input": 5, "cached": 0, "output": 1}\n' % self.taken if size else b""


def test_a_file_is_read_as_far_as_it_is_asked_for() -> None:
    log = Endless()
    requests = iter(Trace(log))
    for _ in range(10_000):
        next(requests)
    assert log.taken == pytest.approx(10_000, abs=2000)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(content: bytes) -> None:
    _, problems, _ = read(content)
    assert all(one.endswith(".") for one in problems)


@given(
    st.text('{}[]",:\n ab10-.timeinputoutput', max_size=80),
    st.sampled_from(["{", "[", '{"requests":[', "time,input,output\n"]),
)
def test_any_text_is_read_without_an_error(content: str, start: str) -> None:
    _, problems, _ = read(start + content)
    assert all(one.endswith(".") for one in problems)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "time",
                    "input",
                    "output",
                    "usage",
                    "hash_ids",
                    "input_length",
                    "output_length",
                    "t",
                    "in",
                    "out",
                    "timestamp",
                    "cached",
                    "requests",
                    "message",
                    "promptTokenCount",
                    "cache_creation",
                    "model",
                    "cache_read_input_tokens",
                    "request_id",
                    "block_size",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


def test_counts_of_two_dialects_that_are_all_0_are_no_request() -> None:
    assert read('{"promptTokenCount": 0, "input": 0}')[0] == []


@given(st.lists(JSON, max_size=4), st.booleans())
def test_any_json_is_read_without_an_error(records: list[Any], listed: bool) -> None:
    content = json.dumps(records) if listed else lines(*records)
    requests, _, trace = read(content)
    result = replay(requests, RULES, DOLLAR)
    assert min(result.fresh_tokens, result.read_tokens, result.written_tokens) >= 0
    assert trace.left_out >= 0


@pytest.mark.parametrize("indent", [None, 2])
def test_an_export_of_opentelemetry_is_read_span_by_span(indent: int | None) -> None:
    """As the collector's exporter to a file writes it, in the JSON of OTLP: numbers are texts there."""

    def span(**attributes: Any) -> dict[str, Any]:
        named = {name.replace("__", "."): value for name, value in attributes.items()}
        said = [{"key": name, "value": {"intValue" if str(value).isdigit() else "stringValue": value}}
                for name, value in named.items()]  # fmt: skip
        return {"name": "a", "kind": 3, "startTimeUnixNano": "1793000000000000000", "attributes": said}

    counts = {
        "gen_ai__usage__input_tokens": "33000",
        "gen_ai__usage__output_tokens": "500",
        "gen_ai__usage__cache_read__input_tokens": "30000",
        "gen_ai__usage__cache_creation__input_tokens": "2000",
    }
    spans = [
        span(gen_ai__operation__name="chat", gen_ai__request__model="claude-sonnet-4-5", **counts),
        span(http__request__method="POST", http__response__status_code="200"),
        span(gen_ai__operation__name="invoke_agent", gen_ai__request__model="claude-sonnet-4-5", **counts),
    ]
    export = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "x"}, "spans": spans}]}]}
    requests, problems, trace = read((json.dumps(export, indent=indent) + "\n") * 2)
    assert problems == ()
    assert [(one.input_tokens, one.output_tokens, one.model) for one in requests] == [
        (33000, 500, "claude-sonnet-4-5")
    ] * 2
    assert [one.recorded and one.recorded[:2] for one in requests] == [(30000, 2000)] * 2
    assert any(note.startswith("4 ") and "skipped" in note for note in trace.notes)
