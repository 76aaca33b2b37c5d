"""Several values of one field in one table, on every page whose numbers follow from a link."""

from typing import Any, Final

import pandas as pd
import streamlit as st

from inferdash.scenario import Choices, mark
from inferdash.studies import comparison, variants
from inferdash.ui import state
from inferdash.ui.sections import section

_TITLE: Final = "Variants in one table"
_FIRST: Final[dict[str, Any]] = {
    "batch": "1, 16, 64",
    "gpus": "1, 2, 4, 8",
    "users": "10,000; 40,000; 160,000",
    "interval": "1 min, 10 min, 1 h",
    "prompt": "1,024; 8,192; 32,768",
}
"""Field -> the values that stand there until the reader's."""
_FIRST_OF: Final = {"feature_cost": "users", "prompt_cache": "interval", "kv_cache": "prompt"}
"""Page -> the field with which it opens, where the batch changes nothing of it."""


def varying(page: str) -> None:
    """The section; to be called after the page."""
    if page in comparison.PAGES:
        section(_TITLE, lambda: _body(page), icon=":material/table_rows:", key="variants")


def _body(page: str) -> None:
    scenario = state.scenario()
    names = variants.fields(scenario)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        field = _field(page, names)
        given = _values(field)
    found = variants.variants(scenario, field, given)
    for problem in found.problems:
        st.text(problem.sentence)
    if len(found.scenarios) < 2:  # noqa: PLR2004 - one is no choice
        st.markdown("Two values or more make a table, up to eight.")
        return
    st.markdown(variants.table(page, found, address=page.replace("_", "-")).markdown())
    if note := variants.note(found):
        st.caption(note.replace("$", "\\$"))
    st.download_button(
        "Download as CSV",
        lambda: pd.DataFrame(variants.records(page, found)).to_csv(index=False),
        file_name=f"{page}-by-{field}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )


def _field(page: str, names: dict[str, str]) -> str:
    chosen, _ = state.varied()
    key = state.visit("vary")
    options = list(names)
    first = chosen if chosen in names else _FIRST_OF.get(page, "batch")
    place = options.index(first) if first in names else 0
    return st.selectbox(
        "Field", options, place, format_func=names.__getitem__, key=key, on_change=state.vary, args=(None, key)
    )


def _values(field: str) -> list[Any]:
    """What the reader entered for the field: ids that were chosen, or a list of values."""
    _, given = state.varied()
    key = state.visit(f"vary {field}")
    choices = mark(field, Choices)
    common: dict[str, Any] = {"key": key, "on_change": state.vary, "args": (field, key)}
    label = "Values"
    if choices:
        names = choices.names()
        default = [one for one in given.get(field, ()) if one in names]
        return st.multiselect(
            "Values",
            list(names),
            default=default,
            format_func=names.__getitem__,
            max_selections=variants.MOST,
            **common,
        )
    first = "yes, no" if isinstance(getattr(state.scenario(), field), bool) else _FIRST.get(field, "")
    return variants.values(
        st.text_input(label, given.get(field, first), placeholder="Values with commas between them", **common)
    )
