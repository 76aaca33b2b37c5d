"""The expected time of a pass beside its limit."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme


@cache
def parts(what: str) -> dict[str, Any]:
    """Rows "parts" of the expected time as one bar, "limit" as a dashed line, "band" as a bracket below."""
    limit = alt.Chart(alt.NamedData("limit")).encode(alt.X("at_s:Q"))
    band = alt.Chart(alt.NamedData("band")).encode(alt.X("low_s:Q"), alt.X2("high_s:Q"))
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("parts"))
            .mark_bar(height=36, stroke=theme.INK, strokeWidth=1)
            .encode(
                alt.X("start_s:Q", axis=theme.time_axis(f"{what} (expected)")),
                alt.X2("end_s:Q"),
                color=theme.MEANING,
                tooltip=[alt.Tooltip("label:N", title="part")],
            ),
            band.mark_rule(strokeWidth=2, yOffset=32, color=theme.INK).encode(
                tooltip=[alt.Tooltip("label:N", title="80% band")]
            ),
            limit.mark_rule(strokeDash=[4, 4], color=theme.INK, strokeWidth=2),
            limit.mark_text(**theme.text(align="left", dx=6, dy=-28)).encode(text="label:N"),
        ),
        height=185,
    )
