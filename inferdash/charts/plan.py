"""Set-ups by cost and speed."""

from functools import cache
from typing import Any, Final

import altair as alt

from inferdash.charts import theme

_BESIDE: Final = alt.ExprRef("width < 420 ? -14 : 22")
"""Where the name of the plan lies: below its dot, on a narrow chart above, as the line falls steeply there."""


@cache
def frontier() -> dict[str, Any]:
    """Rows "frontier" (dots on a line of steps), "best" and "target" (a level line)."""
    x = alt.X(
        "usd_per_hour:Q",
        scale=alt.Scale(type="log", padding=30, nice=False),
        axis=theme.log_money_axis("rent per hour"),
    )
    y = alt.Y(
        "itl_s:Q",
        scale=alt.Scale(type="log", padding=20, nice=False),
        axis=theme.log_time_axis("inter-token latency, p90"),
    )
    dots, best, target = (alt.Chart(alt.NamedData(name)) for name in ("frontier", "best", "target"))
    tooltip = [
        alt.Tooltip("label:N", title="set-up"),
        alt.Tooltip("said:N", title="as"),
        alt.Tooltip("usd_per_hour:Q", title="dollars per hour", format=",.2f"),
        alt.Tooltip("itl_s:Q", title="seconds", format=".4f"),
    ]
    return theme.finished(
        alt.layer(
            target.mark_rule(strokeDash=[4, 4], strokeWidth=2, color=theme.INK).encode(y),
            *theme.outlined(target.encode(y, x=alt.value(4)), 13, align="left", dy=-8),
            dots.mark_line(interpolate="step-after", strokeWidth=2).encode(x, y, color=theme.MEANING),
            dots.mark_point(size=70, filled=True, opacity=1).encode(x, y, color=theme.MEANING, tooltip=tooltip),
            best.mark_point(size=320, filled=True, opacity=1, stroke=theme.INK, strokeWidth=1.5).encode(
                x, y, color=theme.MEANING, tooltip=tooltip
            ),
            *theme.outlined(best.encode(x, y), align="left", dx=14, dy=_BESIDE, fontWeight="bold"),
        ),
        description="Dollars an hour of each set-up against the time between its tokens.",
        height=theme.HEIGHT,
    )
