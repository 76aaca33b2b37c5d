"""How often a month costs how much."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme


@cache
def histogram() -> dict[str, Any]:
    """Rows "bins": the share of the draws between two costs."""
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("bins"))
            .mark_bar(orient="vertical", color=theme.INK, opacity=0.6)
            .encode(
                alt.X("low:Q", axis=theme.money_axis("dollars per month")),
                alt.X2("high:Q"),
                alt.Y("share:Q", axis=alt.Axis(title="share of draws", format="%")),
            )
        ),
        description="Distribution of the cost of a month over the draws of all ranges.",
        height=theme.HEIGHT,
    )


@cache
def per_joule() -> dict[str, Any]:
    """Rows "energy": tokens for a joule against the batch."""
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("energy"))
            .mark_line(color=theme.INK)
            .encode(
                alt.X("batch:Q", scale=alt.Scale(type="log"), axis=theme.log_axis("requests in the batch")),
                alt.Y("tokens_per_j:Q", axis=theme.axis("output tokens per joule")),
            )
        ),
        description="Output tokens per joule against the batch.",
        height=theme.HEIGHT,
    )
