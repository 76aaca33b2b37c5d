"""A price book of the reader's: what is in it, and what one looks like."""

from inferdash import quantities
from inferdash.facts.money.price_books import PriceBook
from inferdash.studies.numbers import Row, Table

INTRO = (
    "A contract's discounts and models of your own. The file stays in the memory of this server; a link holds its name "
    "and nothing of what is in it, so whoever opens the link needs the file too."
)
EXAMPLE = """name = "Our contract"
day = 2026-11-01

[[discounts]]            # the first that names a model counts
provider = "anthropic"
model = "claude-*"       # all of the provider's where it is left out
off = 0.15

[[models]]
id = "house-70b"
name = "House model"
input = 0.80             # dollars for a million tokens
output = 2.40
read = 0.08              # from a cache; as fresh input where it is left out
context = 128000
like = "openai/gpt-6-sol" # whose rules of caching it follows; none where it is left out
"""


def table(book: PriceBook) -> Table:
    """The discounts and models of a book, in its order."""
    off = [
        Row(f"{one.provider} {one.model}", "word", (f"{quantities.percent(float(one.off))} off the listed prices",))
        for one in book.discounts
    ]
    own = [
        Row(one.name, "word", (f"${one.input} input, ${one.output} output a million tokens",)) for one in book.models
    ]
    return Table(("what it says",), (*off, *own), head=f"{book.name}, {book.day}")
