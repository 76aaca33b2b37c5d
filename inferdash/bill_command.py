"""The command `inferdash bill`: logs of any size, with their progress; what stops it leaves nothing behind."""

import argparse
import csv
import glob
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from inferdash.facts.money.price_names import edges
from inferdash.pricing.logs.blocks import Written
from inferdash.pricing.logs.engines import engine, has_packages
from inferdash.pricing.logs.packed import Folder
from inferdash.pricing.logs.records import Records
from inferdash.pricing.logs.resumed import Kept, resumed
from inferdash.pricing.logs.traces import Trace
from inferdash.pricing.tally import Counts, counted
from inferdash.studies.price import bill

T = TypeVar("T")
_NOT_READ_IN_FULL: Final = 2
_STOPPED: Final = 130
"""As a program that was interrupted ends."""
_WORTH_SAYING: Final = 1 << 20
"""Bytes from which on it is said that they could be read faster."""
_EVERY_S: Final = 0.5
_SECONDS: Final = 90


def add_to(commands: Any) -> None:
    """Adds the command to a parser's others."""
    costs = commands.add_parser("bill", help="what logs of any size cost at the list prices of each model and day")
    costs.add_argument(
        "source",
        metavar="SOURCE",
        nargs="+",
        help="files, folders or patterns of logs: JSON lines, CSV, Parquet; .gz and .zst are unpacked on the way",
    )
    costs.add_argument("--table", default="", help="a table, where SOURCE is a database: postgres://user@host/database")
    costs.add_argument("--by", default="model", help="what it is parted by: model, day, month, user (model)")
    costs.add_argument(
        "--against", default="", metavar="MODELS", help="other models at which the same tokens are billed"
    )
    costs.add_argument("--dates", choices=("month", "day"), default="", help="what stands first in 11/02/2026")
    costs.add_argument(
        "--resume", metavar="FOLDER", default="", help="where progress is kept, so that the same command goes on"
    )
    form = costs.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON, dollars as exact decimals")
    form.add_argument("--csv", action="store_true", help="as CSV")
    form.add_argument("--parquet", metavar="FILE", help="as Parquet, into a new file")


def run(given: argparse.Namespace) -> int:
    """Prints the bill of what was given, and returns the exit status."""
    by = tuple(filter(None, (name.strip() for name in given.by.split(","))))
    against = tuple(filter(None, (name.strip() for name in given.against.split(","))))
    try:
        if "://" in given.source[0] or given.table:
            log, items = _of_table(given.source, given.table, users="user" in by)
            counts = counted(items, (bill.NO_RULES,), edges())
        else:
            files = _files(given.source)
            written, users, sums = Written(dates=given.dates), "user" in by, _engine(files.size)
            if given.resume:
                kept = Kept(Path(given.resume))
                log, counts = _resumed(files, kept, written, users=users, engine=sums)
            else:
                log = Trace(files, written, engine=sums, users=users)
                counts = counted(_watched(iter(log), lambda: files.bytes_read, files.size), (bill.NO_RULES,), edges())
        found = bill.bill(counts, by=by, against=against, day=datetime.now(tz=UTC).date(), dialects=log.dialects)
        problems = [*log.problems, *found.problems]
        _print(given, found, by, problems=problems, notes=log.notes, left_out=log.left_out)
        if given.resume:
            kept.remove()
    except (KeyboardInterrupt, RuntimeError) as error:  # the second is what an engine makes of the first
        if isinstance(error, RuntimeError) and "interrupted" not in str(error):
            raise
        goes_on = (
            "The same command goes on from the last file that was kept." if given.resume else "Nothing was written."
        )
        print(f"\ninferdash: Stopped. {goes_on}", file=sys.stderr)
        return _STOPPED
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.filename is None:  # what it is about is no file: the output
            raise
        sentence = f"{error.filename} cannot be read: {error.strerror}." if isinstance(error, OSError) else str(error)
        if given.json:
            print(json.dumps({"problems": [sentence]}, indent=2, ensure_ascii=False))
        print(f"inferdash: {sentence}", file=sys.stderr)
        return _NOT_READ_IN_FULL
    return _NOT_READ_IN_FULL if log.left_out else 0


