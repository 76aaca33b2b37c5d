"""Files of load tools as rows of a table of load tests.

Read are vllm bench serve, SGLang, GuideLLM, aiperf, inference-perf, trtllm-bench and llama-bench. Times between
tokens are those of a whole request: (latency - first token) / (tokens - 1). What some tools call so counts the first
token too, or gaps between pieces of several tokens; those are not taken.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final, TypeAlias

Row: TypeAlias = dict[str, str]
_APART: Final = 0.05
"""Share from which on two numbers of a file that should be the same are not."""


def rows(text: str) -> list[Row]:
    """The runs of a file, with columns of a table of load tests, and `note` where something in it does not fit.

    llama-bench's have `phase` (prefill or decode), `past` and `seconds` instead.

    Raises:
        ValueError: with a sentence, where no tool writes such a file.
    """
    found = _of_csv(text) if not text.lstrip().startswith(("{", "[")) else _of_json(text)
    if not found:
        raise ValueError("It is no file of a load tool that is known here.")
    return found


def _of_json(text: str) -> list[Row]:
    try:
        whole = [json.loads(text)]
    except ValueError:
        try:
            whole = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise ValueError(f"It is no JSON: {error}.") from None
    if len(whole) == 1 and isinstance(whole[0], list):
        whole = whole[0]
    objects = [one for one in whole if isinstance(one, dict)]
    if objects and all("metrics" in one and "metadata" in one and "benchmarks" not in one for one in objects):
        return _aiperf_lines(objects)
    return [row for one in objects for row in _of_object(one)]


def _of_object(one: Mapping[str, Any]) -> Iterator[Row]:
    for marks, reader in _READERS:
        if all(mark in one for mark in marks):
            yield from reader(one)
            return


def _number(one: Any, *path: str) -> float | None:
    """A number at a path, None where it is missing or none."""
    for name in path:
        one = one.get(name) if isinstance(one, Mapping) else None
    if isinstance(one, bool) or not isinstance(one, int | float | str):
        return None
    try:
        value = float(one)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _row(numbers: Mapping[str, float | None], notes: Sequence[str] = (), **words: str) -> Row:
    """A row of those that are known, and whether its speed and its latencies fit each other."""
    found = {name: f"{value:.9g}" for name, value in numbers.items() if value is not None and value > 0}
    if not found.keys() & {"concurrency", "rate"} and found.keys() >= {"requests_per_s", "latency_s"}:
        found["concurrency"] = f"{float(found['requests_per_s']) * float(found['latency_s']):g}"  # Little's law
    for name in ("prompt", "answer", "concurrency"):
        if name in found:
            found[name] = str(max(1, round(float(found[name]))))
    said = [*notes, *_unlike(numbers)]
    return found | words | ({"note": "; ".join(said)} if said else {})


def _unlike(numbers: Mapping[str, float | None]) -> Iterator[str]:
    first, between, answer, latency = (numbers.get(x) for x in ("ttft_mean_s", "tpot_s", "answer", "latency_s"))
    if first and between and answer and latency:
        whole = first + (answer - 1) * between
        if abs(whole / latency - 1) > _APART:
            yield f"its latency of {latency:.4g} s is not that of its tokens, {whole:.4g} s"
    requests, speed = numbers.get("requests_per_s"), numbers.get("output_tok_per_s")
    if requests and speed and answer and abs(requests * answer / speed - 1) > _APART:
        yield f"its {speed:.4g} tokens/s are not its requests times their tokens, {requests * answer:.4g}"


def _served(one: Mapping[str, Any]) -> Iterator[Row]:
    """Vllm bench serve and SGLang: a flat object a run."""
    done = _number(one, "completed")
    tokens = (_number(one, "total_input_tokens"), _number(one, "total_output_tokens"))
    notes = []
    length = _number(one, "spec_decode_acceptance_length") or _number(one, "accept_length")
    if length and length > 1:
        notes.append(f"ran with {length:.3g} tokens a pass from speculation, which is not expected here")
    failed = _number(one, "failed")
    if failed:
        notes.append(f"{failed:.0f} requests failed")
    rate = _number(one, "request_rate")
    yield _row(
        {
            "prompt": tokens[0] / done if done and tokens[0] else None,
            "answer": tokens[1] / done if done and tokens[1] else None,
            "concurrency": _number(one, "max_concurrency") or _number(one, "max_concurrent_requests"),
            "rate": rate,
            "ttft_mean_s": _milli(_number(one, "mean_ttft_ms")),
            "ttft_p50_s": _milli(_number(one, "median_ttft_ms")),
            "ttft_p90_s": _milli(_number(one, "p90_ttft_ms")),
            "tpot_s": _milli(_number(one, "mean_tpot_ms")),
            "latency_s": _milli(_number(one, "mean_e2el_ms") or _number(one, "mean_e2e_latency_ms")),
            "requests_per_s": _number(one, "request_throughput"),
            "output_tok_per_s": _number(one, "output_throughput"),
        },
        notes,
    )


def _milli(value: float | None) -> float | None:
    return None if value is None else value / 1e3


def _guidellm(one: Mapping[str, Any]) -> Iterator[Row]:
    for run in one["benchmarks"]:
        metrics = run.get("metrics", {}) if isinstance(run, Mapping) else {}

        def mean(name: str, of: str = "mean", *, at: Mapping[str, Any] = metrics) -> float | None:
            metric = at.get(name, {})
            return _number(metric.get("successful", metric) if isinstance(metric, Mapping) else None, of)

        config = run.get("config") or run.get("args") or {}
        yield _row(
            {
                "prompt": mean("prompt_token_count"),
                "answer": mean("output_token_count"),
                "concurrency": _number(config, "strategy", "streams") or mean("request_concurrency"),
                "ttft_mean_s": _milli(mean("time_to_first_token_ms")),
                "ttft_p50_s": _milli(mean("time_to_first_token_ms", "median")),
                "tpot_s": _milli(mean("inter_token_latency_ms")),
                "latency_s": mean("request_latency"),
                "requests_per_s": mean("requests_per_second"),
                "output_tok_per_s": mean("output_tokens_per_second"),
            }
        )


def _aiperf(one: Mapping[str, Any]) -> Iterator[Row]:
    yield _row(
        {
            "prompt": _number(one, "input_sequence_length", "avg"),
            "answer": _number(one, "output_sequence_length", "avg"),
            "concurrency": _number(one, "input_config", "loadgen", "concurrency"),
            "rate": _number(one, "input_config", "loadgen", "request_rate"),
            "ttft_mean_s": _milli(_number(one, "time_to_first_token", "avg")),
            "ttft_p50_s": _milli(_number(one, "time_to_first_token", "p50")),
            "ttft_p90_s": _milli(_number(one, "time_to_first_token", "p90")),
            "tpot_s": _milli(_number(one, "inter_token_latency", "avg")),
            "latency_s": _milli(_number(one, "request_latency", "avg")),
            "requests_per_s": _number(one, "request_throughput", "avg"),
            "output_tok_per_s": _number(one, "output_token_throughput", "avg"),
        }
    )


def _aiperf_lines(objects: Sequence[Mapping[str, Any]]) -> list[Row]:
    """aiperf, a line a request: the mean of them, and the mean of how many were in flight."""
    good = [one for one in objects if not one.get("error")]

    def mean(name: str) -> float | None:
        values = [value for one in good if (value := _number(one, "metrics", name, "value")) is not None]
        return sum(values) / len(values) if values else None

    starts, ends = (
        [value for one in good if (value := _number(one, "metadata", name)) is not None]
        for name in ("request_start_ns", "request_end_ns")
    )
    span_s = (max(ends) - min(starts)) / 1e9 if starts and ends else 0.0
    latency = _milli(mean("request_latency"))
    answer = mean("output_sequence_length")
    failed = len(objects) - len(good)
    return [
        _row(
            {
                "prompt": mean("input_sequence_length"),
                "answer": answer,
                "concurrency": len(good) * latency / span_s if latency and span_s else None,
                "ttft_mean_s": _milli(mean("time_to_first_token")),
                "tpot_s": _milli(mean("inter_token_latency")),
                "latency_s": latency,
                "output_tok_per_s": len(good) * answer / span_s if answer and span_s else None,
            },
            [f"{failed} requests failed"] if failed else [],
        )
    ]


def _inference_perf(one: Mapping[str, Any]) -> Iterator[Row]:
    good = one["successes"]
    latency = good.get("latency", {}) if isinstance(good, Mapping) else {}
    failed = _number(one, "failures", "count")
    yield _row(
        {
            "prompt": _number(good, "prompt_len", "mean"),
            "answer": _number(good, "output_len", "mean"),
            "rate": _number(one, "load_summary", "requested_rate"),
            "ttft_mean_s": _number(latency, "time_to_first_token", "mean"),
            "ttft_p50_s": _number(latency, "time_to_first_token", "median"),
            "ttft_p90_s": _number(latency, "time_to_first_token", "p90"),
            "tpot_s": _number(latency, "time_per_output_token", "mean"),
            "latency_s": _number(latency, "request_latency", "mean"),
            "requests_per_s": _number(good, "throughput", "requests_per_sec"),
            "output_tok_per_s": _number(good, "throughput", "output_tokens_per_sec"),
        },
        [f"{failed:.0f} requests failed"] if failed else [],
    )


def _trtllm(one: Mapping[str, Any]) -> Iterator[Row]:
    asked, speed = one["request_info"], one["performance"]
    yield _row(
        {
            "prompt": _number(asked, "avg_input_length"),
            "answer": _number(asked, "avg_output_length"),
            "concurrency": _number(asked, "avg_num_concurrent_requests"),
            "ttft_mean_s": _milli(_number(one, "streaming_metrics", "avg_ttft_ms")),
            "ttft_p50_s": _milli(_number(one, "streaming_metrics", "ttft_percentiles", "p50")),
            "ttft_p90_s": _milli(_number(one, "streaming_metrics", "ttft_percentiles", "p90")),
            "tpot_s": _milli(_number(one, "streaming_metrics", "avg_tpot_ms")),
            "latency_s": _milli(_number(speed, "avg_request_latency_ms")),
            "requests_per_s": _number(speed, "request_throughput_req_s"),
            "output_tok_per_s": _number(speed, "system_output_throughput_tok_s"),
        }
    )


def _llama(one: Mapping[str, Any]) -> Iterator[Row]:
    prompt, answer, depth = (_number(one, name) or 0.0 for name in ("n_prompt", "n_gen", "n_depth"))
    took = _number(one, "avg_ns")
    if not took:
        return
    notes, speed = [], _number(one, "avg_ts")
    if speed and abs((prompt + answer) / speed / (took / 1e9) - 1) > _APART:
        notes.append(f"its {speed:.4g} tokens/s are not its tokens over its time")
    if prompt and answer:
        notes.append("a prompt and an answer in one time, which is not told apart")
    phase = "prefill" if prompt else "decode"
    past = depth if prompt else depth + answer / 2
    seconds = took / 1e9 / (1 if prompt else max(1.0, answer))
    found = {"phase": phase, "past": f"{past:g}", "seconds": f"{seconds:.9g}", "prompt": f"{prompt:.0f}"}
    yield found | ({"note": "; ".join(notes)} if notes else {})


_READERS: Final[tuple[tuple[tuple[str, ...], Callable[[Mapping[str, Any]], Iterator[Row]]], ...]] = (
    (("benchmarks",), _guidellm),
    (("successes", "load_summary"), _inference_perf),
    (("request_info", "performance"), _trtllm),
    (("n_prompt", "n_gen", "avg_ns"), _llama),
    (("total_output_tokens", "output_throughput"), _served),
    (("time_to_first_token", "input_sequence_length"), _aiperf),
)
"""What marks a file, and who reads it."""


def _of_csv(text: str) -> list[Row]:
    head = text.lstrip("\ufeff").splitlines()[0] if text.strip() else ""
    if "n_prompt" in head and "avg_ns" in head:
        return [row for one in csv.DictReader(text.splitlines()) for row in _llama(one)]
    if head.startswith("Metric,avg"):
        return _aiperf_csv(text)
    return []


def _aiperf_csv(text: str) -> list[Row]:
    """Aiperf's two tables, one below the other, as its JSON has them."""
    one: dict[str, dict[str, str]] = {}
    heads: list[str] = []
    for cells in csv.reader(text.splitlines()):
        if cells and cells[0] == "Metric":
            heads = cells
        elif len(cells) > 1:
            key = cells[0].partition("(")[0].strip().lower().replace(" ", "_")
            one[key] = dict(zip(heads[1:], cells[1:], strict=False)) | {"avg": cells[1]}
    return list(_aiperf(one)) if "time_to_first_token" in one else []
