"""What the reader measured of an engine, and the engine moved to it.

In a link a measurement is its kind, its value, and the fields of the machine that it was made on which differ from the
chapter's example: `itl~9.5ms~batch~16~prompt~2048`, with commas between several.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NoReturn, cast

import numpy as np
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from inferdash import quantities
from inferdash.facts import library
from inferdash.facts.machines.engine import Bands, Engine
from inferdash.formula import unrecorded
from inferdash.physics.fitted.calibration import IN_A_PREFILL, PARTS, moved, parts_of
from inferdash.physics.fitted.expected import (
    ExpectedPass,
    expected,
    expected_batch,
    expected_prefill,
    factor_needed,
    server_s,
)
from inferdash.physics.passes import Pass, decode, prefill
from inferdash.scenario.machine import Machine
from inferdash.scenario.marks import CONFIG, as_text, clipped
from inferdash.validated import Quantity

MOST: Final = 3
LONGEST: Final = 2000
"""Characters of all of them in a link."""
KINDS: Final = {
    "itl": "Inter-token latency",
    "ttft": "Time to first token",
    "tps": "Output tokens per second",
}
"""Id in links -> what is measured: of a request alone, at the batch, and of all requests of the batch together."""
_PHASES: Final = {"ttft": "prefill", "itl": "decode", "tps": "serving"}
_LEFT_OUT: Final = ("title", "config")
"""Fields of a machine that no measurement carries; an own config.json is that of the scenario."""
_BETWEEN: Final = "~"
_NUMBER: Final = re.compile(r"(\d{1,3}(,\d{3})+|\d{1,9})(\.\d*)?", re.ASCII)
"""Tokens a second: a comma separates thousands, the point is decimal."""
_UNLIKELY: Final = 30
"""Times as long as expected, from which on a measurement is something else; published ones go to 15."""
AS_MEASURED: Final = "as you measured it"
"""After the name of an engine that was moved."""
_ALIKE: Final = 0.99
"""Of the limit: from here on a measurement may just have been rounded."""


@dataclass(frozen=True)
class Measured:
    """One measurement."""

    kind: str
    """A key of `KINDS`."""
    value: float
    """Seconds, or output tokens a second of all requests together."""
    machine: Machine
    """What it was made on."""

    @property
    def seconds(self) -> float:
        """What the expected time is held against: the value, or the time of the whole batch."""
        return self.value if self.kind != "tps" else self.machine.batch * self.machine.answer / self.value

    @property
    def limit_s(self) -> float | None:
        """The same at the limit; None where no peak is known."""
        machine, past = self.machine.deployment, self.machine.prompt + self.machine.answer / 2
        writing: Pass = decode(machine, requests=self.machine.batch, past=past)
        reading = prefill(machine, prompt=self.machine.prompt, output_layer_last=True)
        if writing.pass_s is None or reading.pass_s is None:
            return None
        if self.kind == "ttft":
            return float(reading.pass_s)
        if self.kind == "itl":
            return float(writing.pass_s)
        arithmetic = reading.compute_s or 0.0  # prompts may share a pass, and then load the parameters once
        return float(self.machine.batch * arithmetic + (self.machine.answer - 1) * writing.pass_s)

    def expected(self, engine: Engine) -> ExpectedPass:
        """Its passes as an engine is expected to run them, without the time of a server."""
        machine, here = self.machine.deployment, self.machine
        match self.kind:
            case "ttft":
                whole = expected_prefill(machine, engine, prompt=here.prompt)
            case "itl":
                past = here.prompt + here.answer / 2
                whole = expected(machine, engine, requests=here.batch, positions=1, past=past)
            case _:
                whole = expected_batch(machine, engine, requests=here.batch, prompt=here.prompt, answer=here.answer)
        return cast("ExpectedPass", whole)  # what is read is of an accelerator whose peak is known

    def expected_s(self, engine: Engine) -> float:
        """Expected seconds of what was measured."""
        return float(self.expected(engine).pass_s) + self.server_s(engine)

    def server_s(self, engine: Engine) -> float:
        """Seconds that a server is expected to add to what was measured."""
        if self.kind != "ttft":
            return 0.0
        return float(server_s(server_s=engine.server, token_s=engine.server_token, prompt=self.machine.prompt))

    def factor_needed(self, engine: Engine) -> float:
        """Factor of the narrowest band of that engine that reaches it."""
        expected_s = self.expected_s(engine)
        return float(factor_needed(limit_s=self.limit_s or 0.0, expected_s=expected_s, measured_s=self.seconds))

    def same_set_up(self, machine: Machine) -> bool:
        """Whether it was made on the machine's model, accelerator and engine, and so says something about it."""
        return _set_up(self.machine) == _set_up(machine)

    @property
    def text(self) -> str:
        """As it stands in a link."""
        base = Machine()
        words = [self.kind, as_text(self.value, Quantity("s")) if self.kind != "tps" else f"{self.value:.15g}"]
        for name, field in Machine.model_fields.items():
            value = getattr(self.machine, name)
            if name not in _LEFT_OUT and value != getattr(base, name):
                unit = next((mark for mark in field.metadata if isinstance(mark, Quantity)), None)
                words += [name, as_text(value, unit)]
        if self.machine.model == CONFIG:
            words += ["config", _digest(self.machine.config)]
        return _BETWEEN.join(words)


def written(measurements: tuple[Measured, ...]) -> str:
    """Some measurements as they stand in a link."""
    return ",".join(one.text for one in measurements)


def _set_up(machine: Machine) -> tuple[Any, ...]:
    chip = machine.hardware
    return machine.architecture, machine.engine, chip.name, chip.bandwidth, chip.dense_bf16