def _of_table(sources: Sequence[str], table: str, *, users: bool) -> tuple[Any, Iterator[Any]]:
    """A table of a database, and its requests.

    Raises:
        ValueError: with a sentence, where it is none that is read.
    """
    if len(sources) > 1 or "://" not in sources[0] or not table:
        raise ValueError(
            "A database is one address, and --table its table: postgres://user@host/database --table usage."
        )
    if not has_packages():
        raise ValueError("A database needs more packages: pip install 'inferdash[logs]'.")
    from inferdash.pricing.columns.warehouse import Warehouse  # noqa: PLC0415 - as said

    records = Records(Written(), users=users)
    requests = Warehouse(sources[0], table, users=users).requests(records)
    return records, records.told.counted(requests)


def _files(sources: Sequence[str]) -> Folder:
    """The files that some names and patterns mean.

    Raises:
        ValueError: with a sentence, where one means none.
    """
    found: list[Path] = []
    for source in sources:
        here = (
            [Path(source)]
            if Path(source).exists()
            else [Path(one) for one in sorted(glob.glob(source, recursive=True))]  # noqa: PTH207 - a pattern may begin at the root
        )
        if not here:
            raise ValueError(f"{source} cannot be read: there is no such file or folder.")
        found += here
    return Folder(*dict.fromkeys(found))


def _engine(size: int) -> Any:
    """What sums lines up, where there are enough of them; that its packages are not there is told."""
    found = engine(size)
    if size >= _WORTH_SAYING and not has_packages():
        print("inferdash: This is read some times as fast with pip install 'inferdash[logs]'.", file=sys.stderr)
    return found


def _resumed(files: Folder, kept: Kept, written: Written, *, users: bool, engine: Any) -> tuple[Records, Counts]:
    """The files as one log, those that were done before not again."""
    whole = files.size

    def watched(items: Iterator[T], at: Callable[[], int]) -> Iterator[T]:
        return _watched(items, at, whole)

    return resumed(
        files,
        kept,
        rules=(bill.NO_RULES,),
        edges=[*edges()],
        written=written,
        users=users,
        engine=engine,
        watched=watched,
    )


def _watched(items: Iterator[T], at: Callable[[], int], whole: int) -> Iterator[T]:
    """Passes on what is read, and says on a terminal how far it is and how long it takes yet."""
    if not sys.stderr.isatty():
        yield from items
        return
    started, first = time.monotonic(), at()
    said = started
    for item in items:
        now = time.monotonic()
        if now - said > _EVERY_S and (read := at()):
            said = now
            print(f"\r{progress(read, whole, now - started, before=first)}\x1b[K", end="", file=sys.stderr, flush=True)
        yield item
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def progress(read: int, whole: int, seconds: float, *, before: int = 0) -> str:
    """How far it is, and how long it takes yet; `before`: bytes that were read when the clock started."""
    left = seconds * max(0, whole - read) / max(1, read - before)
    span = f"{left:.0f} s" if left < _SECONDS else f"{left / 60:.0f} min"
    return f"{read / 1e9:.2f} of {whole / 1e9:.2f} GB, {span} left"


def _print(
    given: argparse.Namespace,
    found: bill.Bill,
    by: Sequence[str],
    *,
    problems: Sequence[str],
    notes: Sequence[str],
    left_out: int,
) -> None:
    rows = [*bill.rows(found, by)]
    if given.json:
        others = [
            {"model": name, "usd": None if lacks else bill.exact(one.cost_usd)} for name, one, lacks in found.others
        ]
        whole = bill.numbers(found.whole)
        answer = {**whole, "by": rows, "against": others, "left_out": left_out, "problems": problems, "notes": notes}
        print(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    if given.csv:
        table = csv.DictWriter(sys.stdout, [*by, *bill.numbers(found.whole)], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    elif given.parquet:
        _write(Path(given.parquet), rows or [bill.numbers(found.whole)])
    else:
        print(bill.text(found, by))
    for sentence in (*problems, *notes):
        print(f"- {sentence}", file=sys.stderr if given.csv else sys.stdout)


def _write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """A new file, or none."""
    import pyarrow as pa  # noqa: PLC0415 - for those who ask for it
    import pyarrow.parquet as pq  # noqa: PLC0415 - as well

    beside = path.with_name(f".{path.name}.part")
    try:
        pq.write_table(pa.Table.from_pylist([*rows]), beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
