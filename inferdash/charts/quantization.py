"""What fewer bits round away, and what they save."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme

_OTHERS = 0.6
"""Opacity of the bars beside the chosen one."""
_NAMES = 13
"""Size of the names of formats, of which there are fifteen."""


@cache
def error() -> dict[str, Any]:
    """Rows "curves" (a line for each number of bits, along the group size), "ends" and "own"."""
    x = alt.X(
        "bits:Q",
        scale=alt.Scale(domain=[2, 11.5], nice=False),
        axis=alt.Axis(title="bits per weight, scale included", values=list(range(2, 12))),
    )
    y = alt.Y(
        "error:Q",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(title="RMS rounding error, share of the RMS weight", format="%", labelOverlap="greedy"),
    )
    curves, ends, own = (alt.Chart(alt.NamedData(name)).encode(x, y) for name in ("curves", "ends", "own"))
    return theme.finished(
        alt.layer(
            curves.mark_line(strokeWidth=3, point=True).encode(
                color=theme.MEANING,
                detail="of:N",
                tooltip=[
                    alt.Tooltip("of:N", title="integers"),
                    alt.Tooltip("group:Q", title="weights for each scale"),
                    alt.Tooltip("bits:Q", title="bits per weight", format=".4~r"),
                    alt.Tooltip("error:Q", title="rounding error", format=".3~%"),
                ],
            ),
            ends.mark_text(**theme.text(13, align="left", dx=8)).encode(text="of:N"),
            own.mark_point(size=320, filled=True, opacity=1, stroke=theme.INK, strokeWidth=1.5).encode(
                color=theme.MEANING
            ),
        ),
        description="Rounding error against bits per weight.",
        height=320,
    )


def sizes() -> dict[str, Any]:
    """Rows of `_bars`, a format each."""
    return _bars(theme.HEIGHT)


def part_sizes() -> dict[str, Any]:
    """Rows of `_bars`, a part of the model each."""
    return _bars(theme.HEIGHT)


@cache
def _bars(height: int) -> dict[str, Any]:
    """Rows "formats": the bytes of the model in each, one of them chosen; "room": where the axis ends at least."""
    bars = alt.Chart(alt.NamedData("formats")).encode(
        alt.X("gb:Q", axis=alt.Axis(title="parameters in memory, GB", tickCount=6)),
        alt.Y(
            "format:N",
            sort=None,
            axis=alt.Axis(
                title=None,
                ticks=False,
                grid=False,
                labelLimit=240,
                labelFontSize=_NAMES,
                labelOverlap=False,
                labelFlush=False,
            ),
        ),
    )
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("room")).mark_rule(opacity=0).encode(alt.X("gb:Q")),
            bars.mark_bar(height=alt.RelativeBandSize(0.6)).encode(
                color=theme.MEANING,
                opacity=alt.condition("datum.chosen === false", alt.value(_OTHERS), alt.value(1)),
                tooltip=[alt.Tooltip("format:N", title="format"), alt.Tooltip("label:N", title="parameters")],
            ),
            bars.mark_text(**theme.text(13, align="left", dx=6)).encode(text="label:N"),
        ),
        description="Bytes of the parameters.",
        height=height,
    )
