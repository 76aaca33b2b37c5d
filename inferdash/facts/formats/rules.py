"""A checkpoint's format is a list of rules: which modules, in which format. The last that names a module holds for it.

Before the first rule every number takes 16 bits. Makers whose first match counts have their rules written backwards.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Final, TypeAlias

from inferdash.facts.formats import names
from inferdash.facts.formats.modules import Module, modules
from inferdash.facts.formats.stored import WIDE, Stored
from inferdash.facts.models.architecture import Architecture, Blocks
from inferdash.facts.models.precision import PRECISIONS, Kind, Rate, Share

LINEAR: Final[tuple[Kind, ...]] = ("attention", "dense", "shared", "experts")
"""What methods mean by the linear layers of a model: its matrices without tables and routers."""


@dataclass(frozen=True)
class Rule:
    """Some modules in one format."""

    stored: Stored
    kinds: tuple[Kind, ...] = ()
    """Kinds of parameters that it is for."""
    name: str = ""
    """A module, or what modules lie in; without a layer in it, any that has these parts in its name."""
    pattern: str = ""
    """A regular expression that a whole name matches from its start."""


def globbed(pattern: str) -> str:
    """A name with stars as a regular expression, which what lies in such modules matches too."""
    return f"{translate(pattern)}|{translate(pattern + '.*')}"


Found: TypeAlias = tuple[int, Stored]
"""The place of a rule in its list, and its format."""


@dataclass(frozen=True)
class _Pattern:
    """A regular expression of a rule, and of which layers it can speak."""

    order: int
    stored: Stored
    expression: re.Pattern[str]
    layer: str
    """The number of a layer as it starts in the pattern; empty where none is written out."""
    closed: bool
    """Whether that number is whole."""

    @classmethod
    def of(cls, order: int, rule: Rule) -> "_Pattern":
        """The pattern of a rule."""
        said = re.search(r"^[\\\w.():?]*?(?:layers|h)(?:\\?\.)(\d+)(\\?\.)?", rule.pattern)
        layer, dot = said.groups() if said else ("", None)
        return cls(order, rule.stored, re.compile(rule.pattern), layer, dot is not None)

    def speaks_of(self, layers: Iterable[int | None]) -> bool:
        """Whether it can match a module of one of these layers."""
        if not self.layer:
            return True
        numbers = [str(layer) for layer in layers if layer is not None]
        return self.layer in numbers if self.closed else any(one.startswith(self.layer) for one in numbers)

    @property
    def alike(self) -> bool:
        """Whether it says the same of every layer, as it has no digits."""
        return not re.search(r"\d|\\d|\[", self.expression.pattern)


class _Index:
    """Rules, laid out so that those for a module are found without trying each."""

    def __init__(self, rules: Sequence[Rule], *, layers: int) -> None:
        self.layers = layers
        self.kinds: dict[Kind, Found] = {}
        self.named: dict[tuple[int | None, str], Found] = {}
        self.patterns: list[_Pattern] = []
        self.said: dict[tuple[int, str, str, str, bool], bool] = {}
        for order, rule in enumerate(rules):
            found = (order, rule.stored)
            self.kinds |= dict.fromkeys(rule.kinds, found)
            if rule.name:
                self.named[names.place(rule.name)] = found
            if rule.pattern:
                self.patterns.append(_Pattern.of(order, rule))
        self.any_layer = [(tail, found) for (layer, tail), found in self.named.items() if layer is None]

    def stored(self, module: Module) -> Stored:
        """The format of a module."""
        order, stored = self.kinds.get(module.role, (-1, WIDE))
        keys = names.keys(module.role, module.holder, module.matrix.name)
        places = [module.layer]
        if module.kind == "mtp" and module.layer is not None:
            places.append(module.layer - self.layers)
        found = [self.named[layer, key] for layer in places[:1] for key in ("", *keys) if (layer, key) in self.named]
        found += [one for tail, one in self.any_layer if any(_within(tail, key) for key in keys)]
        if module.kind == "mtp":
            found += [one for tail, one in self.any_layer if tail in {"mtp", "model.mtp"}]
        for another in found:
            if another[0] > order:
                order, stored = another
        for pattern in reversed(self.patterns):
            if pattern.order < order:
                break
            if pattern.speaks_of(places) and self._matches(pattern, module):
                return pattern.stored
        return stored

    def _matches(self, pattern: _Pattern, module: Module) -> bool:
        if not pattern.alike:
            return any(map(pattern.expression.match, names.paths(module, layers=self.layers)))
        key = (pattern.order, module.role, module.holder, module.matrix.name, module.kind == "mtp")
        if key not in self.said:
            self.said[key] = any(map(pattern.expression.match, names.paths(module, layers=self.layers)))
        return self.said[key]


def _within(part: str, key: str) -> bool:
    """Whether a name without a layer stands in another, part by part."""
    return f".{part}." in f".{key}."


def resolve(
    architecture: Architecture, rules: Sequence[Rule], *, layers: Sequence[Blocks] | None = None
) -> tuple[Share, ...]:
    """The parameters of a model by kind and format.

    Args:
        architecture: the model.
        rules: the last that names a module holds for it.
        layers: the layers in their order, where it is known.
    """
    index = _Index(rules, layers=architecture.layers)
    return collected((module, index.stored(module)) for module in modules(architecture, layers))


_ELSEWHERE: Final = re.compile(
    r"visi|visual|audio|speech|image|patch|tower|projector|merger|talker|codec|code2wav|embed|norm|rotary|conv|mtp|nextn"
    r"|eh_proj|shared_head|bias|sink|score|scale|lm_head|^(output|head|embed_out)$"
)
"""Parts of names that stand for no matrix of the layers."""


def strangers(
    architecture: Architecture, rules: Sequence[Rule], *, layers: Sequence[Blocks] | None = None
) -> tuple[str, ...]:
    """Names of rules that are no module of a model, of those that could be a matrix of its layers."""
    named = {names.place(rule.name): rule.name for rule in rules if rule.name and not _ELSEWHERE.search(rule.name)}
    left = {(layer, tail): name for (layer, tail), name in named.items() if (layer or 0) < architecture.layers}
    anywhere = [place for place in left if place[0] is None]
    seen: set[tuple[str, str, str]] = set()
    for module in modules(architecture, layers):
        if not left:
            break
        keys = names.keys(module.role, module.holder, module.matrix.name)
        for key in ("", *keys):
            left.pop((module.layer, key), None)
        sort = (module.role, module.holder, module.matrix.name)
        if sort not in seen:
            seen.add(sort)
            for place in anywhere:
                if place in left and any(_within(place[1], key) for key in keys):
                    del left[place]
    return tuple(left.values())


def collected(found: Iterable[tuple[Module, Stored]]) -> tuple[Share, ...]:
    """Modules with their formats, added up by kind and format."""
    counts: dict[tuple[Kind, str, float, Rate], int] = {}
    for module, stored in found:
        key = (module.kind, stored.name, stored.bits, stored.rate)
        counts[key] = counts.get(key, 0) + module.matrix.parameters
    return tuple(
        Share(kind=kind, name=name, bits=bits, rate=rate, parameters=parameters)
        for (kind, name, bits, rate), parameters in counts.items()
    )


def rule_of(text: str, stored: Stored) -> Rule:
    """A rule from what a file writes: a name, one with stars, or "re:" and a regular expression.

    Raises:
        re.error: where the expression is none.
    """
    if text.startswith("re:"):
        re.compile(text[3:])
        return Rule(stored, pattern=text[3:])
    if "*" in text or "?" in text:
        return Rule(stored, pattern=globbed(text))
    return Rule(stored, name=text)


def single(shares: Sequence[Share], *, mixture: bool) -> str | None:
    """The one format, an id of `PRECISIONS`, that gives every kind of parameter these bits; None where none does."""
    worked = [share for share in shares if share.kind in LINEAR]
    if not worked:
        return None
    rate = max(worked, key=lambda share: (share.bits < WIDE.bits, share.parameters)).rate
    for key, one in PRECISIONS.items():
        bits = {share.kind: one.bits(share.kind, mixture=mixture) for share in shares}
        further = {*bits.values(), WIDE.bits}
        alike = all(
            share.bits in further if share.kind == "mtp" else share.bits == bits[share.kind] for share in shares
        )
        if alike and (rate, WIDE.bits) == (one.rate, one.small_bits) and not one.recipe:
            return key
    return None
