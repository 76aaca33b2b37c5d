"""What is to be said of requests that were replayed: prices that are missing, costs that the file itself tells."""

from collections.abc import Collection
from decimal import Decimal

from inferdash import quantities
from inferdash.facts.money.rates import PriceList
from inferdash.pricing.logs.recorded import Recorded
from inferdash.pricing.replay import Replay


def cost_sentences(said: Recorded | None, result: Replay) -> list[str]:
    """What the file says that its requests cost, what they cost at the prices, and the difference."""
    if said is None:
        return []
    which = "its requests" if said.requests == result.requests else f"{said.requests:,} of its requests"
    more = "more" if said.difference_usd >= 0 else "less"
    own, here, apart = usd(said.usd), usd(said.priced_usd), usd(abs(said.difference_usd))
    return [f"The file itself says that {which} cost {own}; at these prices they cost {here}. It has {apart} {more}."]


def asks(result: Replay, prices: PriceList) -> str:
    """The price without which there is no bill, in a sentence; nothing where none is missing."""
    if not result.tokens.written_long or prices.rates.write_long is not None:
        return ""
    return (
        f"{result.tokens.written_long:,} tokens were stored for an hour, and these prices have none for that: say what"
        " a million of them cost (write_long)."
    )


def problems(result: Replay, missing: str) -> list[str]:
    """What a reader should know about a replay, and the price that is missing for it, in sentences."""
    sentences = []
    if result.forgotten_blocks:
        sentences.append(f"{result.forgotten_blocks:,} blocks were forgotten early, as there were too many to keep.")
    if missing:
        sentences.append(missing)
    return sentences


def one_price(models: Collection[str]) -> list[str]:
    """That several models are billed alike, where the prices of one were asked for."""
    return [f"The requests went to {len(models)} models; the same prices are used for all."] if len(models) > 1 else []


def usd(dollars: Decimal | int) -> str:
    """Dollars as they are shown."""
    return str(quantities.shown(float(dollars), "$"))
