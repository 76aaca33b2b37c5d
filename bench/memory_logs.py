"""What engines keep of the memory: the rule fitted to logged starts, and held against those of sources left out.

python -m bench.memory_logs                          # the starts of presets/memory/
python -m bench.memory_logs starts.csv shapes.csv    # those of another file with the same columns, not fitted to
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from inferdash.facts import library
from inferdash.facts.machines.engine_memory import EngineMemory
from inferdash.facts.models.precision import PRECISIONS
from inferdash.physics.capacity.engine_memory import Kept, kept, sampler_bytes, workspace_bytes
from inferdash.physics.capacity.memory import held_bytes
from inferdash.physics.capacity.starts import GIB, LoggedStart, logged, read
from inferdash.physics.deployment import deploy
from inferdash.physics.parallelism import Layout

_SORTED, _TRITON = 2, 4
"""Places among the eras of vLLM of the first server of V1, and of the sampler in Triton."""
_DOMINATES: Final = 1.2
_FORMATS: Final = {"bf16": "bf16", "fp16": "bf16", "mxfp4": "mxfp4", "int4 w4a16": "int4-g128", "fp32": "fp32"}
_TABLES_KEPT: Final = {"fp8": "fp8-block", "int8 w8a8": "fp8-block", "fp8 online": "fp8-block"}
"""Formats of 8 bits whose tables stay at 16, which the 128×128 blocks come next to."""


@dataclass(frozen=True)
class Held:
    """A start that was not in the fit, beside what the rule says of it."""

    start: LoggedStart
    found: Kept

    @property
    def error(self) -> float | None:
        """Of the room for the cache, as a share of the memory of the card; None where one of both is not logged."""
        one = self.start
        if one.room is None or one.weights is None or one.engine == "llama.cpp":
            return None  # llama.cpp logs what a context takes, not what there is room for
        return (self.found.usable.expected - one.weights - one.room) / one.setting.total


def fitted(starts: Sequence[LoggedStart]) -> EngineMemory:
    """The rule of vLLM with all that can be fitted taken from some starts, the rest as shipped."""
    rule = library.engine_memory()["vllm"]
    mine = [one for one in starts if one.engine == "vllm" and one.fitted and one.shape and one.sized]
    eras = [era.model_dump() for era in rule.eras]
    known = {place: [one for one in mine if place == _era(rule, one)] for place in range(len(eras))}

    def of(places: range) -> list[LoggedStart]:
        return [one for place in places for one in known[place]]

    for places in (range(_TRITON), range(_TRITON, len(eras))):
        found = [value for one in of(places) if (value := _per_logit(rule, one)) is not None]
        for place in places if found else ():
            low, _, high = eras[place]["sampler"]
            usual = round(median(found), 1)
            eras[place]["sampler"] = (min(low, usual), usual, max(high, usual))
    for places in (range(1), range(1, _TRITON + 1), range(_TRITON + 1, len(eras))):
        _outside(eras, places, of(places))
    for place in (_TRITON + 1, _TRITON + 2):
        own = [one for one in starts if one.engine == "vllm" and one.shape]
        usual_held = _recurrent(rule, [one for one in own if _era(rule, one) == place])
        low, _, high = eras[place]["recurrent_outside"]
        band = (min(low, usual_held), usual_held, max(high, usual_held)) if usual_held else None
        eras[place]["recurrent_outside"] = band
    return rule.model_validate(rule.model_dump() | {"eras": eras})


def _era(rule: EngineMemory, one: LoggedStart) -> int:
    era = rule.possible(one.version)[0]
    return next(place for place, other in enumerate(rule.eras) if other.name == era.name)


def _per_logit(rule: EngineMemory, one: LoggedStart) -> float | None:
    """Bytes for each request and token of the vocabulary that a start shows, where the sampler is what counts."""
    if one.shape is None or one.activations is None or not one.setting.last:
        return None
    found = one.by(rule)
    if found is None:
        return None
    tokens, requests, shape = found.tokens[0], found.requests[0], one.shape
    beside = _beside_sampler(rule, one, tokens)
    logits = requests * shape.vocabulary
    forward = tokens * 2 * (3 * shape.width / one.setting.tensor + 4 * shape.hidden) + _workspace(one, tokens)
    if one.activations < _DOMINATES * forward:
        return None
    return (one.activations - beside) / logits


def _workspace(one: LoggedStart, tokens: int) -> float:
    shape, setting = one.shape, one.setting
    if shape is None or not (shape.experts_per_token and shape.workspace):
        return 0.0
    width = shape.expert_width / setting.tensor
    return float(
        workspace_bytes(tokens=tokens, experts_per_token=shape.experts_per_token, width=width, hidden=shape.hidden)
    )


def _beside_sampler(rule: EngineMemory, one: LoggedStart, tokens: int) -> float:
    era, shape = rule.possible(one.version)[0], one.shape
    if shape is None:
        return 0.0
    return float(
        sampler_bytes(
            requests=0,
            vocabulary=shape.vocabulary,
            per_logit=0,
            tokens=tokens,
            vectors=3 if shape.towers else 1,
            hidden=shape.hidden,
            workspace=era.experts_in_sampler * _workspace(one, tokens),
        )
    )


def _outside(eras: list[dict[str, Any]], places: range, starts: Sequence[LoggedStart]) -> None:
    """Puts the medians of what starts show outside the allocator into the eras of some places."""
    own = [one for one in starts if one.outside is not None and one.shape and not one.shape.recurrent]
    rows: list[dict[str, Any]] = [dict(row) for row in eras[places[0]]["outside"]]
    for at, row in enumerate(rows):
        most = rows[at + 1]["gpus"] if at + 1 < len(rows) else 1 << 20
        for size in ("small", "large"):
            found = [
                one.outside
                for one in own
                if one.outside is not None
                and row["gpus"] <= max(one.setting.tensor, min(one.setting.gpus, 2) - 1) < most
                and (one.setting.total >= 70 * GIB and not one.setting.a100) == (size == "large")
            ]
            if found:
                low, _, high = row[size]
                usual = round(median(found) / GIB, 2) * GIB
                row[size] = (min(low, usual), usual, max(high, usual))
    for place in places:
        eras[place]["outside"] = rows


def _recurrent(rule: EngineMemory, starts: Sequence[LoggedStart]) -> float | None:
    """Bytes outside the allocator on small cards of models with linear attention: as logged, else what else is left."""
    logs, rest = [], []
    for one in starts:
        shape, setting, found = one.shape, one.setting, one.by(rule)
        if shape is None or found is None or not shape.recurrent or setting.total >= 70 * GIB:
            continue
        if one.outside is not None:
            logs.append(one.outside)
        elif one.weights and one.room is not None:
            taken = found.not_taken.expected + found.activations.expected + found.graphs.expected
            rest.append(setting.total - taken - one.weights - one.room)
    values = logs or rest
    return round(median(values) / GIB, 1) * GIB if values else None


def left_out(starts: Sequence[LoggedStart], of: Callable[[LoggedStart], str]) -> Iterator[Held]:
    """Each start by a rule that was fitted without those of the same source, or of what `of` says."""
    for source in dict.fromkeys(of(one) for one in starts):
        rule = fitted([one for one in starts if of(one) != source])
        yield from held([one for one in starts if of(one) == source], rule)


def held(starts: Sequence[LoggedStart], rule: EngineMemory) -> Iterator[Held]:
    """Each start of which a rule says something; of engines but vLLM as shipped."""
    for one in starts:
        found = one.by(rule if one.engine == "vllm" else library.engine_memory()[one.engine])
        if found is not None:
            yield Held(one, found)


def source(one: LoggedStart) -> str:
    """Where it was published."""
    return one.source


def project(one: LoggedStart) -> str:
    """The same, all of one project together."""
    return "llm-d-planner" if "llm-d-planner" in one.source else one.source


def weights(starts: Sequence[LoggedStart]) -> Iterator[tuple[LoggedStart, float]]:
    """Starts of models that are presets, with the bytes of one accelerator that follow from the format alone."""
    presets = {one.hf_id.lower(): one for one in library.models().values() if one.hf_id}
    for one in starts:
        name = one.model.lower()
        alike = (m for key, m in presets.items() if key.partition("/")[2] in name and "distill" not in name)
        model = presets.get(name) or next(alike, None)
        precision = PRECISIONS.get(_FORMATS.get(one.weights_format) or _TABLES_KEPT.get(one.weights_format) or "")
        if model is None or precision is None or one.weights is None or one.gpus > 1:
            continue
        chip = library.accelerators()["h100-sxm"]
        whole = held_bytes(model, precision, library.engine_memory()[one.engine], version=one.version)
        layout = Layout(even=False, tensor=one.setting.tensor)
        bf16 = PRECISIONS["bf16"]
        machine = deploy(
            model, chip, gpus=one.gpus, weights=precision, cache=bf16, layout=layout, stored_bytes=float(whole)
        )
        yield one, float(machine.stored_bytes_of_one)


def _line(name: str, found: Sequence[Held]) -> str:
    errors = [100 * abs(one.error) for one in found if one.error is not None]
    if not errors:
        return f"{name:44} {0:4}"
    return f"{name:44} {len(errors):4} {median(errors):7.2f}% {np.percentile(errors, 90):7.2f}% {max(errors):7.2f}%"


def _activations(engine: str, found: Sequence[tuple[LoggedStart, Kept]]) -> str:
    """How far the activations, or the compute buffer, are from the log, in GiB."""
    off = [
        abs(one.activations.expected - start.activations) / GIB
        for start, one in found
        if start.activations is not None and one.activations.expected
    ]
    if not off:
        return f"{f'  activations of {engine}, GiB':44} {0:4}"
    return f"{f'  activations of {engine}, GiB':44} {len(off):4} {median(off):8.3f} {np.percentile(off, 90):8.3f}"


def report(name: str, found: Sequence[Held]) -> None:
    """Prints the errors of the room for the cache, and what is said of whether they start."""
    print(f"\n{name}\n{'room for the cache, off by of the card':44} rows  median     p90      max")
    print(_line("all", found))
    for engine in dict.fromkeys(one.start.engine for one in found):
        print(_line(f"  {engine}", [one for one in found if one.start.engine == engine]))
    print(_line("  cards under 70 GiB", [one for one in found if one.start.setting.total < 70 * GIB]))
    print(_activations("vllm", [(one.start, one.found) for one in found if one.start.engine == "vllm"]))
    sources = dict.fromkeys(one.start.source for one in found)
    by = [
        [100 * abs(one.error) for one in found if one.start.source == source and one.error is not None]
        for source in sources
    ]
    medians = [median(errors) for errors in by if errors]
    if medians:
        print(
            f"{'  by source, medians':44} {len(medians):4} {median(medians):7.2f}% {np.percentile(medians, 90):7.2f}%"
        )
    known = [one for one in found if one.start.room is not None and one.start.weights and one.error is not None]
    inside = sum(
        one.found.usable.low <= (one.start.room or 0) + (one.start.weights or 0) <= one.found.usable.high
        for one in known
    )
    print(f"inside the band: {inside} of {len(known)}")
    said = Counter((one.start.said(one.found), one.start.started) for one in found if one.start.weights)
    for word in ("surely", "probably", "probably not", "no"):
        print(f"said “{word}”: {said[word, True]} started, {said[word, False]} did not")
    wrong = surely_wrong(found)
    print(f"surely for one that did not start: {len(wrong)} {' '.join(wrong)}")


def surely_wrong(found: Sequence[Held]) -> list[str]:
    """Starts that failed and of which it is said that they surely succeed."""
    return [
        one.start.id
        for one in found
        if one.start.weights and not one.start.started and one.start.said(one.found) == "surely"
    ]


def main() -> None:
    """Prints all of it."""
    starts = logged()
    report("Each source left out of the fit once", list(left_out(starts, source)))
    report("Each project left out of the fit once", list(left_out(starts, project)))
    if sys.argv[1:]:
        given = [Path(one) for one in sys.argv[1:]]
        others = read(given[0], given[1] if len(given) > 1 else None)
        known = {one.id for one in starts}
        fresh = [one for one in others if one.id not in known]
        report(f"{given[0].name}, rows that are not shipped", list(held(fresh, library.engine_memory()["vllm"])))
    shipped = library.engine_memory()["llama.cpp"]
    buffers = [
        (one, kept(shipped, one.shape, one.setting))
        for one in starts
        if one.engine == "llama.cpp" and one.shape and one.setting.tokens and one.started
    ]
    print("\nas shipped")
    print(_activations("llama.cpp", buffers))
    print("\nparameters of one GPU by the format alone, off by of the log")
    errors = [(one, 100 * (by_format / (one.weights or 1) - 1)) for one, by_format in weights(starts)]
    for one, error in errors:
        print(f"  {one.model[:44]:44} {one.weights_format:10} {one.version:8} {error:+6.2f}%")
    print(f"  median {median(abs(error) for _, error in errors):.2f}% over {len(errors)}")


if __name__ == "__main__":
    main()
