"""The reader's own price books: a contract's discounts and models of one's own, as a small TOML file.

A book lies in the folder that `INFERDASH_BOOKS` names, under the name of its file, or is uploaded. An uploaded one is
kept in the memory of this server alone, under a name with a part of its own digest, so that only who has the book, or
a link with it, can name it. A link holds the name of a book and never what is in it.
"""

import hashlib
import os
import re
import sys
import tomllib
from collections import OrderedDict
from datetime import date
from decimal import Decimal
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from inferdash.facts.money.prices import UnknownModelError
from inferdash.facts.money.rates import PriceList, Rates, each_rate
from inferdash.validated import Validated

NONE: Final = "none"
"""Id of no book."""
OF_BOOK: Final = "book/"
"""Before the id of a book's model, where others name their provider."""
_LIST: Final = "one or more blocks belong here, each under its name in double brackets, such as [[discounts]]."
LONGEST: Final = 100_000
"""Bytes of a book."""
_KEPT_AT_MOST: Final = 200
"""Uploaded books that a server remembers; the one that was used least recently gives way."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,59}")
Usd = Annotated[Decimal, Field(ge=0, le=1_000_000)]


class UnreadBookError(ValueError):
    """A file that is no price book; its text is one sentence."""


class Discount(Validated):
    """What a contract takes off the listed prices."""

    provider: str
    """Id of the provider in the list of prices, such as anthropic."""
    model: str = "*"
    """Pattern of its models; all of them unless said."""
    off: Annotated[Decimal, Field(gt=0, lt=1)]
    """Share that is taken off each price: 0.15 is 15%."""


class BookModel(Validated):
    """A model that no list has, in dollars for a million tokens."""

    id: Annotated[str, Field(pattern=rf"^{_NAME.pattern}$")]
    name: Annotated[str, Field(min_length=1, max_length=80)]
    input: Usd
    output: Usd
    read: Usd | None = None
    """Input that is read from a cache; as fresh input where it is left out."""
    write: Usd | None = None
    """Input that is stored in one."""
    context: Annotated[int, Field(ge=1)] | None = None
    """Input tokens that it takes."""
    like: Annotated[str, Field(pattern=r"^[^/\s]+/\S+$")] | None = None
    """Provider and model whose rules of caching and of pictures it follows; none are known without."""


class PriceBook(Validated):
    """What one customer pays."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    day: date
    """Of the contract, or on which it was checked."""
    discounts: tuple[Discount, ...] = ()
    """The first that names a model counts."""
    models: tuple[BookModel, ...] = ()

    def named(self) -> dict[str, str]:
        """Id, as a scenario has it -> name of each model of its own."""
        return {OF_BOOK + one.id: f"{one.name} ({self.name})" for one in self.models}

    def off(self, listed: PriceList) -> Decimal:
        """Share that the contract takes off listed prices; 0 where it does not name them."""
        named = (one for one in self.discounts if one.provider == listed.provider and fnmatch(listed.model, one.model))
        return next((one.off for one in named), Decimal(0))

    def discounted(self, listed: PriceList) -> PriceList:
        """Listed prices less what the contract takes off them."""
        return each_rate(listed, lambda rates: rates.times(1 - self.off(listed)))

    def price(self, key: str, *, service: str) -> PriceList:
        """The prices of a model of its own.

        Raises:
            UnknownModelError: where it has none of that id, or another service is asked for.
        """
        found = next((one for one in self.models if OF_BOOK + one.id == key), None)
        if found is None or service != "standard":
            raise UnknownModelError(f"The price book {self.name} has no price of {key[:80]} for “{service}”.")
        provider, _, model = (found.like or OF_BOOK + found.id).partition("/")
        return PriceList(
            provider=provider,
            model=model,
            name=f"{found.name} ({self.name})",
            rates=Rates(input=found.input, output=found.output, read=found.read, write=found.write),
            day=self.day,
            source=f"price book {self.name}",
            context=found.context,
            note=f"Price book {self.name} of {self.day}.",
        )


def parse(content: bytes) -> PriceBook:
    """The book of a file.

    Raises:
        UnreadBookError: where it is none, with what is wrong first.
    """
    if len(content) > LONGEST:
        raise UnreadBookError(f"The file has {len(content):,} bytes, and a price book at most {LONGEST:,}.")
    try:
        return PriceBook.model_validate(tomllib.loads(content.decode()))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        raise UnreadBookError("The file is not TOML.") from None
    except ValidationError as failure:
        first = failure.errors(include_url=False)[0]
        where = " ".join(str(part + 1) if isinstance(part, int) else part for part in first["loc"])
        wrong = _LIST if first["type"] == "tuple_type" else f"{first['msg']}."
        raise UnreadBookError(f"The price book has a problem at “{where[:80]}”: {wrong}") from None


_uploaded: OrderedDict[str, PriceBook] = OrderedDict()


def keep(content: bytes) -> str:
    """Remembers an uploaded book until the server ends; its id, always the same for the same file.

    Raises:
        UnreadBookError: where it is none.
    """
    book = parse(content)
    words = "-".join(re.findall(r"[a-z0-9]+", book.name.lower()))[:24].strip("-") or "book"
    key = f"{words}-{hashlib.sha256(content).hexdigest()[:12]}"
    _uploaded[key] = book
    _uploaded.move_to_end(key)
    while len(_uploaded) > _KEPT_AT_MOST:
        _uploaded.popitem(last=False)
    return key


def find(key: str) -> PriceBook | None:
    """The book of an id; None where it is not here."""
    return beside_presets().get(key) or _uploaded.get(key)


def beside_presets() -> dict[str, PriceBook]:
    """Id -> each book of the folder that `INFERDASH_BOOKS` names, read once."""
    return _of_folder(os.environ.get("INFERDASH_BOOKS", ""))


@cache
def _of_folder(folder: str) -> dict[str, PriceBook]:
    found: dict[str, PriceBook] = {}
    for path in sorted(Path(folder).glob("*.toml")) if folder else []:
        free = _NAME.fullmatch(path.stem) and path.stem != NONE
        why = "" if free else "Its name is not of small letters, digits, dots and hyphens."
        try:
            found |= {path.stem: parse(path.read_bytes())} if free else {}
        except (UnreadBookError, OSError) as error:
            why = str(error)
        if why:
            sys.stderr.write(f"inferdash: {path} is not taken as a price book: {why}\n")
    return found
