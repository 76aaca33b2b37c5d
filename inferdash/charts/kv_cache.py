"""The cache as pictures: which positions run, what a pass loads along the text, what the memory holds."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme


@cache
def grid() -> dict[str, Any]:
    """Rows "cells": a pass a row, a position a column; filled where it runs, outlined where it is read."""
    x = alt.X("position:O", axis=alt.Axis(title="position of the text, token", labelAngle=0, ticks=False, grid=False))
    y = alt.Y("pass:O", axis=alt.Axis(title="pass, number", ticks=False, grid=False))
    cells = alt.Chart(alt.NamedData("cells")).encode(x, y)
    tooltip = [alt.Tooltip(f"{field}:N") for field in ("pass", "position", "token", "state", "writes")]
    return theme.finished(
        alt.layer(
            cells.transform_filter("datum.state == 'run'")
            .transform_calculate(meaning="'compute'")
            .mark_rect(stroke=theme.INK, strokeWidth=1)
            .encode(color=theme.MEANING, tooltip=tooltip),
            cells.transform_filter("datum.state == 'read'")
            .transform_calculate(meaning="'cache'")
            .mark_rect(fillOpacity=0.25, strokeWidth=1, stroke=theme.INK)
            .encode(color=theme.MEANING, tooltip=tooltip),
        ),
        height=240,
    )


@cache
def loading() -> dict[str, Any]:
    """Rows "parts": loading time of parameters and caches, stacked, along the length of the text."""
    x = alt.X("tokens:Q", scale=alt.Scale(type="log", nice=False), axis=theme.log_axis("tokens of the text, number"))
    y = alt.Y("load_s:Q", stack="zero", axis=theme.time_axis("loading of a pass, limit"))
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("parts"))
            .mark_area(opacity=0.85)
            .encode(
                x,
                y,
                color=theme.MEANING,
                order=alt.Order("meaning:N", sort="descending"),
                tooltip=[
                    alt.Tooltip("part:N"),
                    alt.Tooltip("tokens:Q", format=","),
                    alt.Tooltip("load_s:Q", title="seconds"),
                ],
            ),
            alt.Chart(alt.NamedData("names"))
            .mark_text(**theme.text(align="left", dx=8, dy=-10))
            .encode(x, alt.Y("load_s:Q"), text="part:N"),
        ),
        height=300,
    )


@cache
def memory() -> dict[str, Any]:
    """Rows "parts" of one bar, and row "room": where the memory ends."""
    parts = alt.Chart(alt.NamedData("parts"))
    x = alt.X("start_b:Q", axis=alt.Axis(title="memory of all GPUs, bytes", format="~s", tickCount=6))
    return theme.finished(
        alt.layer(
            parts.mark_bar(height=30, stroke=theme.INK, strokeWidth=1).encode(
                x,
                alt.X2("end_b:Q"),
                alt.Y("label:N", sort=None, axis=alt.Axis(title=None, ticks=False, grid=False, labelLimit=240)),
                color=theme.MEANING,
                tooltip=[alt.Tooltip("label:N", title="part")],
            ),
            alt.Chart(alt.NamedData("room"))
            .mark_rule(strokeDash=[4, 4], strokeWidth=2, color=theme.INK)
            .encode(alt.X("end_b:Q")),
        ),
        height=190,
    )
