"""The cache as pictures: which positions run, what a pass loads along the text, what the memory holds."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme


@cache
def grid() -> dict[str, Any]:
    """Rows "cells": a pass a row, a position a column; full where it runs, pale and dashed where it is read."""
    x = alt.X(
        "position:O",
        axis=alt.Axis(title="position in the text", labelAngle=0, ticks=False, grid=False, labelOverlap="greedy"),
    )
    y = alt.Y(
        "made:N",
        sort=None,
        axis=alt.Axis(
            title="decoding step and the token it writes",
            labelExpr="width > 420 ? datum.label : replace(datum.label, ' writes', ':')",
            labelLimit=240,
            ticks=False,
            grid=False,
            labelOverlap="greedy",
        ),
    )
    room = alt.ExprRef("width > 520 ? 15 : width > 400 ? 12 : width > 240 ? 10 : 0")
    cells = alt.Chart(alt.NamedData("cells")).encode(x, y)
    said = {"pass": "step", "position": "position", "token": "its token", "state": "computed or read from the cache"}
    tooltip = [
        alt.Tooltip(f"{field}:N", title=title) for field, title in (said | {"writes": "the step writes"}).items()
    ]
    return theme.finished(
        alt.layer(
            cells.transform_filter("datum.state == 'run'")
            .transform_calculate(meaning="'compute'")
            .mark_rect(fillOpacity=0.5, stroke=theme.INK, strokeWidth=2)
            .encode(color=theme.MEANING, tooltip=tooltip),
            cells.transform_filter("datum.state == 'read'")
            .transform_calculate(meaning="'cache'")
            .mark_rect(fillOpacity=0.25, strokeWidth=1, strokeDash=[4, 4], stroke=theme.INK)
            .encode(color=theme.MEANING, tooltip=tooltip),
            cells.transform_filter("datum.named").mark_text(**theme.text(room)).encode(text="token:N"),
        ),
        description="Positions that each pass computes, with a KV cache and without.",
        height=theme.HEIGHT,
    )


@cache
def memory() -> dict[str, Any]:
    """Rows "parts" of one bar, and row "room": where the memory ends."""
    parts, room = alt.Chart(alt.NamedData("parts")), alt.Chart(alt.NamedData("room"))
    # The name of the line, at most 150 pixels long, lies on the side where there is room for it.
    side = alt.ExprRef("scale('x', datum.end_b) > width - 150 ? 'right' : 'left'")
    x = alt.X("start_b:Q", axis=theme.bytes_axis("memory"))
    return theme.finished(
        alt.layer(
            parts.mark_bar(height=alt.RelativeBandSize(0.8), stroke=theme.INK, strokeWidth=1).encode(
                x,
                alt.X2("end_b:Q"),
                alt.Y(
                    "label:N",
                    sort=None,
                    axis=alt.Axis(title=None, ticks=False, grid=False, labelLimit=260, labelOverlap=False),
                ),
                color=theme.MEANING,
                tooltip=[alt.Tooltip("label:N", title="part")],
            ),
            room.mark_rule(strokeDash=[4, 4], strokeWidth=2, color=theme.INK).encode(alt.X("end_b:Q")),
            room.mark_text(**theme.text(baseline="bottom", dy=-4, align=side)).encode(
                alt.X("end_b:Q"), y=alt.value(0), text="label:N"
            ),
        ),
        description="What is in the memory of each GPU.",
        height=theme.HEIGHT,
    )
