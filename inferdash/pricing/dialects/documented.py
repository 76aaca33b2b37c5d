"""The page docs/files.md: which files are read, from the declarations of dialects.

It is written anew by `python -m inferdash.pricing.dialects.documented > docs/files.md`.
"""

import sys
from typing import Final

from inferdash.pricing.dialects.declared import INPUT, OUTPUT, STORED, Dialect, dialects

_WORDS: Final = {
    "fresh": "neither read nor stored",
    "read": "read from the cache",
    "written": "stored",
    "hour": "stored for an hour",
    "undated": "stored, for a time that is not told",
    "tools": "put in by tools",
    "answer": "answer without reasoning",
    "thought": "reasoning",
}
_BEFORE: Final = """# Files that are read

`inferdash replay` and the page “Your traffic” read logs of usage (CSV, JSON lines, JSON, a folder or a ZIP archive of
such files), the session files of coding assistants, and traces that name the blocks of their prompts. This page is
made from the declarations in `presets/usage/`.

## How a log is understood

- Each maker's names are declared below, each with the parts that it holds. A line is read in the dialects that know all
  its counts; those whose sums do not add up are no candidates. What is left must agree, or the line is left out.
- How names are spelled plays no part: `inputTokens`, `input_tokens`, `usage.input.tokens` and a level `usage` with
  `input_tokens` in it are one. Counts stand in the record itself or within levels such as `usage`, `response`,
  `message`, `body`, `metadata`, `attributes` or `payload`.
- A count that is not 0, whose name speaks of tokens or a cache, or that stands within `usage`, and that is not known,
  leaves the line out and is named. So do tokens with a price of their own, such as sound.
- Lines that tell of one answer, by the id of the message and of the request, are one request; the last one counts.
- A line without a count that its maker leaves out where it is 0 is read so, and that is said.
- A session that was forked, resumed or handed to a sub-agent begins with lines of the one before it: they count once.
- A name that stands twice in one object with two values, or a column that stands twice, is named and not read.
- What is billed apart from tokens, such as web searches, is not in the bill, and that is said.
- Where a line says by which service it was answered (`service_tier`, Google's `trafficType`, `speed`, a column `batch`,
  or the form of a batch's results with its `custom_id`), it costs what its model does by that: batch, flex, priority or
  fast. A service without known prices leaves it out and is named (`scale`, provisioned throughput, `inference_geo` of
  the US).
- Storing for an hour has a price of its own (`write_long`); without one there is no bill.
- A record's own cost (`cost`, `spend`, `total_cost` and their like, in dollars) is compared with the bill.
- In a trace, the tokens of a block follow from the tokens and blocks of its prompts, and the unit of its times from
  their differences; both are said, and both can be said by hand (`--block`, `--time-unit`).
- Dates of spreadsheets: 02.11.2026 has the day first; of 11/02/2026 it follows from a number above 12, or from lines
  that are a day apart. Where it does not, lines are read without a time until it is said (`--dates`).
- A column of requests (`requests`, `request_count`, `calls`) makes a line a sum of so many. A line with more input than
  its model takes is a total as well; so are all lines of a file with bare dates where one is, or where each day and
  model has one line. No price of long prompts holds for a total. `2,400,000` is a number of tokens.

What is read of a plain table: a column of input tokens, one of output tokens, and where there is one `cached_tokens`
(a part of the input) or `cache_read_input_tokens` and `cache_creation_input_tokens` (apart from it). Beside them a
time, a model, a cost.

## Dialects
"""


def text() -> str:
    """The whole page, as Markdown."""
    return _BEFORE + "".join(_section(one) for one in dialects())


def _section(one: Dialect) -> str:
    rows = "".join(f"| `{name}` | {_meaning(parts, one)} |\n" for name, parts in one.counts.items())
    read = f"checked {one.checked}" if one.checked else "not read itself: the names are those that its users have shown"
    said = [f"Source: {one.source}, {read}."]
    if one.some:
        said.append(f"Known by one of {_names(one.some)}.")
    if one.models:
        words = {"": "without a name"} | {name: f"whose name has “{name}”" for name in one.models if name}
        words |= {name: f"whose name has no “{name[1:]}”" for name in one.models if name.startswith("!")}
        said.append(f"Only with models {' or '.join(words[name] for name in one.models)}.")
    if one.silent:
        said.append(f"Left out where it is 0: {', '.join(_WORDS[part] for part in one.silent)}.")
    if one.priced:
        said.append(f"Only read where they are 0: {_names(one.priced)}.")
    if one.sums:
        said.append("A row may sum up many requests.")
    return f"\n### {one.name}\n\n{' '.join(said)}\n\n| name | holds |\n| --- | --- |\n{rows}"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _meaning(parts: tuple[str, ...], one: Dialect) -> str:
    own = {*parts} & one.told
    for whole, word in ((INPUT, "all input"), (OUTPUT, "all output"), ((*INPUT, *OUTPUT), "input and output")):
        if {*parts} == {*whole}:
            return word
    if own and own <= {*STORED} and len(own) > 1:
        return "stored, for whatever time"
    return ", ".join(_WORDS[part] for part in parts if part in own)


if __name__ == "__main__":
    sys.stdout.write(text())
