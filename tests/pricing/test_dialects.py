"""Dialects: records of many makers, the same in other spellings, and with one name dropped, renamed or doubled."""

import io
import json
import re
import sys
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from inferdash.facts.money.rates import Rates, entered
from inferdash.pricing import tally
from inferdash.pricing.bills import replay
from inferdash.pricing.dialects import documented
from inferdash.pricing.dialects.declared import dialects
from inferdash.pricing.dialects.own_words import plain_column
from inferdash.pricing.dialects.reading import Reader
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.blocks import Written
from inferdash.pricing.logs.packed import Folder
from inferdash.pricing.logs.recorded import recorded
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.replay import Replay, Split

HERE: Final = Path(__file__).parent
RECORDS: Final = json.loads((HERE / "usage_records.json").read_text(encoding="utf-8"))
PRICES: Final = entered(Rates(*map(Decimal, ("3", "15", "0.3", "3.75", "6"))))
RULES: Final = Rules(minimum_tokens=1, increment_tokens=1, lifetime_s=300, renewed=True)
RATES: Final = (Decimal(3), Decimal("0.3"), Decimal("3.75"), Decimal(6), Decimal(15))
UNTOLD: Final = "not say what prompts have in common"


def counted(record: dict[str, Any]) -> tuple[Replay, Trace]:
    """What a log of one record comes to, and what is said of it."""
    trace = Trace(io.BytesIO(json.dumps(record).encode()))
    return replay(trace.requests(), RULES, PRICES), trace


def read(line: str) -> tuple[Decimal, Trace]:
    """The bill of a log, and what is said of it."""
    result, trace = counted(json.loads(line))
    return result.cost_usd, trace


TOLD: Final = {
    "read": "read from a cache",
    "written": "stored in a cache",
    "written_long": "stored for an hour",
}
"""What a note says of tokens of a kind that are taken for none."""


def is_told(result: Replay, trace: Trace, right: list[int]) -> bool:
    """Whether a note names what is taken for none, and nothing else is wrong."""
    own = result.tokens
    none = [kind for kind, phrase in TOLD.items() if any(f"{phrase}; 0 is" in note for note in trace.notes)]
    whole = own.input == sum(right[:4]) or "written" in none or "read" in none
    lost = [kind for kind, tokens in zip(TOLD, right[1:4], strict=True) if own.of(kind) < tokens]  # type: ignore[arg-type]
    return whole and own.output == right[4] and {*lost} <= {*none}


def bill(right: list[int]) -> Decimal:
    """Fresh, read, stored, stored for an hour and output, at their prices."""
    return sum((price * tokens for price, tokens in zip(RATES, right, strict=True)), Decimal(0)) / 1_000_000


@pytest.mark.parametrize("case", RECORDS, ids=[f"{n}-{case['source'][:30]}" for n, case in enumerate(RECORDS)])
def test_a_record_of_a_maker(case: dict[str, Any]) -> None:
    usd, trace = read(json.dumps(case["record"]))
    assert (trace.left_out, usd) == (0, bill(case["right"]))
    assert not any(UNTOLD in problem for problem in trace.problems) or case["right"][1:4] == [0, 0, 0]


# The same in other spellings


def snake(name: str) -> str:
    """inputTokens -> input_tokens."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def camel(name: str) -> str:
    """input_tokens -> inputTokens."""
    return re.sub(r"(?<=[a-zA-Z0-9])_([a-z0-9])", lambda found: found[1].upper(), name)


def dotted(name: str) -> str:
    """input_tokens -> input.tokens."""
    return snake(name).replace("_", ".")


def renamed(record: Any, spell: Callable[[str], str]) -> Any:
    """A record with all its names spelled anew."""
    if not isinstance(record, dict):
        return record
    return {spell(name): renamed(value, spell) for name, value in record.items()}


def flat(record: dict[str, Any], joint: str, above: str = "") -> Iterator[tuple[str, Any]]:
    """Levels joined into names."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from flat(value, joint, f"{above}{name}{joint}")
        else:
            yield f"{above}{name}", value


