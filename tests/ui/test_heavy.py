"""Heavy work runs elsewhere, so many at once, and ends when it is told to."""

import io
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from inferdash.pricing.logs.traces import Trace
from inferdash.scenario import Scenario
from inferdash.studies.price import own_log, own_requests, traffic, ways
from inferdash.ui.hosting import heavy


class StoppedError(BaseException):
    """As Streamlit ends a run."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The processes that were started."""
    found: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def remembered(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        found.append(real(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", remembered)
    yield found
    assert all(process.returncode is not None for process in found)


def nothing_told(_: float, __: str) -> None:
    """Nobody waits."""


def test_a_file_is_read_as_in_this_process() -> None:
    content = b'{"time": 1, "input_tokens": 1000000, "output_tokens": 5}\nnonsense\n'
    rules = ways.rules_of(ways.of(Scenario()))
    found = heavy.done(own_log.read, rules, told=nothing_told, content=memoryview(content))
    assert found == own_log.read(io.BytesIO(content), rules)
    assert len(heavy.done(own_requests.study, told=nothing_told, content=memoryview(content)).who) == 1
    assert heavy.done(os.getppid, told=nothing_told) == os.getpid()


@pytest.mark.parametrize("line", [b"1,1\n", b"\n", b"x\n", b" \n", b'{"a": 1}\n', b"\x00", b",", b"["], ids=repr)
def test_reading_ends_when_the_reader_stops_it(started: list[subprocess.Popen[bytes]], line: bytes) -> None:
    content = memoryview(b"in,out\n" + line * (100_000_000 // len(line)))
    began_s = time.monotonic()

    def told(share: float, waiting: str) -> None:
        assert 0 <= share <= 1
        assert not waiting
        if share:
            raise StoppedError

    with suppress(StoppedError):  # it may be through with it before
        heavy.done(traffic.study, ways.of(Scenario()), told=told, content=content)
    assert time.monotonic() - began_s < 20
    assert started[0].returncode in {0, -9}


@pytest.mark.usefixtures("started")
def test_what_is_stopped_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def told(_: float, __: str) -> None:
        if [*tmp_path.glob("*/*")]:
            raise StoppedError

    with pytest.raises(StoppedError):
        heavy.done(exec, "import tempfile, time; tempfile.mkdtemp(); time.sleep(600)", told=told)
    assert not [*tmp_path.iterdir()]


def test_work_that_does_not_end_is_stopped(started: list[subprocess.Popen[bytes]]) -> None:
    def told(_: float, __: str) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        heavy.done(time.sleep, 600, told=told)
    assert started[0].returncode == -9


def test_work_has_a_limit_of_memory_and_may_fail(started: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(heavy.HeavyWorkError, match="more than the 2 GB of memory"):
        heavy.done(bytearray, 3_000_000_000, told=nothing_told)
    with pytest.raises(heavy.HeavyWorkError, match="failed"):
        heavy.done(sys.exit, 3, told=nothing_told)
    assert len(started) == 2


def test_so_many_at_once_and_the_others_are_told() -> None:
    begun = [
        threading.Thread(target=heavy.done, args=(time.sleep, 1.5), kwargs={"told": nothing_told})
        for _ in range(heavy.AT_ONCE)
    ]
    for thread in begun:
        thread.start()
    time.sleep(0.3)
    said: list[str] = []
    assert heavy.done(abs, -1, told=lambda _, waiting: said.append(waiting)) == 1
    assert heavy.WAITING in said
    for thread in begun:
        thread.join()


def test_many_blank_lines_cost_nothing() -> None:
    content = b"in,out\n" + b"\n" * 50_000_000 + b"1,1\n"
    began_s = time.process_time()
    trace = Trace(io.BytesIO(content))
    assert [one.input_tokens for one in trace.requests()] == [1]
    assert time.process_time() - began_s < 5
    assert trace.left_out == 0
