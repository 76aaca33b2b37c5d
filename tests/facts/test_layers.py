"""The example of docs/adding-a-layer.md: a kind of layer from its configuration to the pages."""

from inferdash.facts.models import huggingface
from inferdash.layers.short_conv import ShortConvolution
from inferdash.physics.capacity import kv_cache
from inferdash.physics.capacity.parameters import parameters

ATTENTION = {2, 5, 8, 10, 12, 14}
LFM2 = {
    "model_type": "lfm2",
    "vocab_size": 65_536,
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 12_288,
    "block_auto_adjust_ff_dim": True,
    "block_ffn_dim_multiplier": 1.0,
    "block_multiple_of": 256,
    "conv_L_cache": 3,
    "conv_bias": False,
    "layer_types": ["full_attention" if layer in ATTENTION else "conv" for layer in range(16)],
}
"""LFM2-1.2B, as its file has it."""


def test_lfm2_is_counted_from_its_configuration() -> None:
    """1,170,340,608 parameters by its card; a kind that none of the presets has."""
    found = huggingface.read(LFM2)
    assert parameters(found.architecture).stored_total == 1_170_340_608
    assert found.problems == ()
    mixers = {type(blocks.attention): blocks.count for blocks in found.architecture.blocks}
    assert mixers[ShortConvolution] == 10


def test_lfm2_ties_its_tables_by_an_older_name() -> None:
    """LFM2-8B-A1B: 8.3 billion parameters, 1.5 active, by its card; its file says `tie_embedding`."""
    experts = {"model_type": "lfm2_moe", "num_hidden_layers": 24, "intermediate_size": 7168, "tie_embedding": True}
    experts |= {"moe_intermediate_size": 1792, "num_dense_layers": 2, "num_experts": 32, "num_experts_per_tok": 4}
    attention = {2, 6, 10, 14, 18, 21}
    kinds = ["full_attention" if layer in attention else "conv" for layer in range(24)]
    file = {name: value for name, value in LFM2.items() if not name.startswith("block_")}
    found = parameters(huggingface.read(file | experts | {"layer_types": kinds}).architecture)
    assert round(float(found.stored_total) / 1e9, 1) == 8.3
    assert round(float(found.active_total) / 1e9, 1) in {1.5, 1.6}


def test_k21_lfm2_keeps_a_cache_in_its_attention_only() -> None:
    """gguf-parser-go#31 gives 0 at every context; right is 6 * 2 * 8 * 64 * 2 * 32,768 bytes = 384 MiB."""
    model = huggingface.read(LFM2).architecture
    assert kv_cache.text_cache_bytes(model, tokens=32_768, bytes_per_number=2) == 384 * 2**20
    assert kv_cache.request_state_bytes(model) == 10 * 2048 * 2 * 4
    assert kv_cache.request_state_bytes(model, reserved=True) == 10 * 2048 * 3 * 4


def test_an_operation_count_that_grows_with_the_positions_alone() -> None:
    layer = ShortConvolution(channels=2048, kernel=3)
    assert layer.flops(positions=10, past=0) == layer.flops(positions=10, past=1_000_000) == 8 * 2048 * 10
