"""What became of requests, as arrays."""

from dataclasses import dataclass, replace

from inferdash.serving.simulated.requests import Floats, Ints


@dataclass(frozen=True, eq=False)
class Steps:
    """A replica over time: what holds from the time of an event to that of the next. Arrays with a row an event."""

    rows: Floats
    """Seconds, requests in the batch, and pages."""

    @property
    def time_s(self) -> Floats:
        """Seconds on the clock of the arrivals."""
        return self.rows[:, 0]

    @property
    def batch(self) -> Floats:
        """Requests in the batch, those that read and those that write."""
        return self.rows[:, 1]

    @property
    def pages(self) -> Floats:
        """Pages of the cache in use at the end of the step: within it they grow."""
        return self.rows[:, 2]


@dataclass(frozen=True, eq=False, kw_only=True)
class Served:
    """What became of each request, as arrays with a row a request, and of each replica over time.

    Times are seconds on the clock of the arrivals; those of a refused request are infinite: they never come.
    """

    arrival_s: Floats
    """When it came: where it follows on others, its pause after they had ended."""
    started_s: Floats
    """When the pass began that first read of its prompt."""
    first_token_s: Floats
    """When its first token was there."""
    finish_s: Floats
    """When its last token was there."""
    preemptions: Ints
    """How often it was put back."""
    replica: Ints
    """Where it ran; -1 where it was refused, as it alone is larger than the cache."""
    found: Ints
    """Tokens of its prompt that were found where it ran, when it was first taken in."""
    reloaded: Ints
    """Of these tokens, those that came back from host memory or an SSD."""
    evicted: Ints
    """Pages of blocks that gave way on the GPUs, a row a replica."""
    steps: tuple[Steps, ...]
    """Of each replica."""

    def some(self, which: Ints) -> "Served":
        """Those of the requests with these numbers, in order, on the same replicas."""
        return replace(
            self,
            arrival_s=self.arrival_s[which],
            started_s=self.started_s[which],
            first_token_s=self.first_token_s[which],
            finish_s=self.finish_s[which],
            preemptions=self.preemptions[which],
            replica=self.replica[which],
            found=self.found[which],
            reloaded=self.reloaded[which],
        )
