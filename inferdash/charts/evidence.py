"""Measured times over expected ones."""

from functools import cache
from typing import Any, Final

import altair as alt

from inferdash.charts import theme

CHOSEN: Final = "chosen"
"""The selection of a point."""


@cache
def scatter() -> dict[str, Any]:
    """Rows "points", a dot each, on logarithmic axes; "equal" is where both are the same.

    A click chooses a point, by its field "place".
    """
    click = alt.selection_point(name=CHOSEN, fields=["place"], toggle=False)
    equal = alt.Chart(alt.NamedData("equal"))
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("points"))
            .mark_circle(cursor="pointer")
            .encode(
                alt.X("expected_s:Q", scale=alt.Scale(type="log"), axis=theme.log_time_axis("expected")),
                alt.Y("measured_s:Q", scale=alt.Scale(type="log"), axis=theme.log_time_axis("measured")),
                color=theme.MEANING,
                size=alt.condition(click, alt.value(160), alt.value(24), empty=False),
                opacity=alt.condition(click, alt.value(1), alt.value(0.55), empty=False),
                tooltip=[
                    alt.Tooltip("label:N", title=""),
                    alt.Tooltip("phase:N", title="phase"),
                    alt.Tooltip("said:N", title="time"),
                ],
            )
            .add_params(click),
            equal.mark_line(strokeDash=[4, 4], color=theme.INK, strokeWidth=2).encode(alt.X("at_s:Q"), alt.Y("at_s:Q")),
        ),
        description="Published measurements, measured against expected.",
        height=theme.HEIGHT,
    )


@cache
def distribution(count: int) -> dict[str, Any]:
    """Rows "groups", a line, a bar and a tick each, on a logarithmic axis; "even" is where both are the same."""
    y = alt.Y(
        "group:N",
        sort=None,
        axis=alt.Axis(title=None, labelLimit=170, labelOverlap=False, labelFlush=False, ticks=False, grid=False),
    )
    scale = alt.Scale(type="log", nice=False, domainMin=0.4, domainMax=2.5, clamp=True)
    axis = alt.Axis(title="measured / expected time", values=[0.5, 0.7, 1, 1.4, 2], format="~g")
    rows = alt.Chart(alt.NamedData("groups")).encode(y)
    tooltip = [
        alt.Tooltip("group:N", title="group"),
        alt.Tooltip("points:Q", title="measurements", format=","),
        *(alt.Tooltip(f"{field}:Q", title=title, format=".2f") for field, title in _EDGES.items()),
    ]
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("even"))
            .mark_rule(strokeDash=[4, 4], color=theme.INK, strokeWidth=1.5)
            .encode(alt.X("at:Q")),
            rows.mark_rule(strokeWidth=2, color=theme.INK).encode(
                alt.X("low:Q", scale=scale, axis=axis), alt.X2("high:Q")
            ),
            rows.mark_bar(height=14, opacity=0.8).encode(
                alt.X("under:Q"), alt.X2("over:Q"), color=theme.MEANING, tooltip=tooltip
            ),
            rows.mark_tick(thickness=3, size=20, color=theme.INK).encode(alt.X("middle:Q"), tooltip=tooltip),
        ),
        description="How far measurements lie from what is expected, by group.",
        height=70 + 34 * count,
    )


_EDGES: Final = {"low": "10%", "under": "25%", "middle": "median", "over": "75%", "high": "90%"}
