"""What an operator sets: how a replica fills its passes, and how requests are shared out over replicas."""

from dataclasses import dataclass
from typing import Literal

from inferdash.physics.capacity.memory import cache_bytes_of_one, free_bytes_of_one
from inferdash.physics.deployment import Deployment

Batching = Literal["continuous", "static"]
Preemption = Literal["recompute", "swap"]
Rule = Literal["round robin", "least loaded", "prefix-aware"]
Write = Literal["through", "back"]


@dataclass(frozen=True, kw_only=True)
class Tiers:
    """Where blocks of prompts are kept below the cache of a replica's GPUs, the most recently used in host memory.

    What host memory has no room for goes on to the SSD. A block is moved in again where that, with the wait for the
    link, is quicker than to compute it; meanwhile the replica goes on with others. Writing out takes no time: it uses
    the other direction of the link.

    Raises:
        ValueError: where a room or a time is below 0.
    """

    host_pages: int = 0
    """Pages of the cache that fit into host memory."""
    ssd_pages: int = 0
    host_token_s: float = 0.0
    """Seconds in which the cache of a token comes from host memory, over all links of the replica."""
    ssd_token_s: float = 0.0
    latency_s: float = 0.0
    """Seconds until the first byte comes, once for each request."""
    write: Write = "through"
    """Through: a block is written out when its request ends. Back: only when it gives way on the GPUs."""

    def __post_init__(self) -> None:
        """Checks that nothing is negative."""
        if min(self.host_pages, self.ssd_pages, self.host_token_s, self.ssd_token_s, self.latency_s) < 0:
            raise ValueError("a tier has rooms and times of 0 at least")


@dataclass(frozen=True, kw_only=True)
class Scheduling:
    """How a replica chooses what runs in its next pass.

    Raises:
        ValueError: where nothing would ever run: no place, page or token, or decodes that leave no token for prompts.
    """

    places: int
    """Requests in the batch at most, those that still read included."""
    pages: int | None = None
    """Pages of the cache; None where it is never full."""
    page: int = 16
    """Tokens of a page."""
    batching: Batching = "continuous"
    """Continuous: a place is taken as soon as it is free. Static: all are taken again when the last answer has ended.

    Requests whose answer has ended then take no time and no cache, but their places stay empty.
    """
    chunked: bool = False
    """Whether prompts are read beside the decodes, in what these leave of `pass_tokens`; else first, and alone."""
    pass_tokens: int = 8192
    """Positions of a pass that reads prompts at most: several are read together, and long ones in chunks."""
    preemption: Preemption = "recompute"
    """What becomes of the cache of a request that is put back: dropped and read again, or moved out and in."""
    swap_token_s: float = 0.0
    """Seconds in which the cache of a token is moved out, and again in; nothing else runs meanwhile."""
    received: bool = False
    """Whether prompts come with their cache from other workers, that have read them and written the first token."""
    tiers: Tiers = Tiers()
    """Where blocks are kept that have no room on the GPUs; nowhere, where both are without room."""

    def __post_init__(self) -> None:
        """Checks that requests get on."""
        if min(self.places, self.page, self.pass_tokens) < 1:
            raise ValueError("places, page and pass_tokens are 1 at least")
        if self.chunked and self.pass_tokens <= self.places:
            raise ValueError(f"{self.pass_tokens} tokens a pass leave none for prompts beside {self.places} decodes")


@dataclass(frozen=True, kw_only=True)
class Routing:
    """How requests are shared out over replicas, each when it arrives.

    Raises:
        ValueError: where there is no replica.
    """

    replicas: int = 1
    rule: Rule = "round robin"
    """Round robin: each in turn. Least loaded: where the fewest requests wait or run.

    Prefix-aware: the least loaded of those that have the prefix, unless it is clearly more loaded than another.
    """
    slack: int = 8
    """Requests more than on the least loaded replica from which on a replica is clearly more loaded."""

    def __post_init__(self) -> None:
        """Checks that there is somewhere to go."""
        if self.replicas < 1:
            raise ValueError("replicas are 1 at least")


def room_pages(deployment: Deployment, *, tokens: int, page: int) -> int:
    """Pages of the cache that fit beside the parameters, by the mean size of a token in a text of `tokens` tokens.

    With windows or states a token of a longer text is smaller. Where groups serve requests of their own, the pages of
    one group. 0 where the parameters do not fit.
    """
    free = float(free_bytes_of_one(deployment, requests=0, tokens=tokens))
    whole = free * (deployment.gpus if deployment.layout.even else 1)
    return max(0, int(whole * tokens / float(cache_bytes_of_one(deployment, tokens=tokens)) // page))