def without_zeros(record: Any) -> Any:
    """A record whose counts that are 0 are left out."""
    if not isinstance(record, dict):
        return record
    return {name: without_zeros(value) for name, value in record.items() if value != 0 or value is False}


def spellings(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A record in snake, camel and dotted names, nested and flat, with and without counts of 0."""
    for one in (record, without_zeros(record)):
        for spell in (snake, camel, dotted):
            anew = renamed(one, spell)
            yield anew
            yield dict(flat(anew, "." if spell is dotted else "_"))


def test_other_spellings_are_the_same_bill_or_refused() -> None:
    said: Counter[str] = Counter()
    wrong = []
    for case in RECORDS:
        for record in spellings(case["record"]):
            usd, trace = read(json.dumps(record))
            if trace.left_out:
                said["refused"] += 1
            elif usd == bill(case["right"]):
                said["the same"] += 1
            else:
                wrong.append((usd, case["right"], record, trace.problems))
    sys.stdout.write(f"spellings: {dict(said)}, another bill {len(wrong)}\n")
    assert wrong == []
    assert said["the same"] > 3 * said["refused"]


# One name dropped, renamed or doubled


def ways(record: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The way to each name of a record."""
    for name, value in record.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from ways(value, (*above, name))


def changed(record: dict[str, Any], way: tuple[str, ...], change: Callable[[dict[str, Any], str], None]) -> Any:
    """A record of which one name is changed."""
    copy = json.loads(json.dumps(record))
    inner = copy
    for name in way[:-1]:
        inner = inner[name]
    change(inner, way[-1])
    return copy


def drop(level: dict[str, Any], name: str) -> None:
    """Leaves a name out."""
    del level[name]


def rename(to: str) -> Callable[[dict[str, Any], str], None]:
    """Gives a value another name."""

    def change(level: dict[str, Any], name: str) -> None:
        level[to.format(name)] = level.pop(name)

    return change


def double(factor: int) -> Callable[[dict[str, Any], str], None]:
    """Says a value again under a like name, as it is or larger."""

    def change(level: dict[str, Any], name: str) -> None:
        value = level[name]
        level[camel(name) if camel(name) != name else snake(name)] = value
        level[f"{name}_2"] = value * factor if isinstance(value, int) else value

    return change


CHANGES: Final = {
    "dropped": drop,
    "renamed": rename("x_{}"),
    "renamed at its end": rename("{}_old"),
    "renamed to a stranger": rename("foo"),
    "doubled": double(1),
    "doubled and larger": double(2),
}


def test_a_name_that_is_changed_is_told_or_changes_nothing() -> None:
    """No other bill is silent: the line is left out and named, or the file no longer says what was read, and that is
    said, or it no longer says what its maker leaves out where it is 0, and that is said.
    """
    said: Counter[str] = Counter()
    silent = []
    for case in RECORDS:
        right = bill(case["right"])
        for way in ways(case["record"]):
            for name, change in CHANGES.items():
                record = changed(case["record"], way, change)
                result, trace = counted(record)
                usd = result.cost_usd
                if trace.left_out:
                    said["left out and named"] += 1
                elif usd == right:
                    said["right"] += 1
                elif any(UNTOLD in problem or "holds no requests" in problem for problem in trace.problems):
                    said["told: the file does not say what was read"] += 1
                elif is_told(result, trace, case["right"]):
                    said["told: taken for none, as its maker leaves it out then"] += 1
                else:
                    silent.append((name, way, case["source"], usd, right))
    sys.stdout.write(f"{len(RECORDS)} records: {dict(said)}, silently wrong {len(silent)}\n")
    assert silent == []


def test_doubled_in_the_text_itself() -> None:
    usd, trace = read('{"input_tokens": 9, "input_tokens": 9, "cached_tokens": 0, "output_tokens": 1}')
    assert (usd, trace.left_out) == (bill([9, 0, 0, 0, 1]), 0)


@pytest.mark.parametrize(
    "line",
    [
        '{"input_tokens": 9, "input_tokens": 8, "cached_tokens": 0, "output_tokens": 1}',
        '{"input_tokens" : 9, "cached_tokens" : 0, "output_tokens" : 1, "output_tokens" : 2}',
        '{"usage": {"input_tokens": 9, "output_tokens": 1}, "usage": {"input_tokens": 9, "output_tokens": 2}}',
        '{"usage": {"input_tokens": 9, "output_tokens": 1}, "output": [], "usage": {"input_tokens": 8}}',
        '[{"input_tokens": 9, "input_tokens": 8, "cached_tokens": 0, "output_tokens": 1}]',
    ],
)
def test_a_name_that_says_two_things_is_named(line: str) -> None:
    trace = Trace(io.BytesIO(line.encode()))
    assert [*trace] == []
    assert "one count two different values" in trace.problems[0]
    assert "_tokens" in trace.problems[0] or "usage" in trace.problems[0]


def test_a_column_that_stands_twice_is_named() -> None:
    trace = Trace(io.BytesIO(b"input_tokens,output_tokens,input_tokens\n5,6,7\n"))
    assert [*trace] == []
    assert "the column input_tokens twice" in trace.problems[0]


def test_an_answer_about_names_is_no_doubled_name() -> None:
    record = {"note": '{"input_tokens": 3}', "usage": {"input_tokens": 9, "output_tokens": 1}}
    trace = Trace(io.BytesIO(json.dumps(record).encode()))
    assert [one.input_tokens for one in trace.requests()] == [9]


# What is billed apart


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 0}}, "web searches (3)"),
        (
            {"server_side_tool_usage_details": {"x_search_calls": 2}, "num_server_side_tools_used": 2},
            "searches of X (2)",
        ),
        ({"server_tool_use": {"moon_calls": 1}}, "moon_calls (1)"),
        ({"iterations": [{"type": "compaction"}, {"type": "message"}]}, "compactions of the prompt (1)"),
    ],
)
def test_calls_of_tools_are_told(record: dict[str, Any], told: str) -> None:
    usage = {"input_tokens": 9, "output_tokens": 1, **record}
    trace = Trace(io.BytesIO(json.dumps({"usage": usage}).encode()))
    assert [one.input_tokens for one in trace.requests()] == [9]
    assert f"Billed separately from tokens and not in this bill: {told}." in trace.problems


