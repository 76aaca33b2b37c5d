"""What a bill of many lines takes: in blocks, by a query written by hand, and line by line. Times are of processors.

python -m bench.bills --lines 1000000 --folder FOLDER
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import gettempdir
from typing import Final

import duckdb

DIALECTS: Final = ("openai", "anthropic", "google", "table", "parquet")
"""Five logs of the same requests: three of JSON lines, one of CSV, one of Parquet."""
_BY_LINE: Final = 100_000
"""Lines that are read one by one; the time of all follows from them."""
_MADE: Final = """
    select i, 1790000000 + i * 3 % 2500000 as time, ['gpt-5-mini', 'gpt-5.5', 'gpt-4o'][i % 3 + 1] as model,
        100 + hash(i) % 100000 as prompt, (100 + hash(i) % 100000) // 3 as cached, 10 + hash(i + 1) % 3000 as answer
    from range({lines}) t(i)
"""
_LOGS: Final = {
    "openai": """select printf('chatcmpl-%024d', i) as id, 'chat.completion' as object, time as created, model,
        {prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer,
         prompt_tokens_details: {cached_tokens: cached, audio_tokens: 0},
         completion_tokens_details: {reasoning_tokens: answer // 2, audio_tokens: 0}} as usage""",
    "anthropic": """select printf('msg_%024d', i) as id, 'message' as type, time as timestamp,
        'claude-sonnet-4-6' as model,
        {input_tokens: prompt - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0,
         output_tokens: answer, service_tier: 'standard'} as usage""",
    "google": """select time, 'gemini-2.5-pro' as modelVersion,
        {promptTokenCount: prompt, cachedContentTokenCount: cached, candidatesTokenCount: answer,
         thoughtsTokenCount: answer // 2, totalTokenCount: prompt + answer + answer // 2} as usageMetadata""",
    "table": "select time, model, prompt as input_tokens, answer as output_tokens, cached as cached_tokens",
    "parquet": "select time, model, prompt as input_tokens, answer as output_tokens, cached as cached_tokens",
}
_BY_HAND: Final = {
    "openai": """select model, created // 86400, sum(usage.prompt_tokens), sum(usage.completion_tokens),
        sum(usage.prompt_tokens_details.cached_tokens), count(distinct id) from '{file}' group by all""",
    "anthropic": """select model, timestamp // 86400, sum(usage.input_tokens), sum(usage.output_tokens),
        sum(usage.cache_read_input_tokens), count(distinct id) from '{file}' group by all""",
    "google": """select modelVersion, time // 86400, sum(usageMetadata.promptTokenCount),
        sum(usageMetadata.candidatesTokenCount + usageMetadata.thoughtsTokenCount),
        sum(usageMetadata.cachedContentTokenCount) from '{file}' group by all""",
    "table": """select model, time // 86400, sum(input_tokens), sum(output_tokens), sum(cached_tokens)
        from '{file}' group by all""",
    "parquet": """select model, time // 86400, sum(input_tokens), sum(output_tokens), sum(cached_tokens)
        from '{file}' group by all""",
}
_READ: Final = """
import sys
from inferdash.facts.money.price_names import edges
from inferdash.pricing.tally import counted
from inferdash.pricing.logs.traces import Trace
engine = None
if sys.argv[2] == "blocks":
    from inferdash.pricing.columns.engine import Engine as engine
with open(sys.argv[1], "rb") as stream:
    counts = counted(Trace(stream, engine=engine), (), edges())
print(sum(sums.lines for sums in counts.told.values()), sum(sums.prompts for sums in counts.told.values()))
"""
_QUERY: Final = """
import duckdb, sys
engine = duckdb.connect(config={"threads": 2})
print(len(engine.execute(sys.argv[2]).fetchall()))
"""


def made(folder: Path, name: str, lines: int) -> Path:
    """A log with so many lines."""
    form = {"table": "csv", "parquet": "parquet"}.get(name, "json")
    path = folder / f"{name}-{lines}.{'jsonl' if form == 'json' else form}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        query = f"{_LOGS[name]} from ({_MADE.format(lines=lines)})"
        duckdb.connect(config={"threads": 2}).execute(f"copy ({query}) to '{path}' (format {form})")
    return path


def took(code: str, *arguments: str) -> tuple[float, float, float, str]:
    """Seconds of processors and of the clock of a program, its peak of memory in MB, and what it printed."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    timed = f"import resource\n{code}\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    command = [sys.executable, "-c", timed, *arguments]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.perf_counter() - started, float(out[-2]), out[0]


def main() -> int:
    """Prints a line for each log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()) / "bills")
    parser.add_argument("--logs", nargs="*", default=DIALECTS)
    given = parser.parse_args()
    print(f"{given.lines:,} lines: processor s, clock s, peak MB of each")
    for name in given.logs:
        path = made(given.folder, name, given.lines)
        hand = took(_QUERY, "", _BY_HAND[name].format(file=path))
        found = took(_READ, str(path), "blocks")
        shown = "   ".join(f"{one[0]:6.1f} {one[1]:6.1f} {one[2]:5.0f}" for one in (hand, found))
        said = f"{name:10} by hand, in blocks {shown}   times the query {found[0] / hand[0]:4.1f}"
        if name != "parquet":
            fewer = min(_BY_LINE, given.lines)
            line = took(_READ, str(made(given.folder, name, fewer)), "lines")[0] * given.lines / fewer
            said += f"   line by line {line:6.1f} ({line / found[0]:.1f}×)"
        print(said, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
