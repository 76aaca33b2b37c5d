"""Where the formulas come from: a key, a title, and a link where there is one."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Reference:
    """A section of the chapter, or a paper."""

    title: str
    link: str | None = None


CHAPTER: Final = "Inference, the textbook chapter that the pages follow"

REFERENCES: Final[dict[str, Reference]] = {
    "reading-and-writing": Reference("Chapter “Inference”, section 10.1, Reading and writing"),
    "kv-cache": Reference("Chapter “Inference”, section 10.2, The KV cache"),
    "batching": Reference("Chapter “Inference”, section 10.4, Batching"),
    "quantization": Reference("Chapter “Inference”, section 10.5, Quantization"),
    "experts": Reference("Chapter “Inference”, section 10.6, Mixture of experts"),
    "prompt-caching": Reference("Chapter “Inference”, section 10.3, Prompt caching"),
    "agent-loops": Reference("How APIs bill the calls of an agent: each sends all that came before it"),
    "retries": Reference("Independent attempts until one is accepted: the geometric distribution"),
    "capital-recovery": Reference("Capital recovery: equal payments that are worth a price at a rate of interest"),
    "power-of-use": Reference("Barroso and Hölzle: The case for energy-proportional computing (2007)"),
    "paged-attention": Reference(
        "Kwon and others: Efficient memory management for large language model serving with PagedAttention (2023)",
        "https://arxiv.org/abs/2309.06180",
    ),
    "latent-attention": Reference("DeepSeek-AI: DeepSeek-V2 (2024)", "https://arxiv.org/abs/2405.04434"),
    "sliding-window": Reference("Jiang and others: Mistral 7B (2023)", "https://arxiv.org/abs/2310.06825"),
    "tensor-parallelism": Reference("Shoeybi and others: Megatron-LM (2019)", "https://arxiv.org/abs/1909.08053"),
    "pipeline-parallelism": Reference(
        "Narayanan and others: Efficient large-scale language model training on GPU clusters (2021)",
        "https://arxiv.org/abs/2104.04473",
    ),
    "expert-parallelism": Reference("Lepikhin and others: GShard (2020)", "https://arxiv.org/abs/2006.16668"),
    "disaggregation": Reference(
        "Zhong and others: DistServe, disaggregating prefill and decoding (2024)", "https://arxiv.org/abs/2401.09670"
    ),
    "rate-matching": Reference("NVIDIA: Disaggregated serving in TensorRT-LLM, tech blog 5 (2025)"),
    "engine-memory": Reference("vLLM, memory as it is logged at the start"),
    "sparse-attention": Reference("DeepSeek-AI: DeepSeek-V3.2, sparse attention (2025)"),
    "compressed-attention": Reference("DeepSeek-AI: DeepSeek-V4, compressed sparse attention (2026)"),
    "hyper-connections": Reference("Zhu and others: Hyper-connections (2024)", "https://arxiv.org/abs/2409.19606"),
    "alternating-updates": Reference(
        "Baykal and others: Alternating updates for efficient transformers (2023)", "https://arxiv.org/abs/2301.13310"
    ),
    "per-layer-embeddings": Reference("Google: Gemma 3n, per-layer embeddings (2025)"),
    "linear-attention": Reference(
        "Yang, Kautz, Hatamizadeh: Gated delta networks (2024)", "https://arxiv.org/abs/2412.06464"
    ),
    "queues": Reference("Kleinrock: Queueing systems, volume 1, theory (1975)"),
    "many-places": Reference(
        "Halfin and Whitt: Heavy-traffic limits for queues with many exponential servers (1981)",
        "https://doi.org/10.1287/opre.29.3.567",
    ),
    "measured": Reference("Fit to 2,300 of 3,380 published measurements, presets/measured/"),
    "measured-energy": Reference(
        "Fit to 446 measured energies of the ML.ENERGY benchmark, presets/measured/energy.csv"
    ),
    "roofline": Reference(
        "Williams, Waterman, Patterson: Roofline, an insightful visual performance model (2009)",
        "https://doi.org/10.1145/1498765.1498785",
    ),
    "attention": Reference("Vaswani and others: Attention is all you need (2017)", "https://arxiv.org/abs/1706.03762"),
    "grouped-query-attention": Reference(
        "Ainslie and others: GQA, training generalized multi-query transformer models (2023)",
        "https://arxiv.org/abs/2305.13245",
    ),
    "gated-feed-forward": Reference(
        "Shazeer: GLU variants improve transformer (2020)", "https://arxiv.org/abs/2002.05202"
    ),
    "cache-tiers": Reference("vLLM and SGLang: KV cache offloading to host memory and storage, as documented in 2026"),
    "agent-sessions": Reference("Sessions as in the traces of coding assistants: each prompt continues the one before"),
    "low-rank-adapters": Reference(
        "Hu and others: LoRA: Low-rank adaptation of large language models (2021)", "https://arxiv.org/abs/2106.09685"
    ),
    "speculative-decoding": Reference(
        "Leviathan, Kalman, Matias: Fast inference from transformers via speculative decoding (2022)",
        "https://arxiv.org/abs/2211.17192",
    ),
}
"""Key -> reference. A formula names its key; a test holds that the key is here."""
