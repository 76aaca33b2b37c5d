"""A replica under a steady load of like requests: what it carries, and how long nine of ten requests wait at most.

Requests come at random, prompts are read first and one a pass, and all that write share the passes of the decode. Where
requests are dealt out to several in turn, the gaps at each are more regular: `variation` is the square of their
coefficient of variation, 1 where requests come at random and 1/n where every n-th of them comes.

The forms rank and pre-select set-ups. They leave out that prompts which come together share a pass, so a replica with
short prompts carries more, and that lengths of texts differ.
"""

import numpy as np

from inferdash.formula import Number, formula


@formula(unit="requests/s", ref="batching")
def carried_per_s(*, batch: Number, prefill_s: Number, passes: Number, pass_s: Number) -> Number:
    """Requests a second that a batch of `batch` requests carries: each reads its prompt alone, then all write.

    `passes` are those of the decode of one request, one fewer than its tokens, and `pass_s` is one with all of them.
    """
    return batch / (batch * prefill_s + passes * pass_s)


@formula(unit="s", ref="batching")
def interrupted_pass_s(*, pass_s: Number, carried_per_s: Number, prefill_s: Number) -> Number:
    """Mean seconds from token to token: a pass of the decode, and the prompts of others that are read meanwhile."""
    return pass_s / (1 - carried_per_s * prefill_s)


@formula(unit="requests", ref="queues")
def spread(*, batch: Number, growth: Number, variation: Number) -> Number:
    """Standard deviation of the requests in a batch.

    `growth` is by how much what is carried grows with the batch, as a power: 1 is in proportion, and where requests
    come at random the batch is then Poisson's; less lets a batch that is large already grow further.
    """
    return (batch * variation / growth) ** 0.5


@formula(unit="requests", ref="queues")
def mean_batch(*, batch: Number, growth: Number, variation: Number) -> Number:
    """Mean requests in the batch: more than the `batch` that carries the load, as a large one works less well."""
    return batch + variation * (1 - growth) / (2 * growth)


@formula(unit="requests", ref="queues")
def crowded_batch(*, batch: Number, growth: Number, variation: Number, spread: Number, places: Number) -> Number:
    """Requests in the batch, over a whole answer, that one of ten requests sees more of; `places` at most.

    A request sees large batches more often, itself among them. The mean over an answer varies less than the batch does,
    by the root of 2/3, so that a tenth lies 1.05 standard deviations above and not 1.28.
    """
    return np.minimum(places, batch + variation / growth + 1.05 * spread)


@formula(unit="s", ref="queues")
def crowded_latency_s(*, latency_s: Number, batch: Number, crowded: Number, growth: Number) -> Number:
    """Seconds from token to token in a crowded batch; `latency_s` is with `batch` requests."""
    return latency_s * (crowded / batch) ** (1 - growth)


@formula(unit="deviations", ref="many-places")
def room(*, places: Number, batch: Number, spread: Number) -> Number:
    """Free places beyond the mean batch, in standard deviations of it; 0 at least, and 25 is as good as without end."""
    return np.minimum(25, np.maximum(0, (places - batch) / spread))


@formula(unit="%", ref="many-places")
def full_share(*, load_share: Number, variation: Number, spread: Number, room: Number) -> Number:
    """Share of requests that find all places taken; `load_share` is the load over what full places carry.

    Below the limit the batch is taken as normal (its curve as a logistic one), beyond it as a queue.
    """
    return np.minimum(
        1,
        (1 + np.exp(-1.7 * room))
        / (
            1
            + np.exp(-1.7 * room)
            + 2.507 * spread * (1 - load_share) / variation * np.exp(np.minimum(300, room * room / 2))
        ),
    )


@formula(unit="s", ref="many-places")
def place_wait_s(*, full_share: Number, load_share: Number, variation: Number, full_per_s: Number) -> Number:
    """Seconds that nine of ten requests wait for a place at most, where answers take equally long.

    `full_per_s` is what full places carry. Half of what it were if answers took times at random.
    """
    return variation * np.log(np.maximum(1, full_share / 0.1)) / (2 * (1 - load_share) * full_per_s)


@formula(unit="%", ref="queues")
def beyond_share(*, full_share: Number) -> Number:
    """Share of requests that wait longer for other prompts than is counted: a tenth, less those without a place."""
    return np.maximum(0.02, 0.1 - full_share)


@formula(unit="s", ref="queues")
def prompts_wait_s(*, prefill_s: Number, reading_share: Number, variation: Number, beyond_share: Number) -> Number:
    """Seconds that all but a share of requests wait at most for prompts in front, one after another.

    `reading_share` is the share of the time in which prompts are read. The first form is exact for waits below one
    prefill where requests come at random, the second has the mean of the queue (Pollaczek and Khinchine) and falls
    exponentially.
    """
    return variation * np.maximum(
        prefill_s / reading_share * np.log(np.maximum(1, (1 - beyond_share) / (1 - reading_share))),
        prefill_s / (2 * (1 - reading_share)) * np.log(np.maximum(1, reading_share / beyond_share)),
    )


@formula(unit="s", ref="queues")
def late_first_token_s(
    *,
    prefill_s: Number,
    pass_s: Number,
    batch: Number,
    prompts_wait_s: Number,
    place_wait_s: Number,
    beyond_share: Number,
) -> Number:
    """Seconds from arrival to first token that nine of ten requests do not exceed.

    The prompt itself, what is left of the pass that runs (less often where the batch is below 1), prompts in front, and
    a place. Time of the server and of the network is not counted.
    """
    return (
        prefill_s
        + np.maximum(
            (1 - beyond_share) * np.minimum(1, batch) * pass_s, prompts_wait_s + np.minimum(1, batch) * pass_s / 2
        )
        + place_wait_s
    )


@formula(unit="replicas", ref="batching")
def fewest_replicas(*, requests_per_s: Number, carried_per_s: Number) -> Number:
    """Replicas that carry a load together, where each carries `carried_per_s`."""
    return np.ceil(requests_per_s / carried_per_s)
