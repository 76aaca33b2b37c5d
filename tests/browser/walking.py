"""Walks over the pages by mouse, and what their controls show on the way."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, permutations
from typing import Any, Final

from playwright.sync_api import Page, TimeoutError  # noqa: A004 - it is what a click raises

from inferdash import links, pairs, quantities
from inferdash.pairs import Pair
from inferdash.scenario import BASE, FIELDS, Place, Scenario, mark
from inferdash.studies import comparison
from inferdash.studies.report import GROUPS, PAGES
from tests.scenarios import idle

Shown = dict[str, str]
"""Accessible name of each control of a page -> its value."""

_STILL_MS: Final = 5000
"""A page that is ready and has not changed for so long will not change any more, though its server may be busy."""
_PATIENCE_MS: Final = 30_000
_TOLD: Final = "(box) => !box.dataset.told || !box.isConnected || box.closest(`.${box.dataset.told}`) !== null"
"""Whether a field stands where its page has told it; a slider needs no telling."""
_TRIES: Final = 20
_TRY_MS: Final = 1500
ENOUGH: Final = 20
"""After so many findings a walk ends."""
_NAMES: Final = {str(one.title): name for name, one in FIELDS.items()}

_READ: Final = """
const named = (part) => part.getAttribute("aria-label") ?? [...(part.labels ?? [])].map((l) => l.textContent).join(" ");
const value = (part) => {
  if (part.getAttribute("role") === "radiogroup")
    return [...part.querySelectorAll("[role=radio][aria-checked=true]")].map((one) => one.textContent).join();
  if (part.type === "checkbox") return String(part.checked);
  if (part.type === "number" || part.type === "range") return part.value === "" ? "" : String(Number(part.value));
  const tags = part.closest("[role=group]")?.querySelectorAll("[data-tag]") ?? [];
  return [...[...tags].map((tag) => tag.getAttribute("aria-label")), part.value].join("|");
};
const shown = () => {
  const found = {};
  for (const part of document.querySelectorAll("input:not([type=file]), textarea, [role=radiogroup]")) {
    let name = named(part);
    while (name in found) name += " (again)";
    found[name] = value(part);
  }
  return found;
};
const state = () => ({
  path: location.pathname.slice(1),
  query: [...new URLSearchParams(location.search)],
  sentence: (document.querySelector("h1")?.textContent ?? "").replaceAll("\u00a0", " "),
  shown: shown(),
});
const ready = () =>
  document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning" &&
  document.querySelector("h1") && !document.querySelector("[data-testid=stSkeleton]");