@lru_cache(maxsize=64)
def read(text: str, config: str = "") -> tuple[Measured, ...]:
    """The measurements of a link; `config` is the scenario's own config.json.

    Raises:
        PydanticCustomError: where one cannot be read, or cannot be true, with the reason.
    """
    found = tuple(_one(part.strip(), config) for part in text.split(",") if part.strip())
    if len(found) > MOST:
        refuse(f"holds more than {MOST} measurements")
    return found


def _one(text: str, config: str) -> Measured:
    kind, *words = text.split(_BETWEEN)
    if kind not in KINDS or len(words) % 2 == 0:
        refuse(f"holds “{clipped(text)}”, which is no measurement such as itl~9.5ms~batch~16")
    fields: dict[str, Any] = dict(zip(words[1::2], words[2::2], strict=True))
    if len(fields) < len(words) // 2:
        refuse(f"holds a field twice in “{clipped(text)}”")
    if fields.get("model") == CONFIG and fields.get("config") != _digest(config):
        refuse("was made on another config.json than that of the scenario")
    if fields.get("model") == CONFIG:
        fields["config"] = config
    if "title" in fields:
        refuse("holds a title, which is no part of a measurement")
    try:
        machine = Machine.model_validate(fields)
    except ValidationError as error:
        names = [str(one["loc"][0]) if one["loc"] else one["ctx"]["fields"][0] for one in error.errors()]
        refuse(f"holds {clipped(names[0])}={clipped(fields.get(names[0], ''))}, which is not possible")
    return _checked(Measured(kind, _value(kind, words[0]), machine))


def entered(kind: str, value: str, machine: Machine) -> Measured:
    """A measurement made on a machine, from what a reader typed.

    Raises:
        PydanticCustomError: where it cannot be read or cannot be true, with the reason.
    """
    one = machine.run.model_copy(update={"memory_of": machine.limit.memory_of})  # which says nothing about a time
    own = {name: getattr(one, name) for name in Machine.model_fields if name != "title"}
    return _checked(Measured(kind, _value(kind, value), Machine(**own)))


def _digest(config: str) -> str:
    """A few letters that tell one config.json from another."""
    return sha256(config.encode()).hexdigest()[:8]


def _value(kind: str, text: str) -> float:
    if kind == "tps":
        if not _NUMBER.fullmatch(text.strip()):
            refuse(f"holds “{clipped(text)}”, which is no number of tokens per second such as 1,500")
        value = float(text.replace(",", ""))
    else:
        if not text.strip()[-1:].isalpha():
            refuse(f"holds “{clipped(text)}”, which is no time with a unit, such as 9.5 ms")
        try:
            value = quantities.parse(text, "s")
        except ValueError as error:
            refuse(f"holds “{clipped(text)}”, which {error}")
    if not 1e-6 < value < 1e9:  # noqa: PLR2004 - a microsecond to decades
        refuse(f"holds {clipped(text)}, which is no time or speed of a request")
    return value


def _checked(one: Measured) -> Measured:
    """The measurement, unless no peak is known or it beats the limit."""
    with unrecorded():
        limit_s = one.limit_s
        if limit_s is None:
            refuse(f"needs the peak of {one.machine.hardware.name}, which is not known")
        times = one.seconds / one.expected_s(library.engines()[one.machine.engine])
    if times > _UNLIKELY:
        refuse(f"is {quantities.times(times)} what is expected, so it is not read: check its unit and what it is of")
    if one.seconds < _ALIKE * limit_s:
        if one.kind == "tps":
            limit = f"{quantities.digits(one.machine.batch * one.machine.answer / limit_s)} tokens/s"
            value = f"{quantities.digits(one.value)} tokens/s"
        else:
            value, limit = (str(quantities.shown(seconds, "s")) for seconds in (one.value, limit_s))
        cached = " or a cached prompt" if one.kind != "itl" else ""
        refuse(
            f"holds {value}, which beats {limit}, the limit of bytes over bandwidth and of operations over peak: "
            "perhaps answers were shorter than said, the unit, number format or number of GPUs is another one, or "
            f"there was speculative decoding{cached}"
        )
    return one


def refuse(reason: str) -> NoReturn:
    """Says why a measurement is not taken, as a clause that follows “measured”.

    Raises:
        PydanticCustomError: always.
    """
    raise PydanticCustomError("fields", "{reason}", {"reason": reason, "fields": ("measured",)})


@lru_cache(maxsize=64)
def calibrated(key: str, own: tuple[Measured, ...]) -> Engine:
    """An engine moved to measurements of one model on one accelerator, its bands as narrow as such ones leave them.

    Args:
        key: id of the engine.
        own: the measurements, at least one.
    """
    engine = library.engines()[key]
    with unrecorded():
        parts = [
            parts_of(
                one.expected(engine),
                server_s=one.server_s(engine),
                moves=IN_A_PREFILL if one.kind == "ttft" else PARTS,
            )
            for one in own
        ]
        there = moved(engine, own[0].machine.deployment, parts, np.array([one.seconds for one in own]))
        needed = [(_PHASES[one.kind], one.factor_needed(there)) for one in own]
    family = own[0].machine.hardware.family
    bands = there.reach[family].bands.model_dump()
    for phase in {phase for phase, _ in needed}:
        mine = [factor for of, factor in needed if of == phase]
        usual = engine.calibrated_once if len(mine) == 1 else engine.calibrated_twice
        factor = max(min(bands[phase][1], getattr(usual, phase)[1]), *mine)
        bands[phase] = (1 / factor, factor)
    reach = there.reach[family].model_copy(update={"bands": Bands(**bands)})
    return there.model_copy(update={"name": f"{engine.name} {AS_MEASURED}", "reach": {**there.reach, family: reach}})
