"""Lines of text as columns, in the words of DuckDB: which names they have is learned from some of them.

A line is whole where the columns are all that it has: a name that was not met before, one that stands twice, or a value
of another kind than was met leaves it to the reader of lines.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, TypeAlias

import pyarrow as pa

from inferdash.pricing.columns.cells import Column, Form
from inferdash.pricing.columns.sums import MOST_COLUMNS
from inferdash.pricing.dialects.fees import MADE_OF, SPOKEN_OF
from inferdash.pricing.dialects.plans import layout_of
from inferdash.pricing.dialects.shapes import DEEPEST, LABELS, TEXTS, Path, is_text_level
from inferdash.pricing.values import Record

_MOST_LEAVES: Final = 400
_LONG: Final = 200
"""Letters of a text that may well hold JSON of its own."""

KEY: Final = "hash(trim(line, ' ' || chr(9) || chr(10) || chr(13) || chr(65279)))"
"""What two lines that say the same have in common."""
_NULLS: Final = ('":null', '": null')
_COMMAS: Final = (",}", ",]", ", }", ", ]")
"""What an engine reads and JSON does not have."""
Tree: TypeAlias = dict[str, Any]


class Names:
    """The names of lines of JSON at all levels, as they were met."""

    def __init__(self) -> None:
        self.tree: Tree = {}
        self.opaque: set[Path] = set()
        """Ways to texts and lists that may hold names of their own."""
        self._kept: tuple[int, int] = (0, 0)

    def learn(self, records: Iterable[Record]) -> bool:
        """Takes in the names of some records, and says whether any was new."""
        for record in records:
            self._learn(record, self.tree, ())
        size = sum(1 for _ in _ways(self.tree)), len(self.opaque)
        new, self._kept = size != self._kept, size
        return new

    def _learn(self, record: Record, tree: Tree, above: Path) -> None:
        for name, value in record.items():
            way = (*above, name)
            if type(value) is dict and len(way) <= DEEPEST:
                if tree.get(name) is None:
                    tree[name] = {}
                    self.opaque.discard(way)
                self._learn(value, tree[name], way)
            elif value is not None:
                is_leaf = tree.setdefault(name, None) is None
                if is_leaf and (isinstance(value, list | dict) or _may_name(value)):
                    self.opaque.add(way)

    def ways(self) -> tuple[list[Path], list[Path]]:
        """The ways to all values, and those to all levels."""
        found = [*_ways(self.tree)]
        return [way for way, is_level in found if not is_level], [way for way, is_level in found if is_level]

    @property
    def fits(self) -> bool:
        """Whether an engine can have them as columns: names that differ in capitals alone are one to it."""
        leaves, _ = self.ways()
        return 0 < len(leaves) <= _MOST_LEAVES and _are_apart(self.tree)


def _may_name(value: Any) -> bool:
    """Whether a value is a text that may well hold JSON of its own."""
    return type(value) is str and (len(value) > _LONG or '":' in value)


def _ways(tree: Tree, above: Path = ()) -> Iterable[tuple[Path, bool]]:
    for name, inner in tree.items():
        yield (*above, name), bool(inner)
        if inner:
            yield from _ways(inner, (*above, name))


def _are_apart(tree: Tree) -> bool:
    apart = len({name.lower() for name in tree}) == len(tree) and "" not in tree
    return apart and all(_are_apart(inner) for inner in tree.values() if inner)


def relevant(ways: Sequence[Path]) -> list[Path]:
    """Those that say something of a request, in their order."""
    own = layout_of(sorted(ways, key=len))
    said = {*own.counts, *own.others, *(way for way, _ in own.kinds), *own.running}
    return [way for way in ways if way in said or is_text_level(way[-1])]


def of_json(names: Names) -> tuple[str, list[Column]] | None:
    """A query of the columns of lines of JSON, and the columns; None where there are too many."""
    leaves, levels = names.ways()
    kept = relevant(leaves)
    if len(kept) > MOST_COLUMNS:
        return None
    columns = [Column(f"c{place}", way, "json") for place, way in enumerate(kept)]
    by_way = {one.way: one.name for one in columns}
    cells = [(way, by_way.get(way, f"x{place}")) for place, way in enumerate(leaves)]
    values = [f"{_at(way)}::varchar as {name}" for way, name in cells]
    seen = [f"({_at(way)} is not null)::int" for way in levels]
    present = [f"({name} is not null)::int" for _, name in cells]
    inner = [_names_in(f"coalesce({name}, '')") for way, name in cells if way in names.opaque]
    whole = [f"{_names_in('line')} = levels + {' + '.join([*present, *inner])}"]
    for way, name in cells:
        if way in names.opaque:
            whole += _no_part(way, name)
        if is_text_level(way[-1]):
            whole.append(f"""not starts_with(coalesce({name}, ''), '"{{')""")
    whole += [_in_order(one, other, by_way) for one, other in _rivals(kept)]
    tree = json.dumps(_typed(names.tree), ensure_ascii=False).replace("'", "''")
    commas = " or ".join(f"contains(line, '{sign}')" for sign in _COMMAS)
    no_commas = _only("commas", f"and not ({commas})")
    all_of, told, names_of = " and ".join(whole), ", ".join(by_way.values()), ", ".join(values)
    depth = " + ".join(seen) or "0"
    query = f"""
        select row, coalesce({all_of}, false) as whole, {told}
        from (
            select row, line, {depth} as levels, {names_of}
            from (select row, line,
                try(case when true {no_commas} then json_transform(line, '{tree}') end) as j from block)
        )"""  # noqa: S608 - names are quoted, and the lines are data
    return query, columns


def _rivals(ways: Sequence[Path]) -> Iterable[tuple[Path, Path]]:
    """Ways of which the one that stands first in a line is read."""
    own = layout_of(sorted(ways, key=len))
    for places in own.roles.values():
        for one, other in combinations([own.others[place] for place in places], 2):
            if len(one) == len(other):
                yield one, other


def _in_order(one: Path, other: Path, names: Mapping[Path, str]) -> str:
    """That of two values, where there are both, the first stands first."""
    at = next(place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
    first, second = (f"strpos(line, {_quoted(json.dumps(way[at], ensure_ascii=False))})" for way in (one, other))
    return f"({names[one]} is null or {names[other]} is null or {first} < {second})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def needed(query: str, data: bytes) -> str:
    """A query of lines without the parts that play no part in these."""
    absent = {"null": b"null" not in data, "commas": not any(sign.encode() in data for sign in _COMMAS)}
    for name, is_absent in absent.items():
        first, last = _only(name, "|").split("|")
        while is_absent and first in query:
            before, _, rest = query.partition(first)
            query = before + rest.partition(last)[2]
    return query


def _only(name: str, part: str) -> str:
    """A part of a query that only some blocks need."""
    return f"/*{name}<*/ {part} /*>{name}*/"


def _typed(tree: Tree) -> Tree:
    return {name: _typed(inner) if inner else "JSON" for name, inner in tree.items()}


def _at(way: Path) -> str:
    return "j" + "".join(f"[{_quoted(name)}]" for name in way)


def _names_in(text: str) -> str:
    """How many names in a JSON text have a value; names within its texts are counted as well."""

    def often(mark: str) -> str:
        return f"(strlen({text}) - strlen(replace({text}, '{mark}', ''))) // {len(mark)}"

    named, one, other = often('":'), often(_NULLS[0]), often(_NULLS[1])
    return f"({named} {_only('null', f'- {one} - {other}')})"


def _no_part(way: Path, name: str) -> list[str]:
    """That a list is none of named counts, and none of what is billed apart."""
    found = [f"""contains({name}, '"{label}":')""" for label in LABELS]
    conditions = [f"not (starts_with(coalesce({name}, ''), '[{{') and ({' or '.join(found)}))"]
    if way[-1] in MADE_OF:
        calls = " or ".join(f"contains({name}, '{word}')" for word in SPOKEN_OF)
        conditions.append(f"not coalesce({calls}, false)")
    return conditions


def of_table(
    first: str, header: Sequence[str], kept: Sequence[tuple[int, str, str]], sign: str
) -> tuple[str, list[Column]] | None:
    """A query of the columns of lines of a table, and the columns; None where there are too many.

    Args:
        first: the line that names the columns, which may stand there again.
        header: these names.
        kept: place, name, and what an empty cell stands for, of those that say something.
        sign: what stands between cells.
    """
    if len(kept) > MOST_COLUMNS or not kept:
        return None
    columns = [Column(f"c{number}", (name,), "text") for number, (_, name, _) in enumerate(kept)]
    cells = []
    for column, (place, _, other) in zip(columns, kept, strict=True):
        cell = f"nullif(trim(cells[{place + 1}]), '')"
        filled = f"coalesce({cell}, '{other}')" if other else cell
        cells.append(f"{filled} as {column.name}")
    between = sign.replace("'", "''")
    cell = f'"[^"{between}]*"|[^"{between}]*'
    quoted = f"regexp_full_match(line, '({cell})([{between}]({cell}))*')"
    whole = [f"len(cells) = {len(header)}", f"(not contains(line, '\"') or {quoted})", "not contains(line, chr(13))"]
    whole += [f"not starts_with(coalesce({one.name}, ''), '{{')" for one in columns if is_text_level(one.way[-1])]
    again = first.strip().replace("'", "''")
    whole.append(f"line <> '{again}'")
    names, all_of, values = ", ".join(one.name for one in columns), " and ".join(whole), ", ".join(cells)
    query = f"""
        select row, coalesce({all_of}, false) as whole, {names}
        from (
            select row, line, cells, {values}
            from (select row, line, string_split(replace(line, '"', ''), '{between}') as cells
                from (select row, rtrim(line, chr(13) || chr(10)) as line from block))
        )"""  # noqa: S608 - no name is in it but one that is quoted, and the lines are data
    return query, columns


_CAST: Final[Mapping[Form, str]] = {
    "json": "", "text": "::varchar", "int": "::bigint", "real": "::double", "decimal": "", "time": "::timestamp",
}  # fmt: skip


def of_schema(schema: Any) -> tuple[str, list[Column]] | None:
    """A query of the columns of a table with types, and the columns; None where there are none, or too many."""
    found = [*_fields(schema)]
    kept = {*relevant([way for way, _ in found])}
    forms = [(way, kind, form) for way, kind in found if way in kept and (form := form_of(kind))]
    if not 0 < len(forms) <= MOST_COLUMNS:
        return None
    columns = [Column(f"c{place}", way, form) for place, (way, _, form) in enumerate(forms)]
    cells = [f"{_of_block(way)}{_CAST[form]} as c{place}" for place, (way, _, form) in enumerate(forms)]
    values = ", ".join(cells)
    whole = [f"not starts_with(coalesce({_of_block(way)}, ''), '{{')" for way, _, form in forms
             if form == "text" and is_text_level(way[-1])]  # fmt: skip
    lists = [
        f"coalesce(len({_of_block(way)}), 0) = 0" for way, kind in found if pa.types.is_list(kind) and _may_say(way)
    ]
    all_of = " and ".join([*whole, *lists]) or "true"
    return f"select row, {all_of} as whole, {values} from block", columns  # noqa: S608 - names are quoted


def says(way: Path, kind: Any) -> bool:
    """Whether a value of an engine's type that is not opened there may say something: JSON, or a list."""
    return bool(kind.is_json() or kind.is_map() or (kind.is_array() and _may_say(way)))