def test_calls_of_tools_within_an_answer_are_told() -> None:
    record = {
        "object": "response",
        "output": [{"type": "web_search_call"}, {"type": "message"}, {"type": "web_search_call"}],
        "usage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10},
    }
    trace = Trace(io.BytesIO(json.dumps(record).encode()))
    assert len([*trace]) == 1
    assert trace.apart == {"web searches": 2}


def test_names_of_any_length_are_not_kept() -> None:
    """Memory of ten thousand lines whose names are long and all others is that of a few."""
    reader, before = Reader(), 0
    tracemalloc.start()
    for number in range(10_000):
        reader.read({"prompt_tokens": 5, "completion_tokens": 1, f"{number:070}": 1})
        if number == 5000:  # what is kept of names is full by then
            before = tracemalloc.get_traced_memory()[0]
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000


def test_every_dialect_is_named_once() -> None:
    names = [one.name for one in dialects()]
    assert len({*names}) == len(names)


def test_the_page_of_files_is_made_from_the_declarations() -> None:
    assert (HERE.parents[1] / "docs" / "files.md").read_text(encoding="utf-8") == documented.text()


# Files of assistants


def answer(message: str | None, asked: str | None, output: int, *, read_tokens: int = 100) -> str:
    """A line of a session that tells of an answer."""
    usage = {
        "input_tokens": 2,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": read_tokens,
        "output_tokens": output,
    }
    ids = {} if asked is None else {"requestId": asked}
    inner = {} if message is None else {"id": message}
    return json.dumps({"type": "assistant", "timestamp": 1, **ids, "message": {**inner, "usage": usage}})


