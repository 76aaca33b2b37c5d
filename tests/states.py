"""Random walks of a reader in Streamlit's test runner: scenario, widgets and address agree after each step."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from html import unescape
from random import Random
from re import findall
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from streamlit.testing.v1 import AppTest

from inferdash import links, pairs, quantities, shipped
from inferdash.facts.models.precision import FILES
from inferdash.pairs import Pair
from inferdash.scenario import BASE, FIELDS, Choices, Scenario, Several, is_number, mark
from inferdash.studies import comparison
from inferdash.studies.learn import batching
from inferdash.studies.report import PAGES
from inferdash.ui.entering.controls import is_slid
from inferdash.ui.hosting.server import FRAME
from inferdash.validated import Quantity
from tests.pages.fields import unfolded
from tests.scenarios import canonical, edited, idle, valid

_KINDS: Final = ("text_input", "selectbox", "segmented_control", "toggle", "slider", "multiselect")
_LABELS: Final = {str(field.title): name for name, field in FIELDS.items()}
_RESET: Final = "Reset to the example"
_RARE: Final = 0.3
"""How often a step that changes everything may be drawn at all."""
_SLOW: Final = ("simulated", "replicas", "gpus", "load", "active_users", "think", "considered", "formats", "lengths")
"""Fields whose extremes take seconds; other tests are about those."""


class Reader:
    """One session, what its scenario ought to be, and what was found wrong."""

    def __init__(self, seed: int) -> None:
        self.random = Random(f"reader {seed}")  # noqa: S311 - nothing is kept secret with it
        self.scenario = valid(seed, usual=True)
        self.beside: Scenario | None = None
        """A, where the scenario is the B of a comparison."""
        self.page = "overview"
        self.been = [self.pair]
        self.said = "the link opened"
        self.app = AppTest.from_file(str(FRAME), default_timeout=120)
        self._address()
        unfolded(self.app.run()).run()

    @property
    def pair(self) -> Pair:
        """What the link ought to hold."""
        return Pair(self.beside, self.scenario) if self.beside else Pair(self.scenario)

    def walk(self, steps: int) -> Iterator[str]:
        """What is wrong after each step; a walk ends with the first step after which something is."""
        for step in range(steps + 1):
            wrong = [f"step {step}, {self.page}: after {self.said}, {one}" for one in self.wrong()]
            if wrong:
                yield from wrong
                return
            ways: list[Callable[[], None]] = [self.edit, self.edit, self.edit, self.turn, self.turn, self.back]
            ways += [self.reset] if self.random.random() < _RARE else []
            ways += [self.compare] if self.random.random() < _RARE else []
            self.random.choice(ways)()

    def turn(self) -> None:
        """Goes to another page."""
        self.page = self.random.choice([page for page in PAGES if page != self.page])
        self.said = f"going to {self.page}"
        self.app.switch_page(str(shipped("pages") / f"{self.page}.py")).run()

    def edit(self) -> None:
        """Changes a widget of the page to another valid value."""
        for widget, name in self.random.sample(fields := list(self.widgets()), len(fields)):
            usual = name in _SLOW or self.random.random() < 0.5
            changed = edited(self.scenario, name, self.random, usual=usual)
            if changed is None:
                continue
            if name == "model" and changed.weights != changed.architecture.weights:
                changed = links.read({**dict(changed), "weights": FILES})[0]
            before, self.scenario = self.scenario, changed
            woken = idle(before) - idle(changed)
            value = getattr(changed, name)
            self.said = f"{name} from {getattr(before, name)!r} to {value!r}"
            widget.set_value(_written(name, value)).run()
            # What begins to count may come back as it was before it did not.
            here = pairs.decode(self._pairs()).pair.edited
            values = {**dict(changed), **{one: getattr(here, one) for one in woken}}
            self.scenario = links.read(values)[0] if self.beside else canonical(links.read(values)[0])
            self.been.append(self.pair)
            return

    def back(self) -> None:
        """Goes to a link where the session has been, as Back does."""
        pair = self.random.choice(self.been)
        self.scenario, self.beside = pair.edited, pair.a if pair.b else None
        self.said = "going back"
        self._address()
        self.app.run()

    def compare(self) -> None:
        """Pins the scenario as A; where two are compared already, exchanges them, or drops one."""
        was, beside = self.scenario, self.beside
        key = self.random.choice(("swap", "drop A", "drop B")) if beside else "compare"
        self.said = f"“{key}”"
        self.scenario = beside if beside and key in ("swap", "drop B") else was
        self.beside = was if key in ("swap", "compare") else None
        self.app.button(key=key).click().run()
        self.been.append(self.pair)

    def reset(self) -> None:
        """Clicks on the button that restores the chapter's example."""
        self.scenario = links.BASELINE
        self.said = "the reset"
        next(button for button in self.app.button if button.label == _RESET).click().run()
        self.been.append(self.pair)

    def widgets(self) -> Iterator[tuple[Any, str]]:
        """The widgets of fields on this page, each with its field."""
        for kind in _KINDS:
            for widget in getattr(self.app, kind):
                if widget.label in _LABELS and not widget.disabled:
                    yield widget, _LABELS[widget.label]

    def wrong(self) -> Iterator[str]:
        """What does not agree."""
        for error in self.app.exception:
            yield f"an exception: {error.message}"
        target = pairs.parameters(self.pair)
        if dict(self._pairs()) != target:
            yield f"the address differs: {_difference(dict(self._pairs()), target)}"
        for query in self._page_links():
            if query != target:
                yield f"a link to a page differs: {_difference(query, target)}"
                break
        for widget, name in self.widgets():
            value = self._shown(name)
            if not _means(name, widget.value, value):
                yield f"{name} shows {widget.value!r} for {value!r}"
        said = self.sentence()
        titles = [str(title.value).replace("\N{NO-BREAK SPACE}", " ") for title in self.app.title]
        if said and said not in titles:
            yield f"the page says {titles} for {said!r}"

    def _shown(self, name: str) -> Any:
        """What the widget of a field ought to show: Batching has nothing to compare at a batch of 1."""
        value = getattr(self.scenario, name)
        if (self.page, name, value) == ("batching", "batch", 1):
            return batching.study(self.scenario).compared_batch
        return value

    def sentence(self) -> str:
        """What the page ought to say first; nothing where it depends on a file, or cannot be computed."""
        study = PAGES[self.page]
        with suppress(ArithmeticError, ValueError):
            if self.page != "traffic" and self.beside:
                return comparison.sentence(self.page, self.beside, self.scenario)
            return "" if self.page == "traffic" else str(study.sentence(self.scenario, study.study(self.scenario)))
        return ""

    def _page_links(self) -> Iterator[dict[str, str]]:
        """Queries of the links to all pages, as elements of Streamlit or as HTML."""
        names = {page.replace("_", "-") for page in PAGES}
        titles = {str(study.TITLE) for study in PAGES.values()}
        for one in self.app.get("page_link"):
            if one.proto.label in titles:
                yield dict(parse_qsl(one.proto.query_string, keep_blank_values=True))
        for html in self.app.get("html"):
            for target in findall(r'href="([^"]*\?[^"]*)"', html.proto.body):
                parts = urlsplit(unescape(target))
                if parts.path.strip("/") in names:
                    yield dict(parse_qsl(parts.query, keep_blank_values=True))

    def _pairs(self) -> list[tuple[str, str]]:
        return [(name, value if isinstance(value, str) else value[-1]) for name, value in self.app.query_params.items()]

    def _address(self) -> None:
        self.app.query_params.clear()
        self.app.query_params.update(pairs.parameters(self.pair))


def _written(name: str, value: Any) -> Any:
    """A value as its widget takes it."""
    if mark(name, Several):
        return list(value)
    if is_number(name) and not is_slid(name):
        return "" if value is None else quantities.typed(value)
    return links.written(name, value) if mark(name, Quantity) or getattr(BASE, name) is None else value


def _means(name: str, shown: Any, value: Any) -> bool:
    """Whether what a widget holds is the value of its field."""
    if mark(name, Several):
        names = mark(name, Several).of.names()
        return list(shown) in (list(value), [names[one] for one in value])
    if mark(name, Choices):
        return shown in (value, mark(name, Choices).names().get(value))
    return bool((shown or "") == _written(name, value) if isinstance(shown, str | None) else shown == value)


def _difference(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    wrong = [
        f"{one}={here.get(one)} for {there.get(one)}" for one in {**there, **here} if here.get(one) != there.get(one)
    ]
    return ", ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
