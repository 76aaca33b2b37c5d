"""What every page is made of: its sentence, its numbers, its charts, its table, its sources."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import streamlit as st

from inferdash import pictures, quantities
from inferdash.charts import side_by_side, theme
from inferdash.charts.side_by_side import Rows
from inferdash.facts import library
from inferdash.facts.models.architecture import Architecture
from inferdash.scenario import Scenario
from inferdash.studies import comparison, reasons
from inferdash.studies.check import evidence, verdict
from inferdash.studies.differing import beyond_numbers, of_other_make
from inferdash.studies.numbers import Headline, Table, literal
from inferdash.studies.side_by_side import beside
from inferdash.ui import comparing, state
from inferdash.ui.entering.controls import control

_ADDRESS: Final = re.compile(r"\\:(?=\\/)|www(?=\\\.)|\\@", re.IGNORECASE)
"""By what an address begins, or a mailbox has, in text whose signs are escaped."""
_JOINER: Final = "\N{WORD JOINER}"
LIMIT: Final = "Limit: the theoretical best, at the datasheet’s full compute and bandwidth. Real systems are slower."
EXPECTED: Final = "Expected: what {engine} is measured to reach, with a band that holds 80% of measurements."
"""What the words mean in a label."""


def result(
    title: str,
    sentence: str,
    shown: Sequence[Headline] | Callable[[], Sequence[Headline]],
    subject: str = "",
    *,
    batches: Sequence[float] = (),
    served: bool = False,
    marked: bool = True,
) -> None:
    """The page's name and what it is about, the scenario unless said; its result in words, and the headline numbers.

    The result goes out first. Numbers that take longer are worked out while it is on its way.

    Where a number is an expected one, a mark says whether the scenario was measured, and leads to the evidence.
    Sentence and numbers stay in view while the page is scrolled. The exact figure of a number is there on hover.

    Args:
        title: the page's name.
        sentence: its result in words.
        shown: the headline numbers, or how they are worked out.
        subject: what it is about.
        batches: requests in flight that they are of, the scenario's unless said.
        served: whether they are of serving, with all that is switched on there.
        marked: whether the mark is one of what the numbers are of: those of a plan are of its own set-up.
    """
    scenario, pair, page = state.scenario(), state.pair(), state.page()
    both = pair.b is not None and page in comparison.PAGES
    found = comparison.headlines(page, pair.a, pair.b) if pair.b and both else []
    about = st.container(horizontal=True, vertical_alignment="center", key="about")
    for sentence_of_change in (*scenario.architecture.corrected, *scenario.hardware.corrected):
        st.caption(f"{sentence_of_change} A link made before then gave other numbers.")
    with st.container(key="result"):
        if pair.b and both:
            st.title(quantities.unbroken(comparison.sentence(page, pair.a, pair.b)), anchor=False)
            sentences = (comparison.answer(page, one).sentence for one in (pair.a, pair.b))
            comparing.numbers(found, *sentences, unsure=of_other_make(pair.a, pair.b))
            if beyond := " ".join(filter(None, (reasons.of(page, pair.a, pair.b), beyond_numbers(pair.a, pair.b)))):
                st.caption(beyond)
            state.offers(reasons.rent_asked(page, pair.a, pair.b))
        else:
            st.title(quantities.unbroken(sentence), anchor=False)
        numbers = shown() if callable(shown) else shown
        if numbers and not (pair.b and both):
            st.html(f'<dl class="numbers">{"".join(_cell(one) for one in numbers)}</dl>')
    with about:
        whose = " of B" if pair.b else ""
        st.caption(f"{title.removesuffix('?')}{whose}: {subject or scenario.subject}", width="content")
        if marked and any("expected" in f"{one.label} {one.beside}" for one in numbers):
            _mark(verdict.mark(scenario, *batches, served=served))
    st.set_page_config(page_title=f"{comparison.tab(title, numbers, found)} · inferdash")
    if pair.b and not both:
        st.caption("This page is of B alone: its numbers follow from a file of yours.")
    for note in scenario.notes:
        st.text(note)


def _mark(words: str) -> None:
    """How the scenario stands to what was measured, in a few words; a click leads to the evidence."""
    st.button(
        words,
        key=state.visit("mark"),
        type="tertiary",
        icon=":material/fact_check:",
        help=verdict.HELP,
        on_click=state.ask_for,
        args=(evidence.NAME,),
    )


def _cell(shown: Headline) -> str:
    value, unit = shown.value, shown.unit
    if value is None:
        number, small, exact = "not known", "", "an input is not known"
    else:
        text = quantities.shown(value, unit)
        # "671 billion" under “Parameters” says it all.
        small = "" if unit == "parameters" else text.unit
        number, exact = text.number, f"{value:,.15g} {unit}"
    below = f'<dd class="expected">{escape(quantities.unbroken(shown.beside))}</dd>' if shown.beside else ""
    return (
        f'<div><dt>{escape(shown.label)}</dt><dd title="{escape(exact)}">{escape(number)}'
        f" <small>{escape(small)}</small></dd>{below}</div>"
    )


def terms(shown: Sequence[Headline], more: str = "") -> None:
    """What the words in the labels of headline numbers mean, after what there is to say of the chart above."""
    words = [more] if more else []
    words += [LIMIT] * any("limit" in f"{one.label} {one.beside}" for one in shown)
    expected = any("expected" in f"{one.label} {one.beside}" for one in shown)
    words += [EXPECTED.format(engine=state.scenario().program.name)] * expected
    if words:
        st.caption(" ".join(words))


def notes(sentences: Sequence[str]) -> None:
    """What the reader should know before trusting the numbers; as text, for a file or a link may speak in it."""
    if sentences:
        st.markdown("  \n".join(f":material/info: {plain(sentence)}" for sentence in sentences))


def plain(text: str) -> str:
    """Markdown that shows a text as it is: Streamlit makes links of addresses whose signs are escaped, too."""
    return _ADDRESS.sub(rf"\g<0>{_JOINER}", literal(text))


def picture(*, key: str) -> bool:
    """The picture of the open page, of both scenarios where two are compared; whether there is one."""
    found = pictures.picture(state.page(), state.pair())
    if found:
        st.vega_lite_chart(filled(found.spec, found.rows), key=key)
        if found.key:
            st.caption(found.key)
    return found is not None


def chart(spec: dict[str, Any], rows: Rows | Callable[[Scenario], Rows], *, key: str) -> None:
    """A chart of `charts/` with its rows, of both scenarios where two are compared and rows are told for any.

    Its text for those who do not see it stands in the specification, as a text that changes would have the browser
    build the chart anew; what it shows of the scenario is the sentence that stands beside it. Rows are those that the
    chart names, as it fails over others when they change.
    """
    a = state.beside()
    if not callable(rows):
        _of_b_alone()
        st.vega_lite_chart(filled(spec, rows), key=key)
        return
    of_b, of_a = rows(state.scenario()), rows(a) if a else {}
    if of_a and of_b and of_a != of_b:
        spec, of_b = side_by_side.over(spec), side_by_side.rows_over(spec, of_a, of_b)
        st.caption(pictures.KEY)
    if of_b:
        st.vega_lite_chart(filled(spec, of_b), key=key)


def caption_of_both(sentence: Callable[[Scenario], str]) -> None:
    """What is to be known of the scenario, in small words; of both scenarios where it is another thing of each."""
    a, of_b = state.beside(), sentence(state.scenario())
    of_a = sentence(a) if a else of_b
    st.caption(plain(of_b if of_a == of_b else f"A: {of_a} B: {of_b}"))


def _of_b_alone() -> None:
    if state.beside():
        st.caption("Of B:")


def choosable(spec: dict[str, Any], rows: Callable[..., Rows], *of: str | None, key: str, name: str) -> Any:
    """A chart in which a click chooses a row, by the field of its selection `name`; the field's value, or None.

    Its rows are those of `of`, the same for every scenario.
    """
    shown = _looking(spec) | {"datasets": _lasting(rows, of)}
    event = st.vega_lite_chart(shown, key=key, on_select=state.acted, selection_mode=name)
    found = event.selection.get(name) or []
    return next(iter(found[0].values())) if found else None


def filled(spec: dict[str, Any], rows: Rows) -> dict[str, Any]:
    """A specification with its rows, for Streamlit."""
    return _looking(spec) | {"datasets": _tables(rows)}


def _looking(spec: dict[str, Any]) -> dict[str, Any]:
    """A specification as it is shown now."""
    return theme.large(spec) if state.presented() else spec


def _tables(rows: Rows) -> dict[str, pa.Table]:
    """Tables of Arrow go to the browser as they are; rows of Python would pass through pandas, 2 ms a data set."""
    return {name: pa.Table.from_pylist(list(part)) for name, part in rows.items()}


@lru_cache(maxsize=32)
def _lasting(rows: Callable[..., Rows], of: tuple[str | None, ...]) -> dict[str, pa.Table]:
    """Tables that no scenario changes."""
    return _tables(rows(*of))


def table(content: Table | Callable[[Scenario], Table], *, name: str = "") -> None:
    """A table as a person reads it, of both scenarios where two are compared and it is told for any.

    Args:
        content: the table, or what makes it of a scenario.
        name: of the file in which it can be downloaded; without one it cannot.
    """
    if not callable(content):
        _of_b_alone()
    st.markdown(_of_both(content).markdown())
    if name:
        download(content, name=name)


def _of_both(content: Table | Callable[[Scenario], Table]) -> Table:
    if not callable(content):
        return content
    a, b = state.beside(), content(state.scenario())
    return beside(content(a), b) if a else b


_SIDE_BY_SIDE: Final = 6
"""Up to so many choices fit beside each other."""


def pick(label: str, names: Mapping[str, str], *, key: str) -> str:
    """One of a few ids that is no part of the scenario, shown by its name; the first until another is chosen."""
    first = next(iter(names))
    if len(names) > _SIDE_BY_SIDE:
        return st.selectbox(label, list(names), format_func=names.__getitem__, key=key, on_change=state.acted)
    chosen = st.pills(
        label, list(names), format_func=names.__getitem__, key=key, default=first, required=True, on_change=state.acted
    )
    return chosen or first


def narrowed(label: str, options: Sequence[str], *, key: str) -> str | None:
    """One of some names that is no part of the scenario, or None for all of them."""
    return st.selectbox(label, options, index=None, placeholder="All", key=key, on_change=state.acted)


def download(content: Table | Callable[[Scenario], Table], *, name: str) -> None:
    """The rows of a table in base units, to download; of both scenarios as in the table."""
    st.download_button(
        "Download as CSV",
        lambda: pd.DataFrame(_of_both(content).records()).to_csv(index=False),
        file_name=f"{name} {state.scenario().subject}.csv".replace(" ", "-").replace(",", ""),
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )


def texts(shown: Sequence[tuple[str, str, str]]) -> None:
    """Texts to copy, a tab each: name, text, where it is from."""
    for tab, (_, text, source) in zip(st.tabs([name for name, _, _ in shown]), shown, strict=True):
        tab.code(text, language=None, wrap_lines=True)  # the colours of a language are too pale
        tab.caption(source)


def save(label: str, text: str, *, name: str, kind: tuple[str, str] = ("md", "text/markdown")) -> None:
    """A text to download, in Markdown or of another kind: its ending and its media type."""
    ending, mime = kind
    st.download_button(
        label, text, file_name=f"{name}.{ending}", mime=mime, icon=":material/download:", on_click="ignore"
    )


def preset(architecture: Architecture) -> None:
    """The model as a preset file, to download."""
    st.download_button(
        "Download as a preset",
        lambda: library.written(architecture),
        file_name=f"{architecture.name.lower().replace(' ', '-')}.toml",
        mime="application/toml",
        icon=":material/download:",
        on_click="ignore",
    )


_PER_LETTER: Final = 8
"""Pixels that a letter of a table takes at most on average."""


def picker(rows: Sequence[Mapping[str, Any]], current: str) -> None:
    """A table of models, searched and sorted by its own tools; a click makes one the model of the scenario.

    The mark follows the scenario, however its model was chosen.
    """

    def chosen() -> None:
        state.acted()
        for place, _ in st.session_state["picker"].selection.cells:
            key = str(rows[place]["id"])
            state.change(model=key)

    marked = [(place, "model") for place, row in enumerate(rows) if row["id"] == current]
    st.session_state["picker"] = {"selection": {"rows": [], "columns": [], "cells": marked}}
    st.dataframe(
        pd.DataFrame(rows),
        key="picker",
        hide_index=True,
        height=420,
        on_select=chosen,
        selection_mode="single-cell",
        column_config={
            **{
                name: st.column_config.NumberColumn(format="%.4g")
                for name in ("billion", "active", "GB", "further token, kB")
            },
            "context": st.column_config.NumberColumn(format="localized"),
            "GPUs": st.column_config.NumberColumn(format="localized"),
            # By itself a column is as wide as its first rows; the names further down are longer.
            **{
                name: st.column_config.TextColumn(width=16 + _PER_LETTER * max(len(row[name]) for row in rows))
                for name in ("model", "maker", "attention")
            },
        },
    )


def chips(rows: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> None:
    """Texts as tokens, each with its state as colour and as pattern; what a reader typed is shown as text only."""
    lines = "".join(
        f'<div class="chips"><span>{escape(label)}</span>'
        + "".join(
            f'<b class="{escape(kind)}" title="{escape(kind)}">{escape(token).replace(" ", "␣")}</b>'
            for token, kind in tokens
        )
        + "</div>"
        for label, tokens in rows
    )
    st.html(lines)


def order(rows: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Parts of a prompt in a row a part: a button that moves it up, and the fields that belong to it."""
    letters = [letter for letter, _ in rows]
    for place, (letter, fields) in enumerate(rows):
        moved = [*letters[: max(place - 1, 0)], letter, *[x for x in letters[max(place - 1, 0) :] if x != letter]]
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.button(
                "Up",
                key=f"up {letter}",
                icon=":material/arrow_upward:",
                disabled=place == 0,
                on_click=state.change,
                kwargs={"order": "".join(moved)},
            )
            for field in fields:
                control(field)
