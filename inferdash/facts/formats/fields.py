"""The fields that a quantization writes into a config.json: lists, numbers and names of modules, read one by one."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from inferdash.facts.formats.rules import LINEAR, Rule, rule_of
from inferdash.facts.formats.stored import WIDE, Stored
from inferdash.layers.config import UnreadFieldError

Fields: TypeAlias = Mapping[str, Any]
FIELD: Final = "quantization_config"
MOST_RULES: Final = 200_000
HELP: Final = "Without it the file is read at 16 bits"


def refused(what: str) -> UnreadFieldError:
    """That something is said which is not known."""
    return UnreadFieldError(FIELD, f"says {what}, which is not known here. {HELP}")


def names_in(fields: Fields, *fields_of: str) -> list[str]:
    """Names of modules that a file lists, in any of these fields."""
    found = []
    for field in fields_of:
        listed = fields.get(field) or ()
        if isinstance(listed, str | Mapping) or not isinstance(listed, Sequence) or len(listed) > MOST_RULES:
            raise UnreadFieldError(f"{FIELD}.{field}", "is not a list of modules")
        found += [name for name in listed if isinstance(name, str) and name]
    return found


def rule(text: str, format_: Stored) -> Rule:
    """The rule that a name, or a regular expression, of modules has a format."""
    try:
        return rule_of(text, format_)
    except re.error:
        raise UnreadFieldError(FIELD, f"names modules by “{text[:40]}”, which is not a regular expression") from None


def kept(fields: Fields, *names: str) -> list[Rule]:
    """Modules that stay at 16 bits."""
    return [rule(name, WIDE) for name in names_in(fields, *names)]


def number(fields: Fields, *names: str) -> int | None:
    """The first of these fields that holds a whole number; None where none does."""
    for name in names:
        found = fields.get(name)
        if isinstance(found, int) and not isinstance(found, bool):
            return found
    return None


def bits_in(fields: Fields, *names: str) -> float:
    """The first of these fields that gives a number of bits, from 1 to 16."""
    for name in names:
        found = fields.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool) and 1 <= found <= 16:  # noqa: PLR2004
            return found
    raise UnreadFieldError(f"{FIELD}.{names[0]}", "does not give the number of bits")


def group_in(fields: Fields, *names: str) -> int | None:
    """Numbers that share a scale; None where a row or more does."""
    found = number(fields, *names)
    return found if found and found > 0 else None


def items_in(fields: Fields, field: str) -> list[tuple[str, Fields]]:
    """A group of modules with fields of their own."""
    found = fields.get(field) or {}
    if not isinstance(found, Mapping) or len(found) > MOST_RULES:
        raise UnreadFieldError(f"{FIELD}.{field}", "is not an object of modules")
    return [(str(name), own) for name, own in found.items() if isinstance(own, Mapping)]


def linear(format_: Stored) -> Rule:
    """The rule that all linear layers have a format."""
    return Rule(format_, kinds=LINEAR)
