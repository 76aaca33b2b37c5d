"""DuckDB as the engine of blocks asks it: each question is planned once, whatever lines it is about."""

import shutil
import tempfile
import weakref
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from inferdash.pricing.columns.parts import Rows


class Database:
    """An open database, with a folder for what its memory does not hold."""

    def __init__(self, path: str, *, threads: int, memory: str) -> None:
        """Opens it.

        Args:
            path: of its file; ":memory:" for none.
            threads: that it may use.
            memory: that it may use, as `1GB`.
        """
        aside = tempfile.mkdtemp(prefix="inferdash-")
        weakref.finalize(self, shutil.rmtree, aside, ignore_errors=True)
        config: dict[str, Any] = {"threads": threads, "memory_limit": memory, "temp_directory": aside}
        self._connection = duckdb.connect(path, config=config)
        self._planned: dict[str, str] = {}

    def run(self, question: str, *numbers: int) -> Any:
        """What comes of a question, which is planned with the first of its kind; `numbers` stand for its $1, $2, …"""
        return self._connection.execute(self._asked(question, *numbers))

    def sums(self, question: str) -> Any:
        """The rows of a planned question as a table of Arrow."""
        return self._connection.sql(self._asked(question)).to_arrow_table()

    def lines(self, question: str) -> Rows:
        """The numbers of lines that a planned question gives as `row`."""
        return np.asarray(self.run(question).fetchnumpy()["row"], np.int64)

    def hashes(self, question: str) -> Any:
        """The hashes that a question gives as `row`, as an array of whole numbers without a sign."""
        return self._connection.execute(question).fetchnumpy()["row"]

    def once(self, question: str, **named: int) -> list[tuple[Any, ...]]:
        """The rows of a question that is not asked for each block; `named` stand for its $names."""
        return self._connection.execute(question, named).fetchall()

    def with_table(self, name: str, table: Any) -> None:
        """Lets questions ask about a table of Arrow, or what gives one, by a name."""
        self._connection.register(name, table)

    def close(self) -> None:
        """Lets go of what it has."""
        self._connection.close()

    def _asked(self, question: str, *numbers: int) -> str:
        if question not in self._planned:
            name = f"asked{len(self._planned)}"
            self._connection.execute(f"prepare {name} as {question}")
            self._planned[question] = name
        return f"execute {self._planned[question]}" + (f"({', '.join(map(str, numbers))})" if numbers else "")


class Stream:
    """A table as questions scan it, by one name for all blocks."""

    def __init__(self, table: Any) -> None:
        """Begins with a table of the columns that all have."""
        self._table = table

    def take(self, table: Any, *, threads: int) -> None:
        """Goes on to another table with the same columns, in as many batches as threads."""
        self._table = pa.Table.from_batches(table.to_batches(max_chunksize=max(1, -(-len(table) // threads))))

    def let_go(self) -> None:
        """Holds no rows any more."""
        self._table = self._table.schema.empty_table()

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        """As Arrow hands tables over."""
        return self._table.__arrow_c_stream__(schema)
