"""Columns of tables whose values have types, in the words of DuckDB, and what of a table says something."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inferdash.pricing.columns.cells import Column, Form
from inferdash.pricing.columns.lines import keys
from inferdash.pricing.columns.parts import Part, Rows, is_id, is_relevant, is_user, narrowed, roles_of
from inferdash.pricing.columns.sums import MOST_COLUMNS
from inferdash.pricing.dialects.fees import MADE_OF
from inferdash.pricing.dialects.names import normal
from inferdash.pricing.dialects.plans import layout_of
from inferdash.pricing.dialects.shapes import FLAGS, LABELS, TEXTS, Path, is_hit, is_text_level


def relevant(ways: Sequence[Path]) -> list[Path]:
    """Those that say something of a request, in their order."""
    own = layout_of(sorted(ways, key=len))
    said = {*own.counts, *own.others, *(way for way, _ in own.kinds), *own.running}
    return [way for way in ways if way in said or is_text_level(way[-1]) or is_relevant(way, users=True)]


_CAST: Final[Mapping[Form, str]] = {
    "text": "::varchar", "key": "", "moment": "", "count": "::bigint", "int": "::bigint", "real": "::double",
    "decimal": "", "time": "::timestamp",
}  # fmt: skip


class Typed:
    """How rows of a table with types become columns."""

    def __init__(self, schema: Any, *, users: bool) -> None:
        """Looks at a table; `columns` is empty where it says nothing, or too much.

        Args:
            schema: of the table.
            users: whether it is to be known who asked.
        """
        found = [*_fields(schema)]
        kept = {*relevant([way for way, _ in found])}
        forms = [
            (way, form)
            for way, kind in found
            if way in kept and (users or not is_user(way)) and (form := _form_at(way, kind))
        ]
        self.columns = [
            Column(f"c{place}", way, "key" if form == "text" and is_id(way) else form)
            for place, (way, form) in enumerate(forms if len(forms) <= MOST_COLUMNS else ())
        ]
        whole = [f"not starts_with(coalesce({one.name}, ''), '{{')" for one in self.columns
                 if one.form == "text" and is_text_level(one.way[-1])]  # fmt: skip
        self._lists = [way for way, kind in found if _is_told(way, kind)]
        whole += [f"l{place} is null" for place in range(len(self._lists))]
        self._whole = " and ".join(whole) or "true"
        self.ways = [*(one.way for one in self.columns), *self._lists]
        """To all that is read."""
        self.repeated = [".".join(one.way) for one in self.columns if one.form == "text" and _repeats(one.way)]
        """Names of columns whose texts are few, by which a file of them keeps each once."""

    def parts(self, batch: Any, rows: Rows) -> tuple[list[Part], Rows]:
        """Rows as columns, apart from those in which there is no value."""
        if not self.columns:
            return [], rows
        columns, arrays, varies = [], [], False
        for one in self.columns:
            array = _values(batch, one.way)
            if array.null_count == len(array):
                continue
            varies = varies or array.null_count > 0 or (one.form == "text" and one.way[-1] in TEXTS)
            column, array = _fitted(one, array)
            columns.append(narrowed(column, array))
            arrays.append(_keys(array) if one.form == "key" else array)
        if not layout_of([one.way for one in columns]).counts:
            return [], rows
        lists = [_filled(_values(batch, way)) for way in self._lists]
        names = ["row", *(one.name for one in columns), *(f"l{place}" for place in range(len(lists)))]
        table = pa.Table.from_arrays([pa.array(rows), *arrays, *lists], names)
        cells = ", ".join(f"{one.name}{_CAST[one.form]} as {one.name}" for one in columns)
        query = f"select row, {self._whole} as whole, {cells}"
        return [Part(tuple(columns), table, query, varies)], rows[:0]


def _values(batch: Any, way: Path) -> Any:
    """The values at a way, none where a level above them is none."""
    array = batch.column(batch.schema.get_field_index(way[0]))
    return pc.struct_field(array, [*way[1:]]) if len(way) > 1 else array


def _keys(array: Any) -> Any:
    """Hashes of texts; 0 for an empty one."""
    array = array.combine_chunks()
    plain = pc.fill_null(array.cast(pa.string()), "")
    _, offsets, data = plain.buffers()
    ends = np.frombuffer(offsets, np.int32)[plain.offset : plain.offset + len(plain) + 1].astype(np.int64)
    signs = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    return pc.if_else(array.is_valid(), pa.array(keys(signs, ends)), pa.scalar(None, pa.uint64()))


def _fitted(column: Column, array: Any) -> tuple[Column, Any]:
    """A column and its values, in a type that holds them all."""
    if column.form == "int" and pa.types.is_uint64(array.type):
        return column, array.cast(pa.int64(), safe=False)  # too large ones are below 0, and for the reader of lines
    if column.form == "time" and pa.types.is_timestamp(array.type):
        return column, array.cast(pa.timestamp("us"), safe=False)
    if column.form == "decimal":
        try:
            return column, array.cast(_CENT)
        except pa.ArrowInvalid:
            return replace(column, form="text"), array.cast(pa.string())
    return column, array


_CENT: Final = pa.decimal128(38, 22)


def _filled(array: Any) -> Any:
    """Whether there are members of lists or maps: yes, or nothing where there are none."""
    plain = array.combine_chunks()
    if pa.types.is_map(plain.type):
        plain = plain.cast(pa.list_(plain.type.field(0)))
    many = pc.fill_null(pc.list_value_length(plain), 0)
    return pc.if_else(pc.greater(many, 0), pa.scalar(value=True), pa.scalar(None, pa.bool_()))


def says(way: Path, kind: Any) -> bool:
    """Whether a value of an engine's type that is not opened there may say something: JSON, or a list."""
    if not kind.is_array():
        return bool(kind.is_json() or kind.is_map())
    return _may_say(way) or (kind.value_type.is_struct() and not {*LABELS}.isdisjoint(kind.value_type.names))


def is_flag(way: Path) -> bool:
    """Whether what is true or false there says something."""
    return normal(way[-1]) in FLAGS or is_hit(way)


def _form_at(way: Path, kind: Any) -> Form | None:
    if pa.types.is_boolean(kind) and is_flag(way):
        return "text"
    return "text" if pa.types.is_uint64(kind) and is_user(way) else form_of(kind)


def _is_told(way: Path, kind: Any) -> bool:
    """Whether a list or a map may say something: by its name, or as its members are named counts."""
    if not any(test(kind) for test in _OF_MEMBERS):
        return False
    if _may_say(way) or pa.types.is_map(kind):
        return _may_say(way)
    inner = kind.value_type
    return pa.types.is_struct(inner) and any(inner.get_field_index(name) >= 0 for name in LABELS)


_OF_MEMBERS: Final = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_map)


def _may_say(way: Path) -> bool:
    """Whether the members of a list may say something."""
    return way[-1] in MADE_OF or way[-1] in TEXTS or is_text_level(way[-1])


def _repeats(way: Path) -> bool:
    return "model" in roles_of(way)


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
