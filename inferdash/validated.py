"""What comes in from outside is validated once, at the door: presets, links, uploads."""

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_before_validator_function

from inferdash import quantities


class Validated(BaseModel):
    """A frozen value whose fields are all known; the string below a field is its documentation."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False, validate_default=True
    )


@dataclass(frozen=True)
class Quantity:
    """Marks a number that people write with a unit; `unit` is the base unit in which it is kept."""

    unit: str
    usual: str = ""
    """The unit of a number that a reader types without one; the base unit where empty, as it is in a link."""

    def typed(self, text: str) -> str:
        """What a reader typed, with its unit."""
        return f"{text.strip()} {self.usual or self.unit}" if quantities.is_bare(text) else text

    def read(self, value: Any) -> Any:
        """Reads "80 GB" where a number is expected; a number passes as it is."""
        if not isinstance(value, str):
            return value
        try:
            return quantities.parse(value, self.unit)
        except ValueError as error:
            raise PydanticCustomError("quantity", "{reason}", {"reason": str(error)}) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_before_validator_function(self.read, handler(source))


Bytes: TypeAlias = Annotated[float, Quantity("B")]
BytesPerSecond: TypeAlias = Annotated[float, Quantity("B/s")]
FlopsPerSecond: TypeAlias = Annotated[float, Quantity("FLOP/s")]
Seconds: TypeAlias = Annotated[float, Quantity("s")]