FAR: Final = [answer("a", "r", 5), *(answer(f"x{n}", f"y{n}", 1) for n in range(400)), answer("a", "r", 5)]
"""A copy that comes when its answer was passed on long ago."""


@pytest.mark.parametrize(
    ("lines", "outputs"),
    [
        ([answer("a", "r", 1), answer("a", "r", 9)], [9]),
        ([answer("a", "r", 1), answer("a", None, 9)], [9]),
        ([answer("a", None, 1), answer("a", "r", 9)], [9]),
        ([answer("a", "r", 1), answer(None, "r", 9)], [9]),
        ([answer(None, "r", 1), answer("a", "r", 9)], [9]),
        ([answer("a", "r", 1), answer("a", "s", 9)], [1, 9]),
        ([answer("a", None, 1), answer("b", None, 9), answer("a", None, 7)], [7, 9]),
        (FAR, [5] + [1] * 400),
        ([answer("a", "r", 1), "{", answer("a", "r", 9)], [9]),
    ],
)
def test_lines_of_one_answer_are_one_request(lines: list[str], outputs: list[int]) -> None:
    trace = Trace(io.BytesIO("\n".join(lines).encode()))
    assert [one.output_tokens for one in trace.requests()] == outputs


def session(tokens: list[tuple[int, int]]) -> bytes:
    """A session of Codex: running totals of the input, and what was asked last."""
    infos = [
        {
            "total_token_usage": {"input_tokens": total, "output_tokens": 1},
            "last_token_usage": {"input_tokens": last, "cached_input_tokens": 0, "output_tokens": 1},
        }
        for total, last in tokens
    ]
    lines = [
        {"timestamp": "2026-09-09T10:00:05.000Z", "type": "event_msg", "payload": {"type": "token_count", "info": info}}
        for info in infos
    ]
    return "\n".join(map(json.dumps, lines)).encode()


def test_a_running_total_that_stands_still_is_no_request() -> None:
    trace = Trace(io.BytesIO(session([(10, 10), (10, 10), (25, 15)])))
    assert [one.input_tokens for one in trace.requests()] == [10, 15]
    assert any(note.startswith("1 line repeats an answer") for note in trace.notes)


def turn(thread: str, read: int, output: int, total: int) -> str:
    """The lines of a run of `codex exec --json`."""
    usage = {"input_tokens": total, "cached_input_tokens": read, "output_tokens": output}
    lines = [{"type": "thread.started", "thread_id": thread}, {"type": "turn.completed", "usage": usage}]
    return "\n".join(map(json.dumps, lines[not thread :])) + "\n"


@pytest.mark.parametrize(
    ("lines", "prompts", "left_out"),
    [
        (turn("a", 0, 20, 16504) + turn("a", 16000, 40, 85681), [16504, 85681 - 16504], 0),  # it goes on
        (turn("a", 0, 20, 100) + turn("b", 0, 5, 70) + turn("a", 90, 40, 300), [100, 70, 200], 0),
        (turn("", 0, 20, 100), [100], 0),
        (turn("", 0, 20, 100) + turn("", 0, 40, 300), [100], 1),  # of the same thread, or of another?
        (turn("a", 50, 20, 100) + turn("a", 40, 40, 300), [100], 1),
    ],
)
def test_a_turn_is_what_it_adds_to_its_thread(lines: str, prompts: list[int], left_out: int) -> None:
    trace = Trace(io.BytesIO(lines.encode()))
    assert ([one.input_tokens for one in trace.requests()], trace.left_out) == (prompts, left_out)
    assert not left_out or any("only a running total" in problem for problem in trace.problems)


@pytest.mark.parametrize("said", [{"cached": True}, {"cache_hit": True}, {"cache_hit": "True"}, {"cacheHit": "true"}])
def test_what_a_gateway_answered_itself_is_not_billed(said: dict[str, Any]) -> None:
    record = {"model": "gpt-4o-mini", "tokens_in": 100, "tokens_out": 20}
    trace = Trace(io.BytesIO(json.dumps(record | said).encode()))
    assert not [*trace.requests()]
    assert "a gateway’s own cache" in trace.problems[0]
    billed = Trace(io.BytesIO(json.dumps(record | {name: type(value)() for name, value in said.items()}).encode()))
    assert [one.input_tokens for one in billed.requests()] == [100]


