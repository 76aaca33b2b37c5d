"""The terms of the field, each with one meaning on every page."""

from typing import Final

TERMS: Final = {
    "acceptance": (
        "how likely the large model is to accept a token that the draft model proposes, given that it accepted "
        "those before."
    ),
    "active parameters": "the parameters that process a token: all of a dense model, the chosen experts of a mixture.",
    "batch": "the requests that one decode pass generates a token for. Not the batch of training, nor a batch API.",
    "cache tier": (
        "memory below the GPUs’ that keeps blocks of the KV cache: host memory, then SSD. A block is reloaded from it "
        "where that is quicker than to compute it."
    ),
    "cache write": "input tokens that an API stores in its cache; some charge more for them than for fresh input.",
    "cached input": "input tokens that an API reads from its cache, at a lower price. Also: cache read, cache hit.",
    "chunked prefill": "prompts processed in pieces alongside decodes, within the token budget of a pass.",
    "compaction": "an agent replaces a context that has grown too long by a summary of it.",
    "compute-bound": "limited by arithmetic, the operations per second; memory bandwidth is left over.",
    "concurrency": "the requests in flight at a time: those in the batch and those that wait.",
    "continuous batching": (
        "a slot of the batch is refilled as soon as its answer ends. Static batching waits until all have ended."
    ),
    "decode": "the phase that generates the answer, one token per request in each pass.",
    "dense peak": (
        "the most operations per second of matrix arithmetic without sparsity. Datasheets often print twice as "
        "much, with sparsity."
    ),
    "disaggregated serving": (
        "prefill and decode on workers of their own, x that prefill and y that decode (xPyD); the KV cache of each "
        "prompt is moved between them."
    ),
    "draft model": "the small model that proposes tokens for the large one to verify.",
    "expected": (
        "what an engine was measured to reach, by a fit to published measurements, with the band that is meant "
        "to hold four of five of them."
    ),
    "GB and GiB": "10^9 bytes and 2^30 bytes. Numbers are in GB; where a maker or an engine counts in GiB, it says so.",
    "head size": (
        "the size of one key, value or query. Stated by the config.json; not always the hidden size over the heads."
    ),
    "input token": "a token of the prompt.",
    "inter-token latency": "the time between two output tokens of one answer (ITL): one decode pass. Also: TPOT.",
    "KV cache": "the keys and values of the tokens of a request, kept so that they need not be computed again.",
    "limit": (
        "the theoretical best, at the datasheet’s full compute and bandwidth; unless a layout or an engine’s "
        "memory was chosen, with all of the memory, shared evenly over a free link. Real systems are slower."
    ),
    "link": "a scenario as an address: what differs from the baseline, and the version of its meaning, `v=2`.",
    "link between machines": (
        "what joins GPUs of several machines or racks, a network port per GPU: slower than the link within, such as "
        "NVLink."
    ),
    "memory read": (
        "what a pass reads from memory: all parameters except the input embedding once, and the cache of each request."
    ),
    "memory-bound": "limited by memory bandwidth; compute waits.",
    "output speed": "the output tokens per second of one request while its answer is generated.",
    "output token": "a token that the model generates, thinking included.",
    "p90": "the 90th percentile: nine of ten requests are within it. Likewise p50, the median, and p99.",
    "page": "the tokens by which the KV cache is handed out. Engines also call it a block.",
    "pass": (
        "one run of the network over the tokens at hand: the whole prompt in the prefill, the newest token of "
        "each request in the decode. It reads the parameters once."
    ),
    "preemption": "a running request gives way because the cache is full: its cache is recomputed later, or swapped.",
    "prefill": "the pass that processes the prompt and gives the first output token.",
    "prefix cache": "the KV cache of earlier prompts, reused by a prompt that starts with the same tokens.",
    "replica": "one copy of the model with a queue, a batch and a cache of its own.",
    "ridge": (
        "the arithmetic intensity, in operations per byte read, at which compute and memory read take equally long."
    ),
    "roofline": (
        "the attainable compute over the arithmetic intensity: a slope set by the memory bandwidth, then the flat peak."
    ),
    "scenario": "a model, an accelerator and a workload: everything that the numbers of a page follow from.",
    "session": "the requests of one agent or conversation, each of which continues the prompt of the one before.",
    "speculative decoding": "a draft model proposes tokens, and one pass of the large model verifies all of them.",
    "state": "what recurrent layers keep of a request, the same size for any length.",
    "stored": "what is in memory: all parameters, a tied table counted once. A pass reads less.",
    "system prompt": "the instructions at the start of every prompt of a feature; the part that caching saves most on.",
    "time to first token": (
        "the time from sending a request to its first output token (TTFT): queue, prefill, network and hidden "
        "reasoning."
    ),
}
"""Term -> what it means."""


def markdown() -> str:
    """The terms as paragraphs."""
    return "\n\n".join(f"**{term}** – {meaning}" for term, meaning in TERMS.items())
