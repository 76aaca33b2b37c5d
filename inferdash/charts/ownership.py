"""What a month costs against its tokens: on an API, on rented machines, on owned ones."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme

_WAYS = theme.named_meaning({"compute": "API", "memory": "rented", "money": "owned"})
"""Colours the ways to pay, and says which is which."""


@cache
def ways() -> dict[str, Any]:
    """Rows "lines": dollars by tokens and way; "even": where two cost the same; "now": the tokens of the scenario."""
    x = alt.X("tokens:Q", scale=alt.Scale(type="log"), axis=alt.Axis(title="tokens a month", format="~s", tickCount=6))
    y = alt.Y("usd:Q", scale=alt.Scale(type="log"), axis=theme.money_axis("dollars a month"))
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("lines")).mark_line().encode(x, y, color=_WAYS, detail="meaning:N"),
            alt.Chart(alt.NamedData("even"))
            .mark_point(size=90, filled=True, color=theme.INK)
            .encode(x, y, tooltip=[alt.Tooltip("pair:N", title=""), alt.Tooltip("tokens:Q", format=".3s")]),
            alt.Chart(alt.NamedData("now")).mark_rule(strokeDash=[4, 4], color=theme.INK).encode(x),
        ),
        description="Cost of a month against its tokens by API, rented and owned machines, with their break-evens.",
        height=theme.HEIGHT,
    )
