"""The expected time of a pass beside its limit."""

from functools import cache
from typing import Any, Final

import altair as alt

from inferdash.charts import theme

_SIZE: Final = 13
_LETTER: Final = 6.5
"""Pixels of a letter of that size, at most."""


@cache
def parts(what: str) -> dict[str, Any]:
    """Rows "parts" of the expected time as one bar, "limit" as a dashed line, "band" as a bracket below.

    A part carries its name and its time where it is wide enough for them.
    """
    limit = alt.Chart(alt.NamedData("limit")).encode(alt.X("at_s:Q"))
    band = alt.Chart(alt.NamedData("band")).encode(alt.X("low_s:Q"), alt.X2("high_s:Q"))
    bars = alt.Chart(alt.NamedData("parts"))
    wide = "scale('x', datum.end_s) - scale('x', datum.start_s)"
    fits = alt.ExprRef(f"{wide} > {_LETTER} * max(length(datum.short), length(datum.time)) ? 1 : 0")
    late = "scale('x', datum.at_s) > width - 130"  # where the limit's label has no room on the right
    side, apart = alt.ExprRef(f"{late} ? 'right' : 'left'"), alt.ExprRef(f"{late} ? -6 : 6")
    return theme.finished(
        alt.layer(
            bars.mark_bar(height=36, stroke=theme.INK, strokeWidth=1).encode(
                alt.X("start_s:Q", axis=theme.time_axis(f"{what} (expected)")),
                alt.X2("end_s:Q"),
                color=theme.MEANING,
                tooltip=[alt.Tooltip("label:N", title="part")],
            ),
            band.mark_rule(strokeWidth=2, yOffset=32, color=theme.INK).encode(
                tooltip=[alt.Tooltip("label:N", title="80% band")]
            ),
            limit.mark_rule(strokeDash=[4, 4], color=theme.INK, strokeWidth=2),
            limit.mark_text(**theme.text(align=side, dx=apart, dy=-70)).encode(text="label:N"),
            *(
                layer
                for field, up in (("short", -46), ("time", -29))
                for layer in theme.outlined(
                    bars.transform_calculate(label=f"datum.{field}").encode(alt.X("middle_s:Q")),
                    _SIZE,
                    dy=up,
                    opacity=fits,
                )
            ),
            alt.Chart(alt.NamedData("band"))
            .mark_text(**theme.text(_SIZE, align="right", dy=46))
            .encode(alt.X("high_s:Q"), text="label:N"),
        ),
        description=f"The parts of the expected time of a {what}.",
        height=250,
    )
