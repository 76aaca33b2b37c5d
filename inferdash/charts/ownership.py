"""What a month costs against its tokens: on an API, on rented machines, on owned ones."""

from functools import cache
from typing import Any

import altair as alt

from inferdash.charts import theme

_MONEY = alt.Axis(
    title="dollars per month", labelExpr="'$' + format(datum.value, '~s')", values=[10**n for n in range(10)]
)


@cache
def ways() -> dict[str, Any]:
    """Rows "lines": dollars by tokens and way; "names": where each line starts, its name above or below.

    "even": where two cost the same; "now": the tokens of the scenario.
    """
    x = alt.X(
        "tokens:Q",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(title="tokens per month", format="~s", values=[10**n for n in range(3, 15)]),
    )
    y = alt.Y("usd:Q", scale=alt.Scale(type="log"), axis=_MONEY)
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("lines")).mark_line().encode(x, y, color=theme.MEANING, detail="meaning:N"),
            alt.Chart(alt.NamedData("even"))
            .mark_point(size=90, filled=True, color=theme.INK)
            .encode(x, y, tooltip=[alt.Tooltip("pair:N", title=""), alt.Tooltip("tokens:Q", format=".3s")]),
            *(
                alt.Chart(alt.NamedData("names"))
                .transform_filter(f"datum.below === {below}")
                .mark_text(align="left", dx=6, dy=dy, fontSize=theme.LABEL_SIZE, color=theme.INK)
                .encode(x, y, text="way:N")
                for below, dy in (("true", 14), ("false", -12))
            ),
            alt.Chart(alt.NamedData("now")).mark_rule(strokeDash=[4, 4], color=theme.INK).encode(x),
        ),
        description="Cost of a month against its tokens by API, rented and owned machines, with their break-evens.",
        height=theme.HEIGHT,
    )
