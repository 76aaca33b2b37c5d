"""One look for all charts.

A colour has one meaning on every page. The colours themselves stand in .streamlit/config.toml, a light and a dark
set, in the order of `MEANINGS`; a chart names the meaning and the page's theme gives the colour.
"""

from copy import deepcopy
from typing import Any, Final

import altair as alt

MEANINGS: Final = ("memory", "compute", "cache", "waiting", "money")
"""What a colour stands for: memory and loading; arithmetic; cache; network and waiting; money."""

INK: Final = "currentColor"
"""The colour of the page's text, in light and dark."""

LINE: Final = 4
HEIGHT: Final = 300
"""Pixels of the picture that a page begins with."""
_LABEL_ROOM: Final = 44
LABEL_SIZE: Final = 16
_FAINT: Final = 0.13
_TIME_TICKS: Final = [d * 10.0**p for p in range(-9, 0) for d in (1, 2, 5)] + [
    *(1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 18_000, 43_200, 86_400),
    *(86_400 * days for days in (2, 5, 10, 30, 100, 365, 1000, 3650)),
]
_TICKS: Final = [digit * 10.0**power for power in range(-6, 24) for digit in (1, 2, 5)]

MEANING: Final = alt.Color("meaning:N", scale=alt.Scale(domain=list(MEANINGS)), legend=None)
"""Colours a mark by the field "meaning", which holds a meaning."""


def named_meaning(names: dict[str, str]) -> alt.Color:
    """The same with a legend above the chart: meaning -> what a mark of it is called here."""
    label = " : ".join(f"datum.value == '{meaning}' ? '{name}'" for meaning, name in names.items())
    legend = alt.Legend(
        title=None,
        values=[*names],
        labelExpr=f"{label} : ''",
        labelColor=INK,
        labelFontSize=LABEL_SIZE,
        labelLimit=0,
        symbolType="square",
        symbolSize=260,
        symbolStrokeWidth=0,
        columnPadding=18,
        columns=alt.ExprRef("width < 420 ? 2 : 0"),  # as many as there is room for on a phone
        orient="top",
        direction="horizontal",
    )
    return alt.Color("meaning:N", scale=alt.Scale(domain=list(MEANINGS)), legend=legend)


def axis(title: str) -> alt.Axis:
    """An axis from 0 with its quantity and unit as title; large numbers carry k, M, G and so on."""
    return alt.Axis(
        title=title,
        labelExpr="datum.value ? format(datum.value, '~s') : '0'",
        tickCount=6,
        labelOverlap="greedy",
    )


def bytes_axis(title: str) -> alt.Axis:
    """An axis of bytes whose labels carry their unit."""
    label = "replace(format(datum.value, datum.value < 1e27 ? '~s' : '~e'), regexp('([a-zA-Z]?)$'), ' $1B')"
    return alt.Axis(title=title, labelExpr=f"datum.value ? {label} : '0'", tickCount=6, labelOverlap="greedy")


def money_axis(title: str) -> alt.Axis:
    """An axis of dollars."""
    label = "'$' + (datum.value ? format(datum.value, datum.value < 1000 ? ',.4~r' : '.3~s') : '0')"
    return alt.Axis(title=title, labelExpr=label, tickCount=5, labelOverlap="greedy")


def log_money_axis(title: str) -> alt.Axis:
    """A logarithmic axis of dollars, ticked at 1, 2 and 5."""
    label = "'$' + format(datum.value, datum.value < 1000 ? ',.4~r' : '.3~s')"
    return alt.Axis(title=title, labelExpr=label, values=_TICKS, labelOverlap="greedy")


def log_axis(title: str) -> alt.Axis:
    """A logarithmic axis with its quantity and unit as title, ticked at 1, 2 and 5."""
    return alt.Axis(title=title, format="~s", values=_TICKS, labelOverlap="greedy")


def time_axis(title: str) -> alt.Axis:
    """An axis of seconds whose labels carry their unit."""
    below_one = "format(datum.value * 1e3, '~r') + ' ms'"
    label = f"datum.value == 0 ? '0' : datum.value < 1 ? {below_one} : format(datum.value, ',') + ' s'"
    return alt.Axis(title=title, labelExpr=label, tickCount=6, labelOverlap="greedy")


def log_time_axis(title: str) -> alt.Axis:
    """A logarithmic axis of seconds whose labels carry their unit."""
    scaled = (("86400", "d"), ("3600", "h"), ("60", "min"), ("1", "s"), ("1e-3", "ms"), ("1e-6", "µs"))
    label = "format(datum.value * 1e9, '~r') + ' ns'"
    for size, unit in reversed(scaled):
        label = f"datum.value >= {size} ? format(datum.value / {size}, '~r') + ' {unit}' : {label}"
    return alt.Axis(title=title, labelExpr=label, values=_TIME_TICKS, labelOverlap="greedy")


