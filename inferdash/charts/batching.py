"""What a batch gains together and costs each request, and how slots stay filled."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme


@cache
def curve() -> dict[str, Any]:
    """Rows "path" (batches that fit), "beyond" (that do not), "points" and "own" (with their batch as label).

    Rows "expected", with its "band" as an outline, its "name" at one end and the own batch on it, "reached".
    """
    x = alt.X("each:Q", scale=alt.Scale(zero=True), axis=theme.axis("output speed per request, tokens/s"))
    y = alt.Y(
        "together:Q",
        scale=alt.Scale(zero=True),
        axis=theme.axis("total throughput, tokens/s"),
    )
    parts = {
        name: alt.Chart(alt.NamedData(name)).encode(x, y, order="batch:Q")
        for name in ("path", "beyond", "points", "own", "expected", "name", "reached")
    }
    band = alt.Chart(alt.NamedData("band")).encode(x, y, order="place:Q")
    return theme.finished(
        alt.layer(
            band.mark_line(filled=True, fill=theme.INK, fillOpacity=theme.BAND, strokeWidth=0),
            parts["expected"].mark_line(**theme.EXPECTED),
            *theme.outlined(parts["name"], 13, align="left", dx=8, dy=-4),
            parts["beyond"].mark_line(strokeWidth=3, strokeDash=[5, 5], color=theme.INK, opacity=0.5),
            parts["path"].mark_line(strokeWidth=theme.LINE).encode(color=theme.MEANING),
            parts["points"].mark_point(size=70, filled=True, opacity=1, color=theme.INK),
            *theme.outlined(parts["points"], 13, align="left", dx=9, dy=-4),
            parts["own"]
            .mark_point(size=320, filled=True, opacity=1, stroke=theme.INK, strokeWidth=1.5)
            .encode(color=theme.MEANING),
            parts["reached"].mark_point(
                size=130, filled=True, fill=alt.ExprRef("background"), opacity=1, stroke=theme.INK, strokeWidth=2
            ),
            *theme.outlined(
                parts["reached"].properties(description=theme.ALONE),
                theme.NOT_ON_A_PHONE,
                align="right",
                dx=-10,
                dy=14,
            ),
            *theme.outlined(parts["own"], align="left", dx=14, dy=-12, fontWeight="bold"),
        ),
        description="Tokens a second of the whole batch, and of each request in it, against the requests in the batch.",
        height=theme.HEIGHT,
    )


@cache
def stays(way: str) -> dict[str, Any]:
    """Rows "stays": requests as bars in their slots over passes, of one way; "end" holds the axis of both ways."""
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("end")).mark_rule(opacity=0).encode(alt.X("start:Q")),
            alt.Chart(alt.NamedData("stays"))
            .transform_calculate(meaning="'compute'")
            .mark_rect(stroke="white", strokeWidth=0.6)
            .encode(
                alt.X("start:Q", axis=theme.axis(f"{way} batching, passes")),
                alt.X2("end:Q"),
                alt.Y(
                    "above:Q",
                    scale=alt.Scale(reverse=True, nice=False, zero=False),
                    axis=alt.Axis(title="slot", tickCount=4, tickMinStep=1, grid=False),
                ),
                alt.Y2("below:Q"),
                color=theme.MEANING,
                tooltip=[
                    alt.Tooltip("request:Q", title="request, in order of arrival"),
                    alt.Tooltip("slot:Q", title="slot of the batch"),
                    alt.Tooltip("tokens:Q", title="output tokens"),
                ],
            ),
        ),
        description=f"Passes that each request takes part in, {way} batching.",
        height=240,
    )
