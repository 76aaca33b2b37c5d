"""How the ratio of a number of two scenarios is said: of what, in which words, and which way is a gain."""

from dataclasses import dataclass
from typing import Final, Literal

from inferdash import quantities

_TIMES: Final = 1.5
"""From here on a ratio is said as times, below it as per cent."""
_TINY: Final = 0.01

Gain = Literal["more", "less", ""]


@dataclass(frozen=True)
class Ratio:
    """Of a headline number."""

    text: str
    """What is said, with {} for the ratio: "a request is {}"; empty where nobody would say it."""
    times: str = ""
    """What stands after "1.8 times": "as fast"."""
    more: str = ""
    """After "12%", where the ratio is above 1: "faster"."""
    less: str = ""
    """And where it is below: "slower"."""
    gain: Gain = ""
    """Which way is one for whoever runs or pays; empty where it is neither."""
    told_by: str = ""
    """The name of the number whose ratio says the same, where the two are alike."""

    def said(self, ratio: float) -> str:
        """A ratio of B to A in words: "1.8 times as fast", "12% slower"."""
        if ratio >= _TIMES:
            return f"{quantities.digits(ratio)} times {self.times}"
        if ratio > 1:
            return f"{quantities.percent(ratio - 1)} {self.more}"
        if ratio > _TINY:
            return f"{quantities.percent(1 - ratio)} {self.less}"
        return f"less than a hundredth {self.times}"

    def gained(self, a: float, b: float) -> bool | None:
        """Whether B gains by it; None where it neither gains nor loses."""
        return None if not self.gain or a == b else (b > a) == (self.gain == "more")


UNSAID: Final = Ratio("")
"""Of a number that is a ratio itself."""


def fast(text: str) -> Ratio:
    """Of a speed."""
    return Ratio(text, "as fast", "faster", "slower", "more")


def lasting(text: str) -> Ratio:
    """Of a time that something takes."""
    return Ratio(text, "as long", "longer", "less time", "less")


def cost(text: str, *, told_by: str = "") -> Ratio:
    """Of dollars."""
    return Ratio(text, "as much", "more", "less", "less", told_by)


def much(text: str) -> Ratio:
    """Of bytes that are read, or of tokens that are billed."""
    return Ratio(text, "as much", "more", "less", "less")


def many(text: str, gain: Gain = "") -> Ratio:
    """Of what is counted."""
    return Ratio(text, "as many", "more", "fewer", gain)


def large(text: str) -> Ratio:
    """Of what takes memory."""
    return Ratio(text, "as large", "larger", "smaller", "less")


SPEED: Final = fast("a request is {}")
FIRST: Final = lasting("the first token takes {}")
BETWEEN: Final = Ratio("the inter-token latency is {}", "as long", "longer", "shorter", "less")
TOKENS: Final = many("{} tokens per second are generated", "more")
FIT: Final = many("{} requests fit", "more")
MILLION: Final = cost("a million output tokens cost {}")
MONTH: Final = cost("a month costs {}")
USER: Final = cost("a user costs {} per month", told_by="A month")
REQUEST: Final = cost("a request costs {}", told_by="A month")
GPUS: Final = many("it takes {} GPUs", "less")
PARAMETERS: Final = many("the model has {} parameters")
ACTIVE: Final = many("{} of them are active per token")
