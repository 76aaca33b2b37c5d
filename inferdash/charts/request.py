"""One request over time."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme


@cache
def first_token() -> dict[str, Any]:
    """Rows "waiting", the stages before the first token, as one stacked bar; the wide ones carry their name."""
    stages = alt.Chart(alt.NamedData("waiting"))
    return theme.finished(
        alt.layer(
            stages.mark_bar(height=32, stroke=theme.INK, strokeWidth=1).encode(
                alt.X("start_s:Q", axis=theme.time_axis("time to first token (limit)")),
                alt.X2("end_s:Q"),
                color=theme.MEANING,
                tooltip=[alt.Tooltip("label:N", title="stage")],
            ),
            stages.transform_filter("datum.wide")
            .transform_calculate(middle_s="(datum.start_s + datum.end_s) / 2")
            .mark_text(**theme.text(dy=-26))
            .encode(alt.X("middle_s:Q"), text="label:N"),
        ),
        description="The parts of the time to first token.",
        height=150,
    )


@cache
def timeline() -> dict[str, Any]:
    """Rows "stages", a row each: when it starts, when it ends; row "first" is the first token."""
    first = alt.Chart(alt.NamedData("first")).encode(alt.X("at_s:Q"))
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("stages"))
            .mark_bar(height=24)
            .encode(
                alt.X("start_s:Q", axis=theme.time_axis("time since sending (limit)")),
                alt.X2("end_s:Q"),
                alt.Y("label:N", sort=None, axis=alt.Axis(title=None, ticks=False, labelLimit=240, grid=False)),
                color=theme.MEANING,
                tooltip=[alt.Tooltip("label:N", title="stage")],
            ),
            first.mark_rule(strokeDash=[4, 4], color=theme.INK, strokeWidth=2),
            first.mark_text(**theme.text(13, align="left", dx=6, y=8)).encode(text="label:N"),
        ),
        description="One request from sending to its last token.",
        height=270,
    )
