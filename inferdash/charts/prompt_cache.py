"""What a request costs against how often it comes."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme


@cache
def lifetime() -> dict[str, Any]:
    """Rows "cost" (the curve), "never" (no cache), "own" (the reader's interval)."""
    x = alt.X(
        "interval_s:Q",
        scale=alt.Scale(type="log", nice=False),
        axis=theme.log_time_axis("time between requests, logarithmic"),
    )
    y = alt.Y(
        "tokens:Q",
        scale=alt.Scale(zero=True),
        axis=theme.axis("billed input, full-price tokens"),
    )
    own = alt.Chart(alt.NamedData("own")).encode(x, y)
    never = alt.Chart(alt.NamedData("never")).encode(y)
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("cost")).mark_line(strokeWidth=theme.LINE).encode(x, y, color=theme.MEANING),
            never.mark_rule(strokeDash=[6, 4], strokeWidth=2, color=theme.INK),
            never.mark_text(**theme.text(13, align="left", x=4, dy=-9)).encode(text="label:N"),
            own.mark_point(size=320, filled=True, opacity=1, stroke=theme.INK, strokeWidth=1.5).encode(
                color=theme.MEANING
            ),
            own.mark_text(**theme.text(dy=-22, fontWeight="bold")).encode(text="label:N"),
        ),
        description="Billed input of a request, against the time between two requests.",
        height=theme.HEIGHT,
    )
