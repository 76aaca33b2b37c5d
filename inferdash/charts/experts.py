"""Experts against the batch: how many a pass reads, and what a token costs."""

from functools import cache
from typing import Any, Final

import altair as alt

from inferdash.charts import theme

_BATCH = "batch, requests"
_STARTS: Final[dict[str, dict[str, Any]]] = {
    "waiting": {"align": "left", "dx": 8, "dy": -10},
    "memory": {"align": "right", "dx": 24, "dy": -14},
}
"""Where a line carries its name."""


@cache
def distinct() -> dict[str, Any]:
    """Rows "exact" (the mean for even routing), "drawn" (one random pass each) and "own"."""
    x = alt.X("batch:Q", scale=alt.Scale(type="log", nice=False), axis=theme.log_axis(_BATCH))
    y = alt.Y("experts:Q", scale=alt.Scale(zero=True), axis=theme.axis("experts read per layer"))
    exact, drawn, own = (alt.Chart(alt.NamedData(name)).encode(x, y) for name in ("exact", "drawn", "own"))
    return theme.finished(
        alt.layer(
            exact.mark_line(strokeWidth=theme.LINE).encode(color=theme.MEANING),
            drawn.mark_point(size=45, filled=True, opacity=0.8, shape="square").encode(color=theme.MEANING),
            own.mark_point(size=320, filled=True, opacity=1, stroke=theme.INK, strokeWidth=1.5).encode(
                color=theme.MEANING
            ),
            *theme.outlined(own, align="left", dx=14, dy=16, fontWeight="bold"),
        ),
        description="Distinct experts that one pass loads, against the tokens in the batch.",
        height=theme.HEIGHT,
    )


@cache
def cost() -> dict[str, Any]:
    """Rows "lines" (a model each), "starts" and "ends" (the points that carry their names)."""
    x = alt.X("batch:Q", scale=alt.Scale(type="log", nice=False), axis=theme.log_axis(_BATCH))
    y = alt.Y(
        "token_s:Q",
        scale=alt.Scale(type="log", padding=24),
        axis=theme.log_time_axis("time of an output token (limit)"),
    )
    lines, starts, ends = (alt.Chart(alt.NamedData(name)).encode(x, y) for name in ("lines", "starts", "ends"))
    return theme.finished(
        alt.layer(
            lines.mark_line(strokeWidth=theme.LINE).encode(color=theme.MEANING, detail="model:N"),
            *(
                layer
                for meaning, where in _STARTS.items()
                for layer in theme.outlined(starts.transform_filter(f"datum.meaning == '{meaning}'"), 13, **where)
            ),
            ends.mark_text(**theme.text(13, align="right", dy=16)).encode(text="label:N"),
        ),
        description="What a token costs, against the tokens in the batch.",
        height=theme.HEIGHT,
    )
