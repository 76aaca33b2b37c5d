"""What agents and caches below the GPUs add to a scenario that is served: their sessions, and where blocks stay."""

from typing import Annotated, Final

from pydantic import Field

from inferdash.scenario.disaggregating import Disaggregating
from inferdash.scenario.marks import TOKENS, Choices, Place
from inferdash.validated import Quantity

SESSIONS: Final = "sessions"
"""Id in links of the pattern in which requests come as the turns of sessions."""
WRITES: Final = {"through": "After each request", "back": "When evicted"}
"""Id in links -> when a block is written to host memory."""


def _sessions(scenario: "Agents") -> bool:
    return bool(getattr(scenario, "pattern", "") == SESSIONS)


def _helped(scenario: "Agents") -> bool:
    return _sessions(scenario) and scenario.subagents > 0


def _ssd(scenario: "Agents") -> bool:
    return scenario.ssd > 0


def _tiered(scenario: "Agents") -> bool:
    return scenario.host_memory > 0 or scenario.ssd > 0


class Agents(Disaggregating):
    """The fields of agent sessions, and of the memory below the GPUs that keeps their caches."""

    live_sessions: Annotated[int, Place("page", _sessions)] = Field(8, title="Live sessions", ge=1, le=100_000)
    """Agents at work at a time, over all replicas. When a session ends, the next one starts."""
    session_turns: Annotated[int, Place("page", _sessions)] = Field(50, title="Requests per session", ge=2, le=5000)
    """Model calls of a session, each with the whole context so far as its prompt."""
    session_start: Annotated[int, Place("page", _sessions)] = Field(
        20_000, title="First context, tokens", ge=1, le=TOKENS
    )
    """Tools, system prompt and task: the prompt of the first request."""
    session_shared: Annotated[int, Place("page", _sessions)] = Field(
        12_000, title="Shared by all sessions, tokens", ge=0, le=TOKENS
    )
    """Tools and system prompt at the start of every context, the same in all sessions."""
    session_growth: Annotated[int, Place("page", _sessions)] = Field(
        1000, title="Growth per request, tokens", ge=0, le=TOKENS
    )
    """What each request adds to the context: its answer, and what a tool or a person says to it."""
    tool_pause: Annotated[float, Quantity("s"), Place("page", _sessions)] = Field(
        9.0, title="Tool pause", ge=0, le=86_400
    )
    """Median time from an answer to the next request while a tool runs, such as 9 s."""
    person_every: Annotated[int, Place("page", _sessions)] = Field(10, title="Requests per user message", ge=1, le=5000)
    """A person reads and writes once in so many requests; between the others a tool runs."""
    person_pause: Annotated[float, Quantity("s"), Place("page", _sessions)] = Field(
        133.0, title="User pause", ge=0, le=86_400
    )
    """Median time from an answer to what a person says to it, such as 2 min."""
    compact_at: Annotated[int, Place("page", _sessions)] = Field(
        150_000, title="Compaction above, tokens", ge=0, le=TOKENS
    )
    """Context above which a summary takes its place: it falls back to the size of the first context; 0: never."""
    subagents: Annotated[int, Place("page", _sessions)] = Field(0, title="Sub-agents per session", ge=0, le=64)
    """Started together halfway through a session, which waits for all of them."""
    subagent_turns: Annotated[int, Place("page", _helped)] = Field(10, title="Requests per sub-agent", ge=1, le=1000)
    """Model calls of a sub-agent, whose context starts at the same size and grows alike."""

    host_memory: Annotated[float, Quantity("B"), Place("page")] = Field(
        0.0, title="Host memory for the KV cache", ge=0, le=1e15
    )
    """Of each replica, such as 500 GB: evicted blocks of prompts stay there, and are reloaded where that is quicker."""
    ssd: Annotated[float, Quantity("B"), Place("page")] = Field(0.0, title="SSD for the KV cache", ge=0, le=1e17)
    """Of each replica, such as 4 TB: takes what host memory has no room for."""
    ssd_bandwidth: Annotated[float, Quantity("B/s"), Place("page", _ssd)] = Field(
        7e9, title="SSD bandwidth", ge=1e6, le=1e15
    )
    """Reading, all drives of a replica together: 7 GB/s is one PCIe 4.0 drive."""
    write_policy: Annotated[str, Choices("write policy", lambda: WRITES), Place("page", _tiered)] = Field(
        "through", title="Blocks are written out"
    )
    """After each request (write-through), or only when the GPUs have no more room for them (write-back)."""
