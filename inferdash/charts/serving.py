"""Requests over time: as bars, as a batch, and latency along the load."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme


@cache
def bars() -> dict[str, Any]:
    """Rows "bars": a bar for each stage of a request, a request a line, over the seconds since the first could come."""
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("bars"))
            .mark_rect(strokeWidth=1)
            .encode(
                alt.X("start_s:Q", axis=theme.time_axis("time")),
                alt.X2("end_s:Q"),
                alt.Y(
                    "above:Q",
                    scale=alt.Scale(reverse=True, nice=False, zero=False),
                    axis=alt.Axis(title="request, in order of arrival", grid=False, tickMinStep=1),
                ),
                alt.Y2("below:Q"),
                color=theme.MEANING,
                stroke=alt.Stroke("meaning:N", scale=alt.Scale(domain=list(theme.MEANINGS)), legend=None),
                tooltip=[
                    alt.Tooltip("request:Q", title="request, in order of arrival"),
                    alt.Tooltip("label:N", title="stage"),
                ],
            )
        ),
        description="The first requests over time: waiting, reading the prompt, writing the answer.",
        height=theme.HEIGHT,
    )


@cache
def moments(field: str, title: str) -> dict[str, Any]:
    """Rows "batch": a field of them as a line in steps, over time."""
    axis = alt.Axis(title=title, format=".0%", tickCount=4) if field == "cache" else theme.axis(title)
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("batch"))
            .mark_area(interpolate="step-after", opacity=0.6, line=True)
            .encode(
                alt.X("at_s:Q", axis=theme.time_axis("time")),
                alt.Y(f"{field}:Q", axis=axis),
                color=theme.MEANING,
            )
        ),
        description=f"Over time: {title}.",
        height=200,
    )


@cache
def knee() -> dict[str, Any]:
    """Rows "curve" (a line a latency), "names", "load" and "ceiling" (upright lines), "targets" (level ones)."""
    x = alt.X("load:Q", scale=alt.Scale(zero=True, nice=False), axis=theme.axis("load, requests per second"))
    y = alt.Y(
        "seconds:Q",
        scale=alt.Scale(type="log", padding=20),
        axis=theme.log_time_axis("p90 latency"),
    )
    curve, names, now, most, targets = (
        alt.Chart(alt.NamedData(name)) for name in ("curve", "names", "load", "ceiling", "targets")
    )
    top = alt.value(8)
    return theme.finished(
        alt.layer(
            targets.mark_rule(strokeDash=[2, 4], strokeWidth=2).encode(y, color=theme.MEANING),
            most.mark_rule(strokeDash=[4, 4], strokeWidth=2, color=theme.INK).encode(x),
            now.mark_rule(strokeWidth=2, color=theme.INK).encode(x),
            curve.mark_line(strokeWidth=theme.LINE, point=True).encode(x, y, color=theme.MEANING),
            *theme.outlined(names.encode(x, y), 13, align="left", dx=6, dy=-14),
            *theme.outlined(targets.encode(y, x=alt.value(alt.ExprRef("width - 8"))), 13, align="right", dy=13),
            *theme.outlined(now.encode(x, y=top), 13, align="right", dx=-6),
            *theme.outlined(most.encode(x, y=alt.value(28)), 13, align="right", dx=-6),
        ),
        description="Time to first token and between tokens, against the load.",
        height=340,
    )