def _may_say(way: Path) -> bool:
    """Whether the members of a list may say something."""
    return way[-1] in MADE_OF or way[-1] in TEXTS or is_text_level(way[-1])


def _fields(fields: Iterable[Any], above: Path = ()) -> Iterable[tuple[Path, Any]]:
    for one in fields:
        way = (*above, one.name)
        if pa.types.is_struct(one.type):
            yield from _fields([one.type.field(place) for place in range(one.type.num_fields)], way)
        else:
            yield way, one.type


def form_of(kind: Any) -> Form | None:
    """How values of a type are read; None for those that say nothing, such as what is true or false."""
    is_kind: Mapping[Form, Sequence[Callable[[Any], bool]]] = {
        "int": (pa.types.is_integer,),
        "real": (pa.types.is_floating,),
        "decimal": (pa.types.is_decimal,),
        "text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, _is_words),
        "time": (pa.types.is_timestamp, pa.types.is_date),
    }
    return next((form for form, tests in is_kind.items() if any(test(kind) for test in tests)), None)


def _is_words(kind: Any) -> bool:
    return bool(pa.types.is_dictionary(kind) and form_of(kind.value_type) == "text")


def naive(batch: Any) -> Any:
    """A batch whose times are those of UTC, without saying so."""
    for place, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type):
            times = batch.column(place).cast(pa.timestamp("us"), safe=False)
            batch = batch.set_column(place, field.name, times)
    return batch


def _of_block(way: Path) -> str:
    return "block" + "".join('."' + name.replace('"', '""') + '"' for name in way)
