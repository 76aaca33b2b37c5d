"""Whether prefill and decode on workers of their own pay for a scenario, and why."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from inferdash import quantities
from inferdash.formula import unrecorded
from inferdash.physics.capacity.kv_cache import request_cache_bytes
from inferdash.physics.under_load import disaggregation as physics
from inferdash.physics.under_load.steady_state import carried_per_s, interrupted_pass_s
from inferdash.scenario import Scenario
from inferdash.serving.simulated.pass_times import PassTimes
from inferdash.serving.simulated.requests import Floats
from inferdash.serving.simulated.summary import prompt_s, tokens_s
from inferdash.studies.numbers import Row, Table, show
from inferdash.studies.run.ceilings import ceilings_per_s
from inferdash.studies.run.transfer import link_carries_per_s, link_of, moved_tokens, transfer_s
from inferdash.studies.run.workers import prefill_of, scheduling, times_of

_PAYS: Final = 1.05
"""Gains nearer to 1 are none."""
_SUITS: Final = 1.2
"""Ratios of workers nearer to the one that suits are not what matters."""
_CARRIERS: Final = {"prefill": "prefill workers", "link": "links", "decode": "decode workers"}


@dataclass(frozen=True)
class Worth:
    """What workers carry within the inter-token latency, apart and together, in steady state."""

    prefill_per_s: float
    """Requests a second that the prefill workers read."""
    link_per_s: float
    """Whose caches the links carry."""
    decode_per_s: float
    """That the decode workers write; 0 where a single request misses the target."""
    together_per_s: float
    """That the same rent carries together, on replicas like the decode workers; not whole numbers of them."""
    batch: int
    """Of a decode worker within the target."""
    together_batch: int
    """The same where prompts interrupt."""
    most: int
    """Requests that a decode worker has room and places for."""
    ratio: float
    """Prefill workers for each decode worker that keep both busy."""
    matched_tok_per_s: float
    """Output tokens a second of one accelerator at that ratio; 0 where a single request misses the target."""

    @property
    def per_s(self) -> float:
        """What all carry."""
        return min(self.prefill_per_s, self.link_per_s, self.decode_per_s)

    @property
    def gain(self) -> float | None:
        """Over the same rent together; None where that carries nothing."""
        return self.per_s / self.together_per_s if self.together_per_s else None

    @property
    def limit(self) -> str:
        """What carries least."""
        carried = {"link": self.link_per_s, "prefill": self.prefill_per_s, "decode": self.decode_per_s}
        return min(carried, key=carried.__getitem__)


def worth(scenario: Scenario) -> Worth | None:
    """What the workers of a scenario carry within its inter-token latency; None where they cannot be compared."""
    prefill, one = prefill_of(scenario), scenario.served
    if prefill is None or one.answer < 2:  # noqa: PLR2004 - between two tokens lies the latency
        return None
    writing, reading = times_of(one), times_of(prefill)
    moved = link_carries_per_s(one, prefill)
    if writing is None or reading is None or moved is None:
        return None
    passes, found = one.answer - 1, min(int(one.found_share * one.prompt), one.prompt - 1)
    read_s, here_s = (
        _reading_s(times, prompt=one.prompt, found=found, pass_tokens=one.pass_tokens) for times in (reading, writing)
    )
    how = scheduling(one, tokens=one.prompt + one.answer)
    room = one.places if how.pages is None else how.pages * how.page // (one.prompt + one.answer)
    most = min(one.places, room)
    if not most:
        return None
    batches = np.arange(1.0, most + 1)
    pass_s = tokens_s(writing, one.prompt + one.answer // 2, np.arange(1, most + 1))
    groups, readers = one.replicas * one.sharing.data, prefill.replicas * prefill.sharing.data
    with unrecorded():
        alone = np.asarray(carried_per_s(batch=batches, prefill_s=0.0, passes=passes, pass_s=pass_s))
        together = np.asarray(carried_per_s(batch=batches, prefill_s=here_s, passes=passes, pass_s=pass_s))
        between_s = np.asarray(interrupted_pass_s(pass_s=pass_s, carried_per_s=together, prefill_s=here_s))
        apart_place = _best(alone, pass_s <= one.target_between)
        together_place = _best(together, between_s <= one.target_between)
        batch = max(apart_place, 0)
        ratio = physics.prefill_workers_per_decode_worker(
            prefill_s=read_s, batch=batches[batch], passes=passes, pass_s=pass_s[batch]
        )
    decode_usd = scenario.rent * one.gpus * one.replicas
    paid = (decode_usd + scenario.rent_of_prefill * prefill.gpus * prefill.replicas) / decode_usd if decode_usd else 1.0
    decode_per_s = groups * float(alone[apart_place]) if apart_place >= 0 else 0.0
    with unrecorded():
        matched = physics.rate_matched_tok_per_s(
            answer=one.answer,
            prefill_per_s=1 / read_s,
            prefill_gpus=prefill.gpus / prefill.sharing.data,
            decode_per_s=decode_per_s / groups,
            decode_gpus=one.gpus / one.sharing.data,
        )
    return Worth(
        prefill_per_s=readers / read_s,
        link_per_s=moved,
        decode_per_s=decode_per_s,
        matched_tok_per_s=float(matched),
        together_per_s=paid * groups * float(together[together_place]) if together_place >= 0 else 0.0,
        batch=apart_place + 1,
        together_batch=together_place + 1,
        most=most,
        ratio=float(ratio) * one.sharing.data / prefill.sharing.data,
    )


def _reading_s(times: PassTimes, *, prompt: int, found: int, pass_tokens: int) -> float:
    """Seconds of a prompt where others wait behind it: of a share of a pass that as many fill as it takes."""
    together = pass_tokens // (prompt - found)
    if together > 1:
        return times.pass_s(chunks=[(prompt - found, found)] * together) / together
    return prompt_s(times, prompt=prompt, pass_tokens=pass_tokens, found=found)


def _best(carried: Floats, holds: np.ndarray) -> int:
    """The place of the most that is carried within a target; -1 where nothing is."""
    return int(np.where(holds, carried, -1.0).argmax()) if holds.any() else -1


def sentence(scenario: Scenario) -> str:
    """What prefill and decode apart are, and whether they pay for this job, in words."""
    if not scenario.disaggregated:
        return (
            "One replica processes prompts and decodes, so each prompt that comes interrupts the answers under way. "
            "Apart, prefill workers send the KV cache of a prompt to decode workers, which nothing interrupts."
        )
    found = worth(scenario)
    if found is None:
        return unknown_link(scenario) or (
            "An answer of one token is the prefill worker’s: nothing is sent." if scenario.answer == 1 else ""
        )
    target = show(scenario.target_between, "s")
    if not found.decode_per_s:
        return f"A decode pass of one request takes longer than the {target} of the target, apart or together."
    carried = f"within {target} between tokens, these workers carry {_per_s(found.per_s)}"
    if found.gain is None:
        return f"It pays: {carried}; together, a single prompt in between misses the target."
    versus = f"{_gain(found.gain)} what the same rent carries together, {_per_s(found.together_per_s)}"
    verdict = (
        "It pays" if found.gain >= _PAYS else "It makes no difference" if found.gain > 1 / _PAYS else "It does not pay"
    )
    return f"{verdict}: {carried}, {versus}. {_why(scenario, found)}"


def _gain(gain: float) -> str:
    return f"{quantities.digits(gain)} times"


def _per_s(value: float) -> str:
    said = quantities.digits(value)
    return f"{said} request{'' if said == '1' else 's'} per second"


def _why(scenario: Scenario, found: Worth) -> str:
    """What makes the difference."""
    ratio = f"this job wants {quantities.digits(found.ratio)} prefill workers for each decode worker"
    has = scenario.prefill_workers / scenario.replicas
    if found.limit == "link":
        return f"The link is the limit: each prompt moves {show(moved_bytes(scenario), 'B')}."
    if found.gain is not None and found.gain < _PAYS and not 1 / _SUITS < has / found.ratio < _SUITS:
        few, many = ("prefill", "decode") if found.limit == "prefill" else ("decode", "prefill")
        here = quantities.digits(has)
        return f"The {few} workers are the limit and the {many} workers idle: {ratio}, here it is {here}."
    if found.batch > found.together_batch:
        return (
            f"Without prompts in between, a decode worker may have {found.batch:,} requests in its batch and not "
            f"{found.together_batch:,}; {ratio}."
        )
    return (
        f"The batch is {found.batch:,} either way, as the batch limit or the memory bounds it and not the target: "
        f"keeping prompts out gains nothing. For the tail of the latency see the percentiles; {ratio}."
    )


def moved_bytes(scenario: Scenario) -> float:
    """Bytes of the cache that is moved of a prompt, counted once."""
    return float(
        request_cache_bytes(
            scenario.architecture,
            tokens=moved_tokens(scenario),
            bytes_per_number=scenario.served.deployment.cache_bytes_per_number,
        )
    )


def unknown_link(scenario: Scenario) -> str:
    """Why nothing can be said where the speed of the link is not known; nothing where it is."""
    prefill = prefill_of(scenario)
    if prefill is None or link_of(scenario, prefill) is not None:
        return ""
    chips = dict.fromkeys(one.hardware.name for one in (prefill, scenario) if not one.hardware.link_bandwidth)
    return f"The speed of the link of {' and '.join(chips)} is not known: choose a link between machines."


def table(scenario: Scenario) -> Table | None:
    """What each stage is, what it carries and what the load takes of that; None where there are no stages."""
    prefill, carried = prefill_of(scenario), ceilings_per_s(scenario)
    if prefill is None or not carried:
        return None
    one, seconds = scenario.served, transfer_s(scenario.served, prefill)
    link = link_of(one, prefill)
    rate = "" if link is None else f"{show(link.bandwidth, 'B/s')} per GPU"
    said = {
        "prefill": _workers(prefill),
        "link": f"{rate}; {show(moved_bytes(scenario), 'B')} a prompt in {show(seconds, 's')}",
        "decode": _workers(one),
    }
    return Table(
        ("what", "carries", "load"),
        tuple(
            Row(
                _CARRIERS[name],
                "word",
                (
                    said[name],
                    show(per_s, "requests/s"),
                    quantities.percent(scenario.demand_per_s / per_s) if per_s else "",
                ),
            )
            for name, per_s in carried.items()
        ),
        head="Stage",
    )


def _workers(one: Scenario) -> str:
    each = f"{one.gpus:,} × {one.hardware.name}" + ("" if one.gpus == 1 else f", {one.run.sharing.words}")
    return f"{one.replicas:,} of {each}, {one.precision.name}"


def matched(scenario: Scenario) -> str:
    """What a GPU writes at the ratio that suits, in words; nothing where the target is missed."""
    found, prefill = worth(scenario), prefill_of(scenario)
    if found is None or prefill is None or not found.decode_per_s:
        return ""
    gpus = scenario.gpus * scenario.replicas + prefill.gpus * prefill.replicas
    here = quantities.digits(found.per_s * scenario.answer / gpus)
    return (
        f"Rate-matched, with {quantities.digits(found.ratio)} prefill workers for each decode worker and no queue, a "
        f"GPU writes {quantities.digits(found.matched_tok_per_s)} tokens per second; these workers, {here}."
    )


def words(scenario: Scenario) -> str:
    """Who reads prompts, in a few words for a line on the set-up; nothing where all read and write."""
    prefill = prefill_of(scenario)
    if prefill is None:
        return ""
    workers = quantities.count(prefill.replicas, "prefill worker")
    return f", prompts read by {workers} of {prefill.gpus:,} × {prefill.hardware.name}"


def notes(scenario: Scenario) -> list[str]:
    """What a reader should know of the link."""
    prefill = prefill_of(scenario)
    gpus = 0 if prefill is None else scenario.replicas * scenario.gpus + prefill.replicas * prefill.gpus
    if not gpus or scenario.fabric != "same" or gpus <= scenario.hardware.linked:
        return []
    return [f"Caches move as fast between {gpus:,} GPUs as within a machine, which is rarely so: choose the link."]


METHOD: Final = (
    "What workers carry is simulated with a queue that never ends. Each GPU sends its part of the cache over its own "
    "link, one prompt after another: all of it, or what decode workers have not found where they keep prefixes. With "
    "vLLM and SGLang the first token comes from the decode worker, with TensorRT-LLM from the prefill worker."
)
