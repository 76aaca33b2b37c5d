"""What speculative decoding adds to a scenario that is served: what proposes tokens, and how many are kept."""

from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from inferdash.facts import library
from inferdash.facts.models.acceptance import LONGEST, curves
from inferdash.facts.models.architecture import Architecture
from inferdash.physics.drafters import Proposals, drafter_of
from inferdash.physics.speculation import tokens_per_pass
from inferdash.scenario.marks import SHARE, Choices, Place, names_of
from inferdash.scenario.topics import Topics

NONE: Final = "none"
ENTERED: Final = "entered"
METHODS: Final = {
    NONE: "Off",
    "draft": "Draft model",
    "mtp": "MTP layers",
    "eagle3": "EAGLE-3 head",
    "block": "Block drafter (DFlash, DSpark)",
    "ngram": "n-gram",
}
"""Id in links -> what proposes tokens."""
SPECULATED: Final = ("speculation", "acceptance_from", "draft", "draft_share", "draft_tokens", "acceptance")
"""Fields that say what is proposed, and kept."""


def _speculates(scenario: "Speculating") -> bool:
    return scenario.speculation != NONE


class Speculating(Topics):
    """The two fields of speculation in a server, beside those of the page on passes."""

    speculation: Annotated[str, Choices("method", lambda: METHODS), Place("page")] = Field(
        NONE, title="Speculative decoding"
    )
    """What proposes tokens, several of which the model then verifies in one pass."""
    acceptance_from: Annotated[
        str,
        Choices("curve of acceptance", lambda: {ENTERED: "As entered"} | names_of(curves())),
        Place("page", _speculates),
    ] = Field(ENTERED, title="Acceptance from")
    """Your own rate, or a measured curve of a model, a method and a kind of text."""

    @property
    def acceptance_fields(self) -> tuple[str, ...]:
        """The fields that count for the chosen method."""
        if self.speculation == NONE:
            return ()
        draft = ("draft", "draft_share") if self.speculation == "draft" else ()
        entered = ("acceptance",) if self.acceptance_from == ENTERED else ()
        return (*draft, "draft_tokens", "acceptance_from", *entered)

    @property
    def proposals(self) -> Proposals | None:
        """What is proposed and kept; None where nothing is, or the model has no layers for it."""
        if self.speculation == NONE or self.lacks_drafter:
            return None
        method: Any = self.speculation
        written = self.draft_tokens
        if self.acceptance_from == ENTERED:
            kept = float(tokens_per_pass(draft_tokens=written, acceptance=self.acceptance))
        else:
            kept = curves()[self.acceptance_from].lengths[written - 1]
        drafter: Architecture | None = drafter_of(self.architecture, method)
        if self.speculation == "draft" and self.draft != SHARE:
            drafter = library.models()[self.draft]
        scaled = self.speculation == "draft" and drafter is None
        return Proposals(
            method=method,
            draft_tokens=written,
            tokens_per_pass=kept,
            drafter=drafter,
            share=self.draft_share if scaled else 0.0,
        )

    @property
    def lacks_drafter(self) -> bool:
        """Whether the model is not known to have the layers that the method needs."""
        return self.speculation == "mtp" and self.architecture.mtp is None

    @model_validator(mode="after")
    def _within_the_curve(self) -> Self:
        if self.speculation != NONE and self.acceptance_from != ENTERED and self.draft_tokens > LONGEST:
            raise PydanticCustomError(
                "fields",
                "do not fit together: acceptance was measured for up to 8 proposed tokens",
                {"fields": ("draft_tokens", "acceptance_from")},
            )
        return self
