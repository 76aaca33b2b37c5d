"""The page docs/files.md: which files are read, from the declarations of dialects.

It is written anew by `python -m inferdash.pricing.dialects.documented > docs/files.md`.
"""

import sys
from typing import Final

from inferdash.pricing.dialects.declared import INPUT, OUTPUT, STORED, Dialect, dialects

_WORDS: Final = {
    "fresh": "input neither read from nor written to the cache",
    "read": "cache reads",
    "written": "cache writes",
    "hour": "one-hour cache writes",
    "undated": "cache writes of unknown lifetime",
    "tools": "input from tools",
    "answer": "output without reasoning",
    "thought": "reasoning",
}
_BEFORE: Final = """# Files that are read

`inferdash replay` and the page “Your traffic” read usage logs (CSV, JSON lines, JSON, or a folder or ZIP archive of
them), session files of coding assistants, and traces that name the blocks of their prompts. This page is generated from
the declarations in `presets/usage/`.

## How a log is understood

- Each maker's names are declared below, each with the tokens that it counts. A line is read in every dialect that knows
  all its counts and whose totals add up. If these dialects disagree, the line is left out.
- Spelling does not matter: `inputTokens`, `input_tokens`, `usage.input.tokens` and `input_tokens` within `usage` are
  the same name. Counts may stand in the record itself or within levels such as `usage`, `response`, `message`, `body`,
  `metadata`, `attributes` or `payload`.
- A JSON object may hold its requests in a list (`data`, `results`, `observations` and others), in one line or over
  many; also in pages, and in buckets of time, as the usage APIs of OpenAI and Anthropic answer.
- A line is left out, and the count named, if an unknown count is not 0 and mentions tokens or a cache or stands within
  `usage`. The same holds for tokens with their own price, such as audio.
- Lines about the same answer, by message id and request id, are one request; the last line counts.
- Where a maker omits a count that is 0, 0 is assumed, and a note says so.
- A session that was forked, resumed or handed to a sub-agent repeats lines of the earlier one; they count once.
- `codex exec --json` reports a thread's total after each turn; a turn counts as what it adds.
- An OpenTelemetry export, a line or an object with `resourceSpans` each, is read span by span; spans without attributes
  of a model are skipped.
- A name that appears twice in one object with different values, or a column that appears twice, is named and not read.
- What is billed separately from tokens, such as web searches, is not in the bill, and a note says so.
- Where a line says which service answered it (`service_tier`, Google's `trafficType`, `speed`, `usage_type`, a column
  `batch`, or the form of batch results with their `custom_id`), it costs what its model costs there: batch, flex,
  priority or fast. A line of a service with unknown prices is left out and named (`scale`, provisioned throughput,
  `inference_geo` of the US).
- Cache writes kept for an hour have their own price (`write_long`); without it there is no bill.
- A record's own cost (`cost`, `spend`, `total_cost` and the like, in dollars) is shown beside the bill.
- In a trace, tokens per block follow from the tokens and blocks of its prompts, and the time unit from the differences
  between times; both are shown, and both can be set (`--block`, `--time-unit`).
- Spreadsheet dates: in 02.11.2026 the day comes first. In 11/02/2026 the order follows from a number above 12, or from
  lines one day apart; otherwise lines are read without a time until you set it (`--dates`).
- Where any line has a time, lines without one are left out and named, wherever they stand. Without any time, all count.
- A column of requests (`requests`, `request_count`, `calls`) makes a line a sum of that many. A line with more input
  than its model accepts is a total too; so are all lines of a file with bare dates if one of them is, or if each day
  and model has exactly one line. Long-prompt prices do not apply to totals. `2,400,000` is read as a number.

A plain table needs a column of input tokens and one of output tokens. It may have `cached_tokens` (part of the input)
or `cache_read_input_tokens` and `cache_creation_input_tokens` (not part of it), a time, a model and a cost. Headers in
words, such as “Cached input tokens” or “of which cached”, are read as `cached_tokens`.

## Dialects
"""


def text() -> str:
    """The whole page, as Markdown."""
    return _BEFORE + "".join(_section(one) for one in dialects())


def _section(one: Dialect) -> str:
    rows = "".join(f"| `{name}` | {_meaning(parts, one)} |\n" for name, parts in one.counts.items())
    read = f"checked {one.checked}" if one.checked else "not checked at the maker: the names come from its users"
    said = [f"Source: {one.source}, {read}."]
    if one.some:
        said.append(f"Recognised by one of {_names(one.some)}.")
    if one.models:
        words = {"": "without a name"} | {name: f"whose name has “{name}”" for name in one.models if name}
        words |= {name: f"whose name has no “{name[1:]}”" for name in one.models if name.startswith("!")}
        said.append(f"Only with models {' or '.join(words[name] for name in one.models)}.")
    if one.silent:
        said.append(f"Omitted when 0: {', '.join(_WORDS[part] for part in one.silent)}.")
    if one.priced:
        said.append(f"Read only when 0: {_names(one.priced)}.")
    if one.sums:
        said.append("A row may add up many requests.")
    return f"\n### {one.name}\n\n{' '.join(said)}\n\n| name | holds |\n| --- | --- |\n{rows}"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _meaning(parts: tuple[str, ...], one: Dialect) -> str:
    own = {*parts} & one.told
    for whole, word in ((INPUT, "all input"), (OUTPUT, "all output"), ((*INPUT, *OUTPUT), "input and output")):
        if {*parts} == {*whole}:
            return word
    if own and own <= {*STORED} and len(own) > 1:
        return "cache writes"
    return ", ".join(_WORDS[part] for part in parts if part in own)


if __name__ == "__main__":
    sys.stdout.write(text())
