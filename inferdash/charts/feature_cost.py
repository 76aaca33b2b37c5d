"""Where the money of a feature goes, and what moves it."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme

KINDS = theme.named_meaning({"compute": "input", "memory": "cache write", "cache": "cached input", "money": "output"})
"""Colours the parts of a bill, and says which is which."""


@cache
def bars(axis: str = "dollars per month", *, ways: int = 2) -> dict[str, Any]:
    """Rows "bars": dollars by kind of token, one after another, in each of so many ways; `axis` says of what."""
    parts = alt.Chart(alt.NamedData("bars"))
    return theme.finished(
        alt.layer(
            parts.mark_bar(height=alt.RelativeBandSize(0.7), stroke=theme.INK, strokeWidth=1).encode(
                alt.X("start:Q", axis=theme.money_axis(axis)),
                alt.X2("end:Q"),
                alt.Y("way:N", sort=None, axis=alt.Axis(title=None, ticks=False, grid=False, labelLimit=220)),
                color=KINDS,
                tooltip=[alt.Tooltip("label:N", title=""), alt.Tooltip("way:N", title="")],
            )
        ),
        description="Cost by kind of token, with the cache and without.",
        height=max(theme.HEIGHT, 120 + 34 * ways),
    )


@cache
def days() -> dict[str, Any]:
    """Rows "days": dollars of a day by kind of token, one after another in time."""
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("days"))
            .mark_bar()
            .encode(
                alt.X("day:O", axis=alt.Axis(title="day", labelAngle=0, labelOverlap="greedy", ticks=False)),
                alt.Y("usd:Q", stack="zero", axis=theme.money_axis("dollars")),
                order=alt.Order("place:Q"),
                color=KINDS,
                tooltip=[alt.Tooltip("day:O", title="day"), alt.Tooltip("label:N", title="")],
            )
        ),
        description="Cost of each day by kind of token.",
        height=320,
    )


@cache
def turns() -> dict[str, Any]:
    """Rows "turns": dollars of each turn of a session by kind of token, one on another."""
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("turns"))
            .mark_bar()
            .encode(
                alt.X("turn:O", axis=alt.Axis(title="turn of the session", labelAngle=0, labelOverlap="greedy")),
                alt.Y("start:Q", axis=theme.money_axis("dollars per turn")),
                alt.Y2("end:Q"),
                color=KINDS,
                tooltip=[alt.Tooltip("turn:O", title="turn"), alt.Tooltip("label:N", title="")],
            )
        ),
        description="Cost of each turn of a session by kind of token.",
        height=320,
    )


@cache
def drivers() -> dict[str, Any]:
    """Rows "drivers": dollars of a month with a quarter less and a quarter more of an input; "now": as it is."""
    parts = alt.Chart(alt.NamedData("drivers"))
    y = alt.Y("input:N", sort=None, axis=alt.Axis(title=None, ticks=False, grid=False, labelLimit=200))
    x = alt.X("less:Q", scale=alt.Scale(zero=False), axis=theme.money_axis("dollars per month"))
    return theme.finished(
        alt.layer(
            parts.mark_bar(height=alt.RelativeBandSize(0.6)).encode(
                x,
                alt.X2("more:Q"),
                y,
                color=theme.MEANING,
                tooltip=[
                    alt.Tooltip("input:N"),
                    alt.Tooltip("less:Q", title="a quarter less, $", format=",.2f"),
                    alt.Tooltip("more:Q", title="a quarter more, $", format=",.2f"),
                ],
            ),
            alt.Chart(alt.NamedData("now"))
            .mark_rule(strokeDash=[4, 4], strokeWidth=2, color=theme.INK)
            .encode(alt.X("usd:Q")),
        ),
        description="Cost of a month with a quarter less and a quarter more of each input.",
        height=320,
    )


@cache
def models(count: int) -> dict[str, Any]:
    """Rows "models": dollars of a month of so many models, each with the longest prompt that it takes."""
    bars_ = alt.Chart(alt.NamedData("models")).encode(
        alt.X("usd:Q", axis=theme.money_axis("dollars per month")),
        alt.Y("name:N", sort=None, axis=alt.Axis(title=None, ticks=False, grid=False, labelLimit=150)),
        tooltip=[
            alt.Tooltip("name:N", title="model"),
            alt.Tooltip("usd:Q", title="a month, $", format=",.2f"),
            alt.Tooltip("context:N", title="context length"),
        ],
    )
    return theme.finished(
        alt.layer(
            bars_.mark_bar(height=alt.RelativeBandSize(0.7)).encode(color=theme.MEANING),
            bars_.mark_point(opacity=0).encode(alt.X("room:Q")),
            bars_.mark_text(**theme.text(align="left", dx=6)).encode(alt.Text("context:N")),
        ),
        description="Cost of a month on each model.",
        height=80 + 32 * count,
    )