def test_a_turn_of_grok_has_its_model_its_requests_and_its_cost() -> None:
    found = next(case["record"] for case in RECORDS if case["source"].startswith("Grok"))
    request = next(Trace(io.BytesIO(json.dumps(found).encode())).requests())
    assert (request.model, request.requests, request.usd) == ("grok-4.6-build", 75, Decimal("12.511778"))
    aside = {"method": "session/update", "params": {"update": {"sessionUpdate": "tool_call", "rawOutput": found}}}
    for line in (aside, {"method": "session/update", "params": {"_meta": {"totalTokens": 71784}}}):
        trace = Trace(io.BytesIO(json.dumps(line).encode()))
        assert not [*trace.requests()]


def header(own: str, **more: Any) -> bytes:
    """The first line of a session of Codex."""
    return json.dumps({"type": "session_meta", "payload": {"id": own, **more}}).encode() + b"\n"


SPAWNED: Final = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "a"}}}}
FIRST: Final = [(10, 10), (25, 15), (45, 20)]
"""Running totals of a session, and what was asked last."""


@pytest.mark.parametrize(
    ("fork", "more", "prompts"),
    [
        ([*FIRST, (50, 5)], {"forked_from_id": "a"}, [10, 15, 20, 5]),
        ([FIRST[0], (17, 7)], SPAWNED, [10, 15, 20, 7]),  # a sub-agent with a part of it
        ([(3, 3), (10, 7)], SPAWNED, [10, 15, 20, 3, 7]),  # and one without
        ([*FIRST, (50, 5)], {}, [10, 15, 20, 5]),  # as older versions wrote them
        ([FIRST[0], (17, 7)], {}, [10, 15, 20, 10, 7]),  # the first line alone may be chance
        (FIRST, {"id": "a"}, [10, 15, 20]),  # the same session again
    ],
)
def test_what_a_session_copies_counts_once(
    fork: list[tuple[int, int]], more: dict[str, Any], prompts: list[int], tmp_path: Path
) -> None:
    (tmp_path / "1.jsonl").write_bytes(header("a") + session(FIRST))
    (tmp_path / "2.jsonl").write_bytes(
        header(**{"own": "b", **more} if "id" not in more else {"own": "a"}) + session(fork)
    )
    trace = Trace(Folder(tmp_path))
    assert sorted(one.input_tokens for one in trace.requests()) == sorted(prompts)
    copied = len(FIRST) + len(fork) - len(prompts)
    assert copied == 0 or any(f"{copied} line" in note and "goes on from" in note for note in trace.notes)


def test_an_answer_that_a_session_tells_twice_counts_once() -> None:
    """Newer versions write what each answer took, and the running total after it."""

    def usage(tokens: int) -> dict[str, int]:
        return {"input_tokens": tokens, "cached_input_tokens": 0, "output_tokens": 1, "reasoning_output_tokens": 0}

    lines = []
    for number, tokens in enumerate((10, 15)):
        own = {"response_id": f"r{number}", "usage": usage(tokens), "thread_token_usage": usage(99 + number)}
        lines.append({"timestamp": number, "type": "token_usage_record", "payload": own})
        info = {"total_token_usage": usage(50 + number), "last_token_usage": usage(tokens)}
        lines.append({"timestamp": number, "type": "event_msg", "payload": {"type": "token_count", "info": info}})
    lines.append({"timestamp": 3, "type": "compacted", "payload": {"latest_token_usage_record": lines[-2]["payload"]}})
    for order in (lines, [lines[1], lines[0], lines[3], lines[2], lines[4]]):
        trace = Trace(io.BytesIO("\n".join(map(json.dumps, order)).encode()))
        assert ([one.input_tokens for one in trace.requests()], trace.left_out) == ([10, 15], 0)


