"""What single pages add to a scenario: their own fields, in the order of the pages."""

from collections import Counter
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts import library
from inferdash.facts.machines.engine import Engine
from inferdash.facts.money import price_books, prices
from inferdash.facts.money.prices import UnknownModelError
from inferdash.facts.money.rates import PriceList, Rates, entered
from inferdash.scenario import measured
from inferdash.scenario.machine import Machine
from inferdash.scenario.marks import (
    OWN,
    SHARE,
    TOKENS,
    Choices,
    Place,
    Several,
    names_of,
    numbers,
    plain_text,
    whole_numbers,
)
from inferdash.scenario.measured import Measured
from inferdash.validated import Quantity

CHANGES: Final = {
    "release": "with a release",
    "user": "with the user",
    "conversation": "with the conversation",
    "request": "with each request",
}
"""Id in links -> how often a part of a prompt changes, the rarest first."""
HOW_OFTEN: Final = Choices("rhythm of change", lambda: CHANGES)
PARTS: Final = {"t": "tools", "s": "system prompt", "u": "user", "d": "documents", "q": "question"}
"""Letter in links -> part of a prompt."""

_STANDARD: Final = "standard"
RUNS_ON: Final = {"api": "An API", "rented": "Rented GPUs"}
"""Id in links -> what runs a feature."""
USES: Final = {"users": "Users", "month": "Requests a month", "day": "Requests a day"}
"""Id in links -> how the use of a feature is said."""
MARKINGS: Final = {
    "all": "The whole prompt",
    "best": "As far as it pays",
    "shared": "Tools and system prompt",
    "session": "And what stays in a session",
    "none": "Nothing",
}
"""Id in links -> how far a prompt is marked for an API's cache."""
BESIDE: Final = ("anthropic/claude-sonnet-5-5", "openai/gpt-6-sol", "google/gemini-4-argon")
"""The APIs that stand side by side at first."""
_SERVICES: Final = {name: name.capitalize() for name in prices.SERVICES}
COMPARED: Final = (
    "anthropic/claude-haiku-5-5",
    "anthropic/claude-sonnet-5-5",
    "anthropic/claude-opus-5-5",
    "openai/gpt-6-luna",
    "openai/gpt-6-sol",
    "google/gemini-3.8-flash",
    "google/gemini-4-argon",
    "deepseek/deepseek-v4-pro",
    "moonshotai/kimi-k3.1-pro",
    "mistral/mistral-large-2512",
)
"""Those that a comparison begins with: small and large ones of the makers that are asked for most."""


def _permutation(value: str) -> str:
    if sorted(value) != sorted(PARTS):
        raise PydanticCustomError("plain", f"is not an order of the letters {', '.join(PARTS)}")
    return value


_API_PROVIDERS: Final = ("anthropic", "openai", "google", "deepseek", "mistral", "moonshotai", "x-ai", "zai", "groq")


@cache
def _apis() -> dict[str, str]:
    """Id -> name; where a provider has several models of a name, their ids tell them apart, as a widget needs."""
    found = {}
    for provider in _API_PROVIDERS:
        models = prices.models(provider)
        often = Counter(models.values())
        for key, name in models.items():
            maker = prices.providers()[provider]
            found[f"{provider}/{key}"] = f"{name} ({maker})" if often[name] == 1 else f"{name} ({maker}, {key})"
    return found


def _day(value: str) -> str:
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise PydanticCustomError("plain", "is not a day such as 2026-11-29") from None


def _own_prices(scenario: "Topics") -> bool:
    return scenario.api == OWN


def _of_book(key: str) -> bool:
    """Whether an id may be that of a price book's model; whether the book has it is asked with the price."""
    return key.startswith(price_books.OF_BOOK)


def _of_api(scenario: "Topics") -> bool:
    return scenario.api != OWN


def _known_share(scenario: "Topics") -> bool:
    return scenario.share_known


def _share_draft(scenario: "Topics") -> bool:
    return scenario.draft == SHARE


def _by_users(scenario: "Topics") -> bool:
    return scenario.use_as == "users"


def _by_requests(scenario: "Topics") -> bool:
    return scenario.use_as != "users"


