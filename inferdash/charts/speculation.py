"""What a draft model gains, against the tokens that it proposes."""

from functools import cache
from typing import Any, Final

import altair as alt

from inferdash.charts import theme

_NARROW: Final = 520
"""Up to this width the lines carry only their share."""


@cache
def gain() -> dict[str, Any]:
    """Rows "gain" (a line for each acceptance), "ends" (their last points), "path" and "own" (the reader's)."""
    axis = alt.Axis(title="proposed tokens per verification step", values=[1, 2, 4, 6, 8, 10, 12, 14, 16], grid=False)
    return _gains(
        "draft_tokens",
        alt.Scale(domain=[0.5, 20], nice=False),
        axis,
        lines="acceptance",
        short="share",
        against="the tokens that are drafted",
    )


@cache
def by_batch() -> dict[str, Any]:
    """The same rows against the requests in the batch, a line for each number of proposed tokens."""
    return _gains(
        "batch",
        alt.Scale(type="log", domain=[1, 3000], nice=False),
        theme.log_axis("batch, requests"),
        lines="label",
        short="label",
        against="the requests in the batch",
    )


def _gains(along: str, scale: alt.Scale, axis: alt.Axis, *, lines: str, short: str, against: str) -> dict[str, Any]:
    """Lines of a speed-up along a field, the reader's thick and with a point."""
    x, detail = alt.X(f"{along}:Q", scale=scale, axis=axis), f"{lines}:N"
    y = alt.Y("speedup:Q", axis=alt.Axis(title="speed-up, times", tickCount=6), scale=alt.Scale(zero=True))
    drawn = alt.Chart(alt.NamedData("gain")).encode(x, y)
    ends = alt.Chart(alt.NamedData("ends")).encode(x, y)
    own = alt.Chart(alt.NamedData("own")).encode(x, y)
    return theme.finished(
        alt.layer(
            drawn.mark_line(strokeWidth=2, color=theme.INK, opacity=0.5).encode(detail=detail),
            alt.Chart(alt.NamedData("even"))
            .mark_rule(strokeDash=[6, 4], strokeWidth=2, color=theme.INK)
            .encode(alt.X(f"{along}:Q"), alt.X2("last:Q"), alt.Y("speedup:Q")),
            alt.Chart(alt.NamedData("even"))
            .mark_text(**theme.text(13, align="left", dx=4, dy=12, x=0))
            .encode(alt.Y("speedup:Q"), text="label:N"),
            alt.Chart(alt.NamedData("path")).encode(x, y).mark_line(strokeWidth=theme.LINE, color=theme.INK),
            *(
                ends.mark_text(**theme.text(alt.ExprRef(size), align="left", dx=8)).encode(text=field)
                for field, size in (
                    ("label:N", f"width > {_NARROW} ? {theme.LABEL_SIZE} : 0"),
                    (f"{short}:N", f"width > {_NARROW} ? 0 : {theme.LABEL_SIZE}"),
                )
            ),
            own.mark_point(size=320, filled=True, opacity=1, color=theme.INK),
            *theme.outlined(own, dy=26, fontWeight="bold"),
        ),
        description=f"Speed-up by speculative decoding, against {against}.",
        height=320,
    )
