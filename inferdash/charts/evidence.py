"""Measured times over expected ones."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme


@cache
def scatter() -> dict[str, Any]:
    """Rows "points", a dot each, on logarithmic axes; "equal" is where both are the same."""
    equal = alt.Chart(alt.NamedData("equal"))
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("points"))
            .mark_circle(size=22, opacity=0.55)
            .encode(
                alt.X("expected_s:Q", scale=alt.Scale(type="log"), axis=theme.log_time_axis("expected")),
                alt.Y("measured_s:Q", scale=alt.Scale(type="log"), axis=theme.log_time_axis("measured")),
                color=theme.MEANING,
                tooltip=[
                    alt.Tooltip("label:N", title=""),
                    alt.Tooltip("phase:N", title="phase"),
                    alt.Tooltip("said:N", title="time"),
                ],
            ),
            equal.mark_line(strokeDash=[4, 4], color=theme.INK, strokeWidth=2).encode(alt.X("at_s:Q"), alt.Y("at_s:Q")),
        ),
        height=420,
    )
