"""Two scenarios on one page: the line that says what differs, and the numbers of both in columns."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from inferdash import quantities
from inferdash.studies import differing
from inferdash.studies.comparison import Beside
from inferdash.studies.numbers import EXPECTED, Headline
from inferdash.ui import state


def row() -> None:
    """What differs between A and B, and what can be done with the two; nothing where one scenario stands alone."""
    pair = state.pair()
    if pair.b is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="compared"):
        st.text(f"B against A. {differing.told(pair.a, pair.b)}")
        if not state.presented():
            st.button("Swap", key="swap", type="tertiary", icon=":material/swap_horiz:", on_click=state.swap)
            for which in ("A", "B"):
                st.button(
                    f"Drop {which}",
                    key=f"drop {which}",
                    type="tertiary",
                    icon=":material/close:",
                    on_click=state.drop,
                    args=(which.lower(),),
                )


def numbers(found: Sequence[Beside], a: str, b: str, *, unsure: bool) -> None:
    """Headline numbers of both in columns, with B to A, under what the page says of each.

    Args:
        found: the numbers.
        a: what the page says of A.
        b: and of B.
        unsure: whether what is expected of the two may err apart, so that bands tell what is not sure.
    """
    rows = "".join(_row(one, unsure=unsure) for one in found)
    heads = "".join(
        f'<th scope="col"><b>{name}</b> <small>{escape(said)}</small></th>' for name, said in (("A", a), ("B", b))
    )
    st.html(
        f'<table class="both"><thead><tr><td></td>{heads}<th scope="col">B to A</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _row(one: Beside, *, unsure: bool) -> str:
    return f'<tr><th scope="row">{escape(one.name)}</th>{_cell(one.a)}{_cell(one.b)}{_to_a(one, unsure=unsure)}</tr>'


def _to_a(one: Beside, *, unsure: bool) -> str:
    """B to A in words, and whether that is better."""
    mark = {True: "better", False: "worse", None: ""}[one.gained]
    doubt = f"{mark}, within both bands" if mark and unsure and one.within_bands else mark
    return f'<td class="{mark}">{escape(one.said)} <small>{doubt}</small></td>'


def _cell(shown: Headline | None) -> str:
    if shown is None or shown.value is None:
        return f"<td>{'–' if shown is None else 'not known'}</td>"
    text = quantities.shown(shown.value, shown.unit)
    exact = f"{shown.value:,.15g} {shown.unit}"
    below = escape(quantities.unbroken(_below(shown)))
    return f'<td title="{escape(exact)}"><b>{escape(str(text))}</b> <small>{below}</small></td>'


def _below(shown: Headline) -> str:
    """What the label says beyond the name, then the band or the expectation."""
    label = shown.label.removesuffix(f" ({shown.kind})")
    particular = label.removeprefix(shown.name).strip(", ") if label.startswith(shown.name) else label
    joint = " " if shown.kind == EXPECTED and not shown.beside.startswith("limit") else ", "
    said = joint.join(filter(None, (shown.kind, shown.beside)))
    return ", ".join(filter(None, (particular, said)))