"""
_UNFOLD: Final = f"""async () => {{ {_READ}
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const closed = () => [...document.querySelectorAll("details:not([open]) > summary")].find(
    (one) => !/Working|Sources/.test(one.textContent));
  for (let still = 0; still < 500; ) {{
    const one = ready() && closed();
    if (one) one.click();
    await wait(one ? 300 : 50);
    still = one || !ready() ? 0 : still + 50;
  }}
}}"""
_COME: Final = f"(path) => {{ {_READ} return ready() && location.pathname.slice(1) === path; }}"
_SHOWN: Final = f"() => {{ {_READ} return shown(); }}"
_DIFFERENT: Final = (
    f"""async ({{ wanted, still, patience }}) => {{ {_READ}
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const sorted = (all) => Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1));
  const begin = performance.now();
  let last = "", since = begin;
  for (;;) {{
    const now = state(), time = performance.now();
    if (ready() && now.path === wanted.path && same(now.query, wanted.query) &&
        (wanted.sentence === null || now.sentence === wanted.sentence) &&
        (wanted.shown === null || same(sorted(now.shown), sorted(wanted.shown)))) return null;
    const text = JSON.stringify(now);
    if (text !== last || !ready()) {{ last = text; since = time; }}
    if (time - since > still || time - begin > patience) return {{ ...now, ready: Boolean(ready()) }};"""
    """
    await new Promise((done) => setTimeout(done, 25));
  }
}"""
)


def circuit(names: Sequence[str]) -> list[tuple[str, str]]:
    """Every ordered pair, along a round trip (Hierholzer's) whose every second step comes first."""
    left = {name: [other for other in names if other != name] for name in names}
    trail, found = [names[0]], []
    while trail:
        if left[trail[-1]]:
            trail.append(left[trail[-1]].pop())
        else:
            found.append(trail.pop())
    pairs = list(pairwise(found))
    assert sorted(pairs) == sorted(permutations(names, 2))
    return pairs[::2] + pairs[1::2]


def follow(tab: Page, page: str) -> None:
    """Clicks on a page's link, in the menu of its group where it lies in one, again where that moves meanwhile."""
    row = tab.get_by_role("navigation", name="Pages")
    link = row.get_by_role("link", name=str(PAGES[page].TITLE), exact=True)
    group = next(title for title, names in GROUPS.items() if page in names)
    row.locator("button[data-here]").wait_for()
    for _ in range(_TRIES):
        with suppress(TimeoutError):
            if not link.is_visible():
                row.get_by_role("button", name=group, exact=True).click(timeout=_TRY_MS)
            link.click(timeout=_TRY_MS)
            return
    raise TimeoutError(f"The link to {page} never held still.")


def path(page: str) -> str:
    """The path of a page."""
    return page.replace("_", "-")


@lru_cache(256)
def sentence(page: str, pair: Pair) -> str | None:
    """What a page says first of a scenario, or of two; None where it depends on a file."""
    study = PAGES[page]
    if not hasattr(study, "sentence") or page == "traffic":
        return None
    said = comparison.sentence(page, pair.a, pair.b) if pair.b else study.sentence(pair.a, study.study(pair.a))
    return str(said).replace("\\$", "$")


@dataclass
class Walk:
    """One scenario in one tab, and what was found wrong on the way."""

    tab: Page
    scenario: Scenario
    found: list[str] = field(default_factory=list)
    seen: dict[str, Shown] = field(default_factory=dict)
    """Page -> what its controls show where the link is opened directly, and after each edit since."""
    turns: int = 0
    unfolded: bool = False
    """Whether all sections are open, in each session."""
    beside: Scenario | None = None
    """A, where the scenario is the B of a comparison."""

    @property
    def pair(self) -> Pair:
        """What the link holds."""
        return Pair(self.beside, self.scenario) if self.beside else Pair(self.scenario)

    def begin(self) -> None:
        """Opens each page by its link, and its sections if they are to be open."""
        for page in PAGES:
            self.tab.goto(self.link(page), wait_until="commit")
            self.compare(page, f"{page}, opened directly")
            if self.unfolded:
                self.tab.evaluate(_UNFOLD)
            self.seen[page] = self.tab.evaluate(_SHOWN)

    def link(self, page: str) -> str:
        """The page's link."""
        return f"/{path(page)}?{pairs.encode(self.pair)}"

    def open(self, page: str) -> None:
        """Opens a page by its link, in a session in which all sections have been opened if they are to be."""
        trail = [*(one for one in PAGES if one != page), page] if self.unfolded else [page]
        self.tab.goto(self.link(trail[0]), wait_until="commit")
        for place, one in enumerate(trail):
            if place:
                self.click(one)
            self.tab.wait_for_function(_COME, arg=path(one))
            if self.unfolded:
                self.tab.evaluate(_UNFOLD)
        self.compare(page, f"{page}, opened directly")

    def click(self, page: str) -> None:
        """Clicks on the page's link, without waiting for what comes of it."""
        follow(self.tab, page)

    def compare(self, page: str, said: str) -> bool:
        """Whether the page comes to show what it shows by its link; what it shows instead is noted."""
        wanted = {
            "path": path(page),
            "query": [[*pair] for pair in pairs.parameters(self.pair).items()],
            "sentence": sentence(page, self.pair),
            "shown": self.seen.get(page),
        }
        limits = {"still": _STILL_MS, "patience": _PATIENCE_MS}
        got = self.tab.evaluate(_DIFFERENT, {"wanted": wanted, **limits})
        if got:
            self.found.append(f"{said}: {'; '.join(_told(wanted, got))}")
        return not got

    def step(self, page: str, said: str) -> None:
        """Compares a page that was gone to, then changes one number of it; what went wrong does not go on."""
        if not (self.compare(page, said) and self.edit(page, said)):
            self.open(page)

    def edit(self, page: str, said: str) -> bool:
        """Presses a key in a number field, and compares address and controls again."""
        able = [one for one in self.seen[page] if self._next(_NAMES.get(one, "")) is not None]
        if not able:
            return True
        own = [one for one in able if mark(_NAMES[one], Place).group == "page"]
        self.turns += 1
        label = (own or able)[self.turns % len(own or able)]
        name = _NAMES[label]
        changed = self._next(name)
        assert changed is not None
        key = "ArrowUp" if getattr(changed, name) > getattr(self.scenario, name) else "ArrowDown"
        self.scenario = changed
        for shown in self.seen.values():
            if label in shown:
                shown[label] = quantities.typed(getattr(changed, name))
        box = self.tab.get_by_role("spinbutton", name=label, exact=True)
        self.tab.wait_for_function(_TOLD, arg=box.element_handle())  # the page has said what its keys do
        box.press(key)
        return self.compare(page, f"{said}, then {key} in “{label}”")

    def _next(self, name: str) -> Scenario | None:
        """The scenario with a whole number moved by one, where nothing else follows from it."""
        now = getattr(self.scenario, name, None)
        if not isinstance(now, int) or not isinstance(getattr(BASE, name), int) or isinstance(now, bool):
            return None  # one that may be absent is a field of text
        if name == "batch" and now <= 2:
            return None
        for value in (now + 1, now - 1) if self.turns % 2 else (now - 1, now + 1):
            changed, problems = links.read({**dict(self.scenario), name: value})
            same = {one for one in FIELDS if getattr(changed, one) != getattr(self.scenario, one)} == {name}
            if not problems and same and idle(changed) == idle(self.scenario):
                return changed
        return None


def from_links(walk: Walk, pairs: Sequence[tuple[str, str]], *, pause: bool = True) -> None:
    """Each pair in a session of its own that begins with the first page's link; while one is tried the next loads."""
    tabs = [walk.tab.context.new_page(), walk.tab]
    for tab in tabs:
        tab.set_viewport_size({"width": 1400, "height": 1000})
    tabs[0].goto(walk.link(pairs[0][0]), wait_until="commit")
    for place, (before, page) in enumerate(pairs):
        if len(walk.found) >= ENOUGH:
            return
        tab, other = tabs[place % 2], tabs[1 - place % 2]
        if place + 1 < len(pairs):
            other.goto(walk.link(pairs[place + 1][0]), wait_until="commit")
        seen = {name: {**shown} for name, shown in walk.seen.items()}
        alone = Walk(tab, walk.scenario, walk.found, seen, place, beside=walk.beside)
        if pause:
            alone.compare(before, f"{before}, opened directly")
        alone.click(page)
        _ = alone.compare(page, f"{before} to {page}") and alone.edit(page, f"{before} to {page}")


def in_one_session(walk: Walk, pairs: Sequence[tuple[str, str]], *, pause: bool) -> None:
    """Each pair after the others, the second link clicked before the first page has come, or after a pause."""
    walk.open(pairs[0][1])
    for before, page in pairs:
        if len(walk.found) >= ENOUGH:
            return
        walk.click(before)
        if pause and not walk.compare(before, f"to {before}"):
            walk.open(before)
        walk.click(page)
        walk.step(page, f"{before} to {page}{'' if pause else ' at once'}")


def back_and_forth(walk: Walk, pairs: Sequence[tuple[str, str]], *, pause: bool) -> None:
    """Each pair with Back and Forward between."""
    for before, page in pairs:
        if len(walk.found) >= ENOUGH:
            return
        walk.open(before)
        walk.click(page)
        if pause and not walk.compare(page, f"{before} to {page}"):
            continue
        walk.tab.wait_for_url(f"**/{path(page)}?*", wait_until="commit")  # else Back leads beyond the first page
        walk.tab.go_back()
        if not walk.compare(before, f"{before} to {page} and back"):
            continue
        walk.tab.go_forward()
        walk.step(page, f"{before} to {page}, back and forward")


def _told(wanted: dict[str, Any], got: dict[str, Any]) -> Iterator[str]:
    """What differs, in words."""
    if not got["ready"]:
        yield "it was still at work"
    if got["path"] != wanted["path"]:
        yield f"the address is that of {got['path']}"
    there, here = dict(wanted["query"]), dict(map(tuple, got["query"]))
    wrong = [
        f"{one}={here.get(one)} for {there.get(one)}" for one in {**there, **here} if there.get(one) != here.get(one)
    ]
    if wrong:
        yield f"the address says {', '.join(wrong[:6])} ({len(wrong)} fields)"
    if wanted["sentence"] not in (None, got["sentence"]):
        yield f"the page says “{got['sentence']}” for “{wanted['sentence']}”"
    there, here = wanted["shown"] or {}, got["shown"]
    wrong = [
        f"{one}: {here.get(one)} for {there.get(one)}" for one in {**there, **here} if there.get(one) != here.get(one)
    ]
    if there and wrong:
        yield f"controls show {', '.join(wrong[:6])} ({len(wrong)} controls)"
