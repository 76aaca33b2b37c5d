"""One chart of two scenarios: A as it is drawn alone, B hollow or dashed over it, every colour with its one meaning."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

import altair as alt

from inferdash.charts import theme

Rows = Mapping[str, Sequence[Mapping[str, Any]]]

OF_B: Final = "b "
"""What the name of a data set of B begins with."""
_DOTTED: Final = [2, 3]
_PAPER: Final = alt.ExprRef("background").to_dict()
_PALE: Final = 0.5
_WIDER: Final = 0.2
_EDGE: Final = 2.5
"""Width of the line around what is hollow, in pixels."""


def over(spec: dict[str, Any]) -> dict[str, Any]:
    """A chart with every mark once more for B: areas and points hollow, lines dotted, of its names the bold ones.

    Data sets of B have the names of those of A with a prefix.
    """
    whole = {key: value for key, value in spec.items() if key not in {"data", "layer"}}
    layers = [
        {"data": spec["data"], **layer} if "data" in spec else layer
        for layer in spec["layer"]
        if layer.get("description") != theme.ALONE
    ]
    both = [*layers, *(_of_b(layer) for layer in layers if _is_kept(layer))]
    both.sort(key=lambda layer: _type(layer) == "text")  # no line of B crosses a name
    return {**whole, "layer": [_apart(layer) if _is_bold(layer) else layer for layer in both]}


def split(spec: dict[str, Any]) -> dict[str, Any]:
    """A chart in which each row stands for A and for B, those of B hollow: its rows have the field "side"."""
    layers = spec["layer"]
    of_a = [_only(layer, "datum.side != 'B'") for layer in layers]
    of_b = [_hollow(_only(layer, "datum.side == 'B'")) for layer in layers if _type(layer) != "text"]
    words = [_only(layer, "datum.side == 'B'") for layer in layers if _type(layer) == "text"]
    places = {**deepcopy(layers[0]), "mark": {"type": "point", "opacity": 0}}
    places["encoding"] = {axis: places["encoding"][axis] for axis in ("x", "y")}
    return {**spec, "layer": [places, *of_a, *of_b, *words]}


def below(spec: dict[str, Any]) -> dict[str, Any]:
    """A chart of many thin rows in which those of B lie below those of A, paler: its rows have the field "side"."""
    found = deepcopy(spec)
    for layer in found["layer"]:
        axis = layer["encoding"]["y"]["axis"]
        axis |= {"labels": False, "ticks": False, "title": f"{axis['title']}: A above, B below"}
        side = {"condition": {"test": "datum.side == 'B'", "value": _PALE}, "value": 1}
        layer["encoding"] |= {"opacity": side}
    return found


def rows_over(spec: dict[str, Any], a: Rows, b: Rows) -> dict[str, list[dict[str, Any]]]:
    """The rows of both for `over`; the bold names say whose they are, and what is alike stands there once."""
    said = {str(layer["data"]["name"]) for layer in spec["layer"] if _is_bold(layer) and "data" in layer}
    found: dict[str, list[dict[str, Any]]] = {}
    for name in {**a, **b}:
        of_a, of_b = a.get(name, ()), b.get(name, ())
        alike = of_a == of_b
        found[name] = [_named(row, "A") if name in said and not alike else dict(row) for row in of_a]
        found[f"{OF_B}{name}"] = [] if alike else [_named(row, "B") if name in said else dict(row) for row in of_b]
        if name in said and not alike and len(of_a) == len(of_b) == 1:
            y = _height(spec, name)
            above = (found[name][0].get(y) or 0) > (found[f"{OF_B}{name}"][0].get(y) or 0)
            found[name][0]["above"], found[f"{OF_B}{name}"][0]["above"] = above, not above
    return found


def _height(spec: dict[str, Any], name: str) -> str:
    """The field by which a layer with these rows stands higher or lower; empty where none does."""
    heights = (layer["encoding"].get("y", {}).get("field") for layer in spec["layer"] if layer["data"]["name"] == name)
    return next((str(field) for field in heights if field), "")


def rows_joined(a: Rows, b: Rows, *, by: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of both for `over` where they are bars that a field names: the label of a bar has the number of both."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in {**a, **b}:
        of_a, of_b = ({row.get(by): row for row in rows.get(name, ())} for rows in (a, b))
        found[name], found[f"{OF_B}{name}"] = [], []
        for key in {**of_a, **of_b}:
            one, other = of_a.get(key), of_b.get(key)
            label = _joined(str(key), one, other)
            found[name] += [{**one, **label}] if one else []
            found[f"{OF_B}{name}"] += [{**other, **label}] if other and other != one else []
    return found


def _joined(key: str, a: Mapping[str, Any] | None, b: Mapping[str, Any] | None) -> dict[str, str]:
    labels = [str(row.get("label", "")) for row in (a, b) if row]
    if not any(labels) or (a and b and labels[0] == labels[1]):
        return {"label": labels[0]} if labels[0] else {}
    begins = key if labels[0].startswith(key) else ""
    values = [f"{side} {label.removeprefix(begins).strip()}" for side, row, label in _sides(a, b, labels) if row]
    return {"label": f"{begins}: {', '.join(values)}" if begins else ", ".join(values)}


def _sides(
    a: Mapping[str, Any] | None, b: Mapping[str, Any] | None, labels: list[str]
) -> list[tuple[str, Mapping[str, Any] | None, str]]:
    return [("A", a, labels[0]), ("B", b, labels[-1])]


def rows_split(a: Rows, b: Rows, *, field: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of both for `split`, row by row beside each other by a field that says which row of the chart it is."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in {**a, **b}:
        both = [
            ({**row, field: _label(row[field], side)}, row[field], side)
            for side, rows in (("A", a), ("B", b))
            for row in rows.get(name, ())
        ]
        order = list(dict.fromkeys(value for _, value, _ in both))
        both.sort(key=lambda one: (order.index(one[1]), one[2]))
        found[name] = [{**row, "side": side} for row, _, side in both]
    return found


def rows_below(a: Rows, b: Rows, *, top: str, bottom: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of both for `below`: places from the top, of which those of B lie below those of A."""
    deepest = max((row[bottom] for rows in a.values() for row in rows), default=0) + 1
    return {
        name: [{**row, "side": "A"} for row in a.get(name, ())]
        + [{**row, top: row[top] + deepest, bottom: row[bottom] + deepest, "side": "B"} for row in b.get(name, ())]
        for name in {**a, **b}
    }


