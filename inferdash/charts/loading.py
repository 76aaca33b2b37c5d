"""Memory read time of a pass as stacked areas: the parameters, and the caches on top of them."""

from functools import cache
from typing import Any, Final

import altair as alt

from inferdash.charts import theme

_PLACES: Final[dict[str, dict[str, Any]]] = {
    "left": {"align": "left", "baseline": "middle", "dx": 8},
    "inside": {"align": "right", "baseline": "bottom", "dx": -8, "dy": -3},
    "above": {"align": "right", "baseline": "bottom", "dx": -8, "dy": -5},
}
"""How the name of a part lies at its place."""


@cache
def loading(along: str, title: str) -> dict[str, Any]:
    """Rows "parts" along the field `along`, and "names": where the name of each part stands.

    Rows "expected": what a whole pass is expected to take, and its band; "last" carries its name.
    """
    x = alt.X(f"{along}:Q", scale=alt.Scale(type="log", nice=False), axis=theme.log_axis(title))
    y = alt.Y("load_s:Q", stack="zero", axis=theme.time_axis("memory read (limit) and pass (expected)"))
    passes, last = (alt.Chart(alt.NamedData(name)).encode(x) for name in ("expected", "last"))
    return theme.finished(
        alt.layer(
            alt.Chart(alt.NamedData("parts"))
            .mark_area(opacity=0.6)
            .encode(
                x,
                y,
                color=theme.MEANING,
                order=alt.Order("meaning:N", sort="descending"),
                tooltip=[
                    alt.Tooltip("part:N", title="what is read"),
                    alt.Tooltip(f"{along}:Q", title=title, format=","),
                    alt.Tooltip("load_s:Q", title="seconds"),
                ],
            ),
            passes.mark_area(color=theme.INK, opacity=theme.BAND).encode(alt.Y("low_s:Q"), alt.Y2("high_s:Q")),
            passes.mark_line(**theme.EXPECTED).encode(alt.Y("expected_s:Q")),
            *theme.outlined(last.encode(alt.Y("expected_s:Q")), 13, **theme.NAMED),
            *(
                alt.Chart(alt.NamedData("names"))
                .transform_filter(f"datum.place == '{place}'")
                .mark_text(**theme.text(**where))
                .encode(x, alt.Y("load_s:Q"), text="part:N")
                for place, where in _PLACES.items()
            ),
        ),
        description=f"Memory read time of a pass, parameters and cache, and its expected time, against {title}.",
        height=theme.HEIGHT,
    )


def along_text() -> dict[str, Any]:
    """Along the length of the context, the field "tokens"."""
    return loading("tokens", "context length, tokens")


def along_batch() -> dict[str, Any]:
    """Along the batch, the field "batch"."""
    return loading("batch", "batch, requests")
