"""The roofline: the most operations a second against the operations for each byte loaded."""

from functools import cache
from typing import Any, Final

import altair as alt

from inferdash.charts import theme

_SIDES: Final[dict[str, dict[str, Any]]] = {
    "align": {"right": "'left'", "left": "'right'", "below": "'center'"},
    "dx": {"right": 14, "left": -14, "below": 0},
    "dy": {"right": 20, "left": -18, "below": 26},
}
_BY_SIDE: Final = {
    where: alt.ExprRef(" : ".join(f"datum.side == '{side}' ? {value}" for side, value in values.items()) + " : 0")
    for where, values in _SIDES.items()
}
"""Where a pass carries its label, by its side, so that it lies neither on the roof nor outside."""


@cache
def roofline() -> dict[str, Any]:
    """Rows "roof" (two lines that meet in the ridge), "names", "path" (the decode along the batch) and "points".

    Rows "expected": what the passes reach, below them, each with its band.
    """
    x = alt.X(
        "intensity:Q",
        scale=alt.Scale(type="log", nice=False),
        axis=theme.log_axis("arithmetic intensity, FLOP per byte"),
    )
    y = alt.Y(
        "flop_per_s:Q",
        scale=alt.Scale(type="log", nice=False, padding=36),
        axis=theme.log_axis("attainable compute (limit), FLOP/s"),
    )
    shapes = alt.Shape("pass:N", scale=alt.Scale(domain=["Decode", "Prefill"], range=["circle", "square"]), legend=None)
    roof, names, path, points = (
        alt.Chart(alt.NamedData(rows)).encode(x, y) for rows in ("roof", "names", "path", "points")
    )
    batches = path.transform_filter("datum.label")
    first = "scale('x', datum.intensity) < 70"  # there the name would lie on the axis
    beside = {
        "align": alt.ExprRef(f"{first} ? 'left' : 'right'"),
        "dx": alt.ExprRef(f"{first} ? 9 : -9"),
        "dy": alt.ExprRef(f"{first} ? 12 : -8"),
    }
    reached = alt.Chart(alt.NamedData("expected"))
    return theme.finished(
        alt.layer(
            path.mark_line(strokeWidth=14, opacity=0.18, strokeCap="round", color=theme.INK),
            roof.mark_line(strokeWidth=theme.LINE).encode(color=theme.MEANING),
            names.transform_filter("datum.at == 'ridge'")
            .mark_text(**theme.text(align="right", dx=-20, dy=-12))
            .encode(text="label:N"),
            names.transform_filter("datum.at == 'peak'")
            .mark_text(**theme.text(align="right", dx=-20, dy=-30))
            .encode(text="label:N"),
            batches.mark_point(size=50, filled=True, color=theme.INK, opacity=1),
            batches.mark_text(**theme.text(theme.NOT_ON_A_PHONE, **beside)).encode(text="label:N"),
            reached.mark_rule(strokeWidth=2, color=theme.INK).encode(x, alt.Y("low:Q"), alt.Y2("high:Q")),
            reached.mark_point(
                size=130, filled=True, fill=alt.ExprRef("background"), opacity=1, stroke=theme.INK, strokeWidth=2
            ).encode(
                x,
                y,
                shape=shapes,
                tooltip=[
                    alt.Tooltip("pass:N", title="expected of the"),
                    alt.Tooltip("flop_per_s:Q", title="FLOP/s", format=".4~s"),
                ],
            ),
            points.mark_point(size=320, filled=True, opacity=1, stroke=theme.INK, strokeWidth=1.5).encode(
                color=theme.MEANING,
                shape=shapes,
                tooltip=[
                    alt.Tooltip("pass:N", title="pass"),
                    alt.Tooltip("intensity:Q", title="FLOP per byte", format=",.4~r"),
                    alt.Tooltip("flop_per_s:Q", title="FLOP/s at the limit", format=".4~s"),
                ],
            ),
            alt.Chart(alt.NamedData("points"))
            .mark_text(**theme.text(fontWeight="bold", **_BY_SIDE))
            .encode(x, alt.Y("named_at:Q"), text="label:N"),
        ),
        description="Roofline: attainable FLOP/s against operations per byte, with the passes of this scenario.",
        height=theme.HEIGHT,
    )