BAND: Final = 0.13
"""Opacity of the band around what is expected."""
EXPECTED: Final[dict[str, Any]] = {"strokeWidth": 2.5, "strokeDash": [7, 4], "color": INK}
"""How the line of what is expected is drawn on every chart."""
NAMED: Final[dict[str, Any]] = {"align": "right", "dy": -12}
"""How its name lies at its end."""


def text(size: int | alt.ExprRef = LABEL_SIZE, **where: Any) -> dict[str, Any]:
    """Properties of a label that stands on its mark."""
    return {"fontSize": size, "color": INK, **where}


NOT_ON_A_PHONE: Final = alt.ExprRef("width < 420 ? 0 : 13")
"""Size of a smaller label, for which a narrow chart has no room."""


ALONE: Final = "where one scenario is drawn"
"""Description of a layer for which a chart of two scenarios has no room."""


def outlined(marks: alt.Chart, size: int | alt.ExprRef = LABEL_SIZE, **where: Any) -> list[alt.Chart]:
    """The field "label" as text, above an outline in the page's colour, so that no line crosses its letters."""
    look = text(size, **where)
    page = alt.ExprRef("background")
    outline = marks.mark_text(**look | {"color": page}, stroke=page, strokeWidth=6, strokeJoin="round")
    return [layer.encode(text="label:N") for layer in (outline, marks.mark_text(**look))]


_PREVIEW_HEIGHT: Final = 220
_PREVIEW_SIZE: Final = 12


def small(spec: dict[str, Any]) -> dict[str, Any]:
    """A chart as a preview: lower, its letters smaller, its marks without words."""
    sizes = {"labelFontSize": _PREVIEW_SIZE, "titleFontSize": _PREVIEW_SIZE}
    config = {name: part | sizes for name, part in spec["config"].items() if name.startswith("axis")}
    marks = [layer for layer in deepcopy(spec["layer"]) if layer["mark"]["type"] != "text"]
    for mark in marks:
        mark["encoding"].get("y", {}).get("scale", {}).pop("padding", None)  # it was room for words
    return {**spec, "height": _PREVIEW_HEIGHT, "layer": marks, "config": spec["config"] | config}


_LARGER: Final = {"fontSize": 1.4, "labelFontSize": 1.4, "titleFontSize": 1.4, "strokeWidth": 1.4, "dx": 1.3, "dy": 1.4}
_LARGE_HEIGHT: Final = 330


def large(spec: dict[str, Any]) -> dict[str, Any]:
    """A chart to be read from five metres: higher, its letters and lines larger."""

    def grown(part: Any, name: str = "") -> Any:
        if isinstance(part, dict):
            if name in _LARGER and "expr" in part:
                return {"expr": f"{_LARGER[name]} * ({part['expr']})"}
            return {key: grown(value, key) for key, value in part.items()}
        if isinstance(part, list):
            return [grown(one) for one in part]
        return part * _LARGER[name] if name in _LARGER and isinstance(part, int | float) else part

    return {**grown(spec), "height": max(_LARGE_HEIGHT, spec["height"])}


def finished(chart: alt.LayerChart | alt.FacetChart, *, description: str, height: int) -> dict[str, Any]:
    """The specification of a chart: as wide as the page, always as tall, without its data.

    Args:
        chart: its layers.
        description: what is drawn against what, for those who do not see it; what it shows of a scenario is the
            sentence beside it.
        height: in pixels.
    """
    label: dict[str, Any] = {
        "labelFontSize": LABEL_SIZE,
        "titleFontSize": LABEL_SIZE,
        "labelColor": INK,
        "titleColor": INK,
    }
    styled = (
        # Streamlit draws many marks on a canvas, which knows neither the page's colours nor its text.
        chart.properties(
            height=height, width="container", description=description, usermeta={"embedOptions": {"renderer": "svg"}}
        )
        .configure_axis(
            **label,
            titleFontWeight="normal",
            gridColor=INK,
            gridOpacity=_FAINT,
            domain=False,
            tickColor=INK,
            tickOpacity=_FAINT,
        )
        # The name of the vertical axis lies on top, where there is room for it on a phone too.
        .configure_axisY(titleAngle=0, titleAlign="left", titleAnchor="end", titleX=-_LABEL_ROOM, titleY=-8)
        .configure_view(stroke=None)
    )
    spec: dict[str, Any] = styled.to_dict()
    return spec