def _label(value: Any, side: str) -> str:
    return f"{side}: {value}"


def _named(row: Mapping[str, Any], side: str) -> dict[str, Any]:
    label = row.get("label")
    return {**row, "label": f"{side}: {label}"} if isinstance(label, str) and label else dict(row)


def _apart(layer: Mapping[str, Any]) -> dict[str, Any]:
    """A bold name that stands above its point or below, as its row says, so that those of A and B do not meet."""
    found = deepcopy(dict(layer))
    dy = found["mark"].get("dy", 0)
    if not isinstance(dy, dict):
        found["mark"]["dy"] = {
            "expr": f"isValid(datum.above) ? (datum.above ? -{abs(dy) or 12} : {max(abs(dy), 18)}) : {dy}"
        }
    return found


def _type(layer: Mapping[str, Any]) -> str:
    return str(layer["mark"]["type"])


def _is_kept(layer: Mapping[str, Any]) -> bool:
    """Names of B would lie on those of A, and so would a band; bold names, of the reader's point, lie elsewhere."""
    return _is_bold(layer) if _type(layer) == "text" else not (_type(layer) == "line" and layer["mark"].get("filled"))


def _is_bold(layer: Mapping[str, Any]) -> bool:
    return _type(layer) == "text" and layer["mark"].get("fontWeight") == "bold"


def _of_b(layer: Mapping[str, Any]) -> dict[str, Any]:
    """A layer with the rows of B, drawn hollow."""
    found = deepcopy(dict(layer))
    found["data"] = {"name": f"{OF_B}{found['data']['name']}"}
    return _hollow(found)


def _only(layer: Mapping[str, Any], test: str) -> dict[str, Any]:
    found = deepcopy(dict(layer))
    found["transform"] = [{"filter": test}, *found.get("transform", ())]
    return found


def _hollow(layer: dict[str, Any]) -> dict[str, Any]:
    """A layer whose marks are outlines or dashed lines in the colour that they had."""
    mark = layer["mark"]
    match mark["type"]:
        case "bar" | "rect" | "area":
            layer["mark"] = {key: value for key, value in mark.items() if key not in {"stroke", "fillOpacity", "line"}}
            layer["mark"] |= {"filled": False, "strokeWidth": _EDGE, "opacity": 1}
            if "band" in mark.get("height", {}):  # wider than what it may lie over, so that its ends are seen
                layer["mark"] |= {"height": {"band": mark["height"]["band"] + _WIDER}}
            layer["encoding"] = {key: value for key, value in layer["encoding"].items() if key != "stroke"}
        case "point":
            layer["mark"] = {key: value for key, value in mark.items() if key not in {"stroke", "fill"}}
            ink = {"stroke": theme.INK} if "color" not in layer["encoding"] else {}
            layer["mark"] |= {"filled": False, "fill": _PAPER, "strokeWidth": _EDGE, **ink}
        case "line" | "rule":
            layer["mark"] = mark | {"strokeDash": _DOTTED, "strokeWidth": min(mark.get("strokeWidth", 2), 3)}
        case "text":
            dy = mark.get("dy", 0)
            layer["mark"] = mark | {"dy": {"expr": f"-({dy['expr']})"} if isinstance(dy, dict) else -dy or 18}
    return layer