@pytest.mark.parametrize("seekable", [True, False])
def test_an_archive_of_sessions_is_one_upload(seekable: bool) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p/b.jsonl", answer("a", "r", 9) + "\n" + answer("b", "s", 3))
        archive.writestr("p/a.jsonl", answer("a", "r", 9))
        archive.writestr("p/sub/agent-1.jsonl", answer("c", "t", 4))
        archive.writestr("p/picture.png", b"\x89PNG")
    held.seek(0)

    class Pipe:
        def read(self, size: int, /) -> bytes:
            return held.read(size)

    trace = Trace(held if seekable else Pipe())
    assert sorted(one.output_tokens for one in trace.requests()) == [3, 4, 9]
    assert (trace.left_out, trace.problems) == (0, ())
    assert "3 files are read as one; 1 of other kinds are skipped." in trace.notes


def test_a_folder_of_sessions_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.jsonl").write_text(answer("a", "r", 9), encoding="utf-8")
    (tmp_path / "sub" / "b.jsonl").write_text(answer("a", "r", 9) + "\n" + answer("b", "s", 3), encoding="utf-8")
    trace = Trace(Folder(tmp_path))
    assert [one.output_tokens for one in trace.requests()] == [9, 3]
    assert next(iter(Trace(Folder(tmp_path / "none"))), None) is None


@pytest.mark.parametrize("broken", [b"PK\x03\x04", b"PK\x03\x04" + bytes(1000)])
def test_a_broken_archive_says_so(broken: bytes) -> None:
    trace = Trace(io.BytesIO(broken))
    assert [*trace] == []
    assert trace.problems == ("The file looks like a ZIP archive, but cannot be opened.",)


# Traces