def _markable(scenario: "Topics") -> bool:
    if scenario.api == OWN:
        return True
    provider, _, model = scenario.api.partition("/")
    rules = library.rules_of(provider, model)
    return rules is not None and rules.breakpoints is not None


OWN_PRICES: Final = Place("page", _own_prices)


class Topics(Machine):
    """The fields of the pages, on top of what they share."""

    output_layer: Annotated[
        str,
        Choices("way to count", lambda: {"every": "For every token", "last": "For the last token"}),
        Place("page"),
    ] = Field("every", title="Output layer in the prefill")
    """It gives the next token. The chapter counts it for every prompt token; engines run it for the last one only."""
    queue: Annotated[float, Quantity("s", usual="ms"), Place("page")] = Field(0.0, title="Queue time", ge=0, le=86_400)
    """Time from sending a request until its prefill starts, such as 200 ms."""
    network: Annotated[float, Quantity("s", usual="ms"), Place("page")] = Field(
        0.0, title="Network time", ge=0, le=86_400
    )
    """Round trip of the request and its first token, such as 50 ms."""
    reasoning: Annotated[int, Place("page")] = Field(0, title="Hidden reasoning tokens", ge=0, le=TOKENS)
    """Thinking tokens that the model generates before its answer and that the API does not show."""

    draft: Annotated[
        str,
        Choices("draft model", lambda: {SHARE: "A scaled-down copy"} | names_of(library.models())),
        Place("page"),
    ] = Field(SHARE, title="Draft model")
    """The small model that proposes tokens."""
    draft_share: Annotated[float, Place("page", _share_draft)] = Field(0.1, title="Size of the draft", ge=0, le=1)
    """Parameters, cache and pass time of the draft model, as a share of the large model's."""
    draft_tokens: Annotated[int, Place("page")] = Field(4, title="Proposed tokens", ge=1, le=16)
    """Tokens that the draft model proposes before each verification step."""
    acceptance: Annotated[float, Place("page")] = Field(0.8, title="Acceptance", ge=0, le=1)
    """Probability that the large model accepts a proposed token, given that it accepted those before."""

    proposal: Annotated[
        str,
        Choices("proposal", lambda: {"both": "Both right", "first": "Second wrong", "none": "Both wrong"}),
        Place("page"),
    ] = Field("both", title="In the example, the draft model proposes")
    """The two tokens that the draft model proposes in the chapter's example."""

    grid_prompt: Annotated[int, Place("page")] = Field(8, title="Prompt in the grid", ge=1, le=64)
    """Prompt tokens in the picture; 8 in the chapter's example."""
    grid_answer: Annotated[int, Place("page")] = Field(3, title="Answer in the grid", ge=1, le=64)
    """Output tokens in the picture, one per pass."""

    first_prompt: Annotated[str, AfterValidator(plain_text), Place("page")] = Field(
        "The ride of 3 km cost $", title="Cached prompt", max_length=200
    )
    """A prompt whose tokens are in the cache. It is split at spaces and punctuation, roughly as a tokenizer would."""
    second_prompt: Annotated[str, AfterValidator(plain_text), Place("page")] = Field(
        "The ride of 2 km cost $", title="New prompt", max_length=200
    )
    """It reuses the cached prompt up to the first token that differs."""
    tools_tokens: Annotated[int, Place("page")] = Field(2000, title="Tools, tokens", ge=0, le=TOKENS)
    """Tokens of the tool definitions."""
    tools_change: Annotated[str, HOW_OFTEN, Place("page")] = Field("release", title="Tools change")
    """How often this part changes."""
    system_tokens: Annotated[int, Place("page")] = Field(500, title="System prompt, tokens", ge=0, le=TOKENS)
    """Tokens of the system prompt."""
    system_change: Annotated[str, HOW_OFTEN, Place("page")] = Field("release", title="System prompt changes")
    """How often this part changes."""
    user_tokens: Annotated[int, Place("page")] = Field(200, title="Facts about the user, tokens", ge=0, le=TOKENS)
    """Tokens of facts about the user."""
    user_change: Annotated[str, HOW_OFTEN, Place("page")] = Field("user", title="Facts about the user change")
    """How often this part changes."""
    documents_tokens: Annotated[int, Place("page")] = Field(8000, title="Documents, tokens", ge=0, le=TOKENS)
    """Tokens of the documents in the prompt."""
    documents_change: Annotated[str, HOW_OFTEN, Place("page")] = Field("conversation", title="Documents change")
    """How often this part changes."""
    question_change: Annotated[str, HOW_OFTEN, Place("page")] = Field("request", title="Question changes")
    """How often this part changes."""
    order: Annotated[str, AfterValidator(_permutation), Place("page")] = Field("tusdq", title="Order of the parts")
    """The parts from first to last: t tools, s system prompt, u user, d documents, q question."""
    input_usd: Annotated[float, OWN_PRICES] = Field(2.0, title="Input price, $ per million", ge=0, le=10_000)
    """Dollars per million input tokens."""
    output_usd: Annotated[float, OWN_PRICES] = Field(10.0, title="Output price, $ per million", ge=0, le=10_000)
    """Dollars per million output tokens."""
    read: Annotated[float, OWN_PRICES] = Field(0.1, title="Cache-read price, × input", ge=0, le=0.99)
    """Price of a cached input token, as a multiple of the input price."""
    write: Annotated[float, OWN_PRICES] = Field(1.25, title="Cache-write price, × input", ge=1, le=10)
    """Price of a token written to the cache, as a multiple of the input price."""
    shared: Annotated[int, Place("page")] = Field(10_000, title="Shared prefix, tokens", ge=1, le=TOKENS)
    """Tokens at the start that all prompts share, such as the system prompt."""
    question: Annotated[int, Place("page")] = Field(100, title="Question, tokens", ge=0, le=TOKENS)
    """Tokens of each prompt after the shared prefix."""
    requests: Annotated[int, Place("page")] = Field(10, title="Requests", ge=1, le=1_000_000_000)
    """Requests with the same prefix, including the one that writes it to the cache."""
    lifetime: Annotated[float, Quantity("s"), OWN_PRICES] = Field(300.0, title="Cache lifetime", ge=1, le=31_536_000)
    """How long the cache keeps a prefix, such as 5 min or 1 h."""
    renewed: Annotated[bool, OWN_PRICES] = Field(default=True, title="Each use renews the lifetime")
    """Whether a cache hit restarts the lifetime."""
    arrivals: Annotated[
        str,
        Choices("kind of arrivals", lambda: {"fixed": "Fixed intervals", "random": "Random times"}),
        Place("page"),
    ] = Field("fixed", title="Arrivals")
    """At fixed intervals, or at random with that mean interval (Poisson)."""
    interval: Annotated[float, Quantity("s"), Place("page")] = Field(
        60.0, title="Time between requests", ge=0.001, le=31_536_000
    )
    """Mean time between two requests with the same prefix."""
    increment: Annotated[int, OWN_PRICES] = Field(1, title="Cache increment, tokens", ge=1, le=1_000_000)
    """An API may cache a prefix only up to a multiple of this many tokens."""
    minimum: Annotated[int, OWN_PRICES] = Field(0, title="Minimum cacheable prompt, tokens", ge=0, le=1_000_000)
    """An API may not cache a prefix shorter than this."""

    runs_on: Annotated[str, Choices("place", lambda: RUNS_ON), Place("page")] = Field("api", title="Feature runs on")
    """An API at its prices, or the scenario's model on rented GPUs, enough for the busiest hour."""
    api: Annotated[
        str,
        Choices("API model", lambda: _apis() | {OWN: "Your own prices"}, quick=frozenset({OWN}), also=_of_book),
        Place("page"),
    ] = Field(OWN, title="API model")
    """A provider's model with its prices and cache rules, or your own from the page “Prompt caching”."""
    prices: Annotated[str, AfterValidator(_day), Place("page", _of_api)] = Field(
        "2026-11-29", title="Prices of", max_length=10
    )
    """The date of the price list, such as 2026-11-29. A link keeps it."""
    book: Annotated[
        str,
        Choices(
            "price book",
            lambda: (
                {price_books.NONE: "No book"} | {key: book.name for key, book in price_books.beside_presets().items()}
            ),
            quick=frozenset({price_books.NONE}),
            also=lambda key: price_books.find(key) is not None,
            missing="is a price book that is not here; upload it, or ask whoever sent the link for it",
        ),
        Place("page"),
    ] = Field(price_books.NONE, title="Price book")
    """A contract's discounts and models of your own. A link holds its name and none of its contents."""
    service: Annotated[str, Choices("service", lambda: dict(_SERVICES)), Place("page", _of_api)] = Field(
        _STANDARD, title="Service"
    )
    """Service tier: batch answers within a day, flex when there is room, priority first."""
    compared: Annotated[
        tuple[str, ...], Several(Choices("API model", _apis, also=_of_book), most=30), Place("page")
    ] = Field(COMPARED, title="Compared with")
    """API models for which the same tokens are priced too."""
    beside: Annotated[tuple[str, ...], Several(Choices("API model", _apis, also=_of_book), most=3), Place("page")] = (
        Field(BESIDE, title="Side by side")
    )
    """Up to three APIs to price side by side."""
    marked: Annotated[str, Choices("part to mark", lambda: MARKINGS), Place("page", _markable)] = Field(
        "all", title="Marked for the cache"
    )
    """How much of each prompt to mark for caching, where the API leaves that to you."""
    use_as: Annotated[str, Choices("way to say the use", lambda: USES), Place("page")] = Field(
        "users", title="Enter usage as"
    )
    """As users with sessions, or as requests; each turn of a session is one request."""
    volume: Annotated[int, Place("page", _by_requests)] = Field(
        200_000, title="Number of requests", ge=1, le=1_000_000_000_000
    )
    """Requests of all users in a month of 30 days, or in a day."""
    growth: Annotated[float, Place("page", step=1.0)] = Field(0.0, title="Growth, % per month", ge=-50, le=100)
    """How much usage grows from one month to the next."""
    users: Annotated[int, Place("page", _by_users)] = Field(40_000, title="Users", ge=1, le=1_000_000_000)
    """People who use the feature."""
    sessions: Annotated[float, Place("page", _by_users)] = Field(0.2, title="Sessions per user per day", ge=0, le=1000)
    """On average over all users and days."""
    turns: Annotated[int, Place("page")] = Field(6, title="Turns per session", ge=1, le=500)
    """Messages that a user sends in one session."""
    gap: Annotated[float, Quantity("s"), Place("page")] = Field(60.0, title="Time between turns", ge=0.1, le=86_400)
    """The median: half of the turns come sooner."""
    spread: Annotated[float, Place("page")] = Field(3.0, title="Spread of that time", ge=1, le=10)
    """Two thirds of the times lie between the median divided and multiplied by this."""
    share_known: Annotated[bool, Place("page")] = Field(default=False, title="I know my cache hit share")
    """Your own measurement, in place of what timing and cache rules give."""
    read_share: Annotated[float, Place("page", _known_share)] = Field(0.7, title="Cached share of input", ge=0, le=1)
    """Share of all input tokens that your API bills as cached input."""
    history: Annotated[int, Place("page")] = Field(50_000, title="History kept, tokens", ge=0, le=TOKENS)
    """Most tokens of earlier messages and answers in a prompt; older ones are cut off."""
    user_price: Annotated[float, Place("page")] = Field(0.0, title="Price per user, $ per month", ge=0, le=100_000)
    """What a user pays for the feature per month; 0: nothing."""

    rent: Annotated[float, Place("page")] = Field(3.0, title="Rent, $ per GPU-hour", ge=0, le=10_000)
    """Price of one accelerator for an hour."""
    utilization: Annotated[float, Place("page")] = Field(1.0, title="Utilization", ge=0.01, le=1)
    """Share of the hours in which the accelerators work at this batch size."""
    slots: Annotated[int, Place("page")] = Field(64, title="Batch slots", ge=1, le=256)
    """Most requests in a batch, in the picture of static and continuous batching."""
    lengths: Annotated[str, AfterValidator(whole_numbers), Place("page")] = Field(
        "500, 63x50, 100x50", title="Answer lengths, tokens", max_length=200
    )
    """Output tokens of each request, in order of arrival; 63x50 stands for 63 requests of 50."""
    page: Annotated[int, Place("page")] = Field(16, title="Page size, tokens", ge=1, le=100_000)
    """Tokens per page (block); a request takes whole pages of the KV cache as it grows."""
    longest: Annotated[int, Place("page")] = Field(8192, title="Reserved without pages, tokens", ge=1, le=TOKENS)
    """Without pages each request reserves room for the longest context it may reach."""
    digits: Annotated[int, Place("page")] = Field(3, title="Significant digits", ge=1, le=15)
    """Digits that each sum keeps."""
    addends: Annotated[str, AfterValidator(numbers), Place("page")] = Field(
        "100, 0.4, 0.4", title="Numbers to add", max_length=200
    )
    """Added from the left, and from the right."""

    weight_values: Annotated[str, AfterValidator(numbers), Place("page")] = Field(
        "0.7, -0.23, 0.04, 0.38", title="Weights of a group", max_length=400
    )
    """Weights that share one scale."""
    bits: Annotated[int, Place("page")] = Field(4, title="Bits of each weight", ge=2, le=16)
    """Bits of the integers that weights are rounded to."""
    group: Annotated[int, Place("page")] = Field(128, title="Weights per scale", ge=1, le=65_536)
    """Weights in a group, which share a scale of 2 bytes."""

    logits: Annotated[str, AfterValidator(numbers), Place("page")] = Field(
        "2, 1.5, 0, -1", title="Logits of the router", max_length=200
    )
    """One for each expert, up to 16."""
    chosen: Annotated[int, Place("page")] = Field(2, title="Experts chosen", ge=1, le=16)
    """The experts with the largest logits process the position."""
    skew: Annotated[float, Place("page")] = Field(0.0, title="Routing skew (0 = even)", ge=0, le=2)
    """0: each expert is chosen equally often. 1: the second is chosen half as often as the first (Zipf)."""

    measured: Annotated[str, Place("page")] = Field("", title="Own measurements", max_length=measured.LONGEST)
    """Up to three numbers that you measured; the page “How right is this?” reads and explains them."""

    @model_validator(mode="after")
    def _measured(self) -> Self:
        measured.read(self.measured, self.config)
        return self

    @property
    def measurements(self) -> tuple[Measured, ...]:
        """All that the reader measured, of whatever model."""
        return measured.read(self.measured, self.config)

    @property
    def program(self) -> Engine:
        """The engine as it is expected to run: as others measured it, or as the reader measured it for this model."""
        own = tuple(one for one in self.measurements if one.same_set_up(self))
        return measured.calibrated(self.engine, own) if own else super().program

    @model_validator(mode="after")
    def _has_a_price(self) -> Self:
        try:
            self.price  # noqa: B018 - raises where there is none
        except UnknownModelError:
            if _of_book(self.api) and self.service == _STANDARD:
                context = {
                    "what": f"is a model of a price book, and “{self.book}” does not have it",
                    "fields": ("api",),
                }
                raise PydanticCustomError("fields", "{what}", context) from None
            named = ("api", "prices") if self.service == _STANDARD else ("service",)
            what = {"what": "of that day" if self.service == _STANDARD else f"for {self.api}", "fields": named}
            raise PydanticCustomError("fields", "has no price {what} in the list", what) from None
        return self

    @property
    def price_book(self) -> price_books.PriceBook | None:
        """The price book that is chosen; None where there is none, or it is here no more."""
        return price_books.find(self.book)

    @property
    def price(self) -> PriceList:
        """The prices of the API on its day, or those that the reader entered.

        Raises:
            UnknownModelError: where the model had no price of that service that day, in a scenario not validated.
        """
        if self.api != OWN:
            book = self.price_book
            if _of_book(self.api):
                if book is None:
                    raise UnknownModelError("The model is of a price book, and none is chosen.")
                return book.price(self.api, service=self.service)
            provider, _, model = self.api.partition("/")
            listed = prices.price_list(provider, model, day=date.fromisoformat(self.prices), service=self.service)
            return book.discounted(listed) if book else listed
        input_usd = Decimal(str(self.input_usd))
        return entered(
            Rates(
                input=input_usd,
                output=Decimal(str(self.output_usd)),
                read=input_usd * Decimal(str(self.read)),
                write=input_usd * Decimal(str(self.write)),
            )
        )