def rows(block: int, *, seconds: bool) -> str:
    """A made-up trace: prompts of any length whose ids are those of whole and begun blocks."""
    lengths = [5 * block + 9, 9 * block + block // 2, 21 * block, 33 * block + 1, 64 * block, 64 * block + 1]
    return "\n".join(
        json.dumps(
            {
                "timestamp": time if seconds else time * 1000,
                "input_length": length,
                "output_length": 1,
                "hash_ids": list(range(-(-length // block))),
            }
        )
        for time, length in enumerate(lengths)
    )


@pytest.mark.parametrize("block", [16, 24, 64, 512, 1024])
@pytest.mark.parametrize("seconds", [True, False])
def test_block_and_unit_follow_from_the_numbers(block: int, seconds: bool) -> None:
    trace = Trace(io.BytesIO(rows(block, seconds=seconds).encode()))
    requests = [*trace]
    assert {one.block_tokens for one in requests} == {block}
    assert [one.time_s for one in requests] == [0, 1, 2, 3, 4, 5]
    assert f"{block:,} tokens" in trace.notes[0]


def test_what_does_not_follow_is_asked_and_can_be_said() -> None:
    line = '{"timestamp": 0, "input_length": 100, "output_length": 1, "hash_ids": [1]}'
    asked = Trace(io.BytesIO(line.encode()))
    assert [*asked] == []
    assert "100 and more would fit" in asked.problems[0]
    (one,) = Trace(io.BytesIO(line.encode()), Written(block_tokens=512, unit="ms")).requests()
    assert one.block_tokens == 512
    with pytest.raises(ValueError, match="unit is h"):
        Written(unit="h")


# Cost


def test_the_cost_that_a_log_says_stands_beside_the_bill() -> None:
    log = '{"input_tokens": 1000000, "output_tokens": 0, "cost": 2.5}\n{"input_tokens": 5, "output_tokens": 0}'
    rules = Rules(minimum_tokens=0, increment_tokens=1, lifetime_s=1, renewed=True)
    found = recorded(tally.counted(Trace(io.BytesIO(log.encode())), (), ()), rules, lambda _: PRICES)
    assert found is not None
    assert (found.requests, found.usd, found.priced_usd) == (1, Decimal("2.5"), Decimal(3))
    assert found.difference_usd == Decimal("-0.5")


PERSONAL: Final = {
    "read": ("cached input tokens", "cached tokens", "cached input", "cached prompt tokens", "of which cached",
             "cache read tokens", "tokens read from cache", "cache hit tokens"),
    "write": ("", "cache write tokens", "tokens written to cache", "cache creation input tokens"),
    "style": ("Title Case", "Sentence case", "UPPER CASE", "snake_case", "camelCase", "kebab-case", "unit (tokens)"),
}  # fmt: skip
"""Headers as people write them, in words and in names of programs."""
IN_WORDS: Final = frozenset({"Title Case", "Sentence case", "UPPER CASE"})


def styled(words: str, style: str) -> str:
    """Words as a header of a style."""
    parts = words.split()
    return {
        "Title Case": words.title(),
        "Sentence case": words.capitalize(),
        "UPPER CASE": words.upper(),
        "snake_case": "_".join(parts),
        "camelCase": parts[0] + "".join(map(str.title, parts[1:])),
        "kebab-case": "-".join(parts),
        "unit (tokens)": words.replace(" tokens", "").capitalize() + " (tokens)",
    }[style]


@pytest.mark.parametrize("model", ["gpt-6-sol", "claude-sonnet-5-5"])
@pytest.mark.parametrize("read_as", PERSONAL["read"])
def test_headers_of_a_person_are_read_alike_or_refused_by_name(read_as: str, model: str) -> None:
    """In words, cached input is a part of the input, whatever the model and wherever its column stands."""
    worth = {"input tokens": 1000, read_as: 400, "output tokens": 50}
    for write in PERSONAL["write"]:
        is_plain = read_as.startswith(("cached", "of which")) and write != "cache creation input tokens"
        found = set()
        for style in PERSONAL["style"]:
            for names in ([*worth], [*reversed(worth)]):
                columns = {styled(name, style): worth[name] for name in names}
                columns |= {styled(write, style): 100} if write else {}
                text = f"model,{','.join(columns)}\n{model},{','.join(map(str, columns.values()))}\n"
                trace = Trace(io.BytesIO(text.encode()))
                requests = [*trace]
                said = " ".join(trace.problems)
                if is_plain and style in IN_WORDS:
                    assert [one.recorded for one in requests] == [Split(400, 100 if write else 0)], (columns, said)
                    assert requests[0].input_tokens == 1000
                elif not requests:
                    assert trace.left_out == 1
                    assert any(
                        word in said for word in (*columns, *map(plain_column, columns), " without ", " input")
                    ), said
                found |= {(one.input_tokens, one.recorded, one.output_tokens) for one in requests}
        assert len(found) <= 1


@pytest.mark.parametrize("usage", [{"input_tokens": 10, "output_tokens": 5}, {"inputTokens": 10, "outputTokens": 5}])
def test_counts_that_many_makers_write_alike_are_called_none_of_theirs(usage: dict[str, int]) -> None:
    record = {"type": "message", "model": "claude-sonnet-4-6", "usage": usage}
    trace = Trace(io.BytesIO(json.dumps(record).encode()))
    assert [(one.input_tokens, one.output_tokens, one.recorded) for one in trace.requests()] == [(10, 5, None)]
    assert trace.notes == ("Counts are read as those of a log without cached tokens.",)


def test_a_row_of_helicone_with_columns_of_audio_is_read_where_they_are_0() -> None:
    row = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200, "request_model": "gpt-5-mini",
           "prompt_cache_read_tokens": 400, "prompt_cache_write_tokens": 0, "prompt_audio_tokens": 0,
           "completion_audio_tokens": 0}  # fmt: skip
    for more, read in (({}, [(1000, Split(400, 0))]), ({"completion_audio_tokens": 7}, [])):
        trace = Trace(io.BytesIO(json.dumps(row | more).encode()))
        assert [(one.input_tokens, one.recorded) for one in trace.requests()] == read
        assert trace.left_out == 1 - len(read)
