"""Fields of a file that no kind of layer has read: what they could change decides whether they are passed over.

A name that speaks of sizes, layers, heads, experts, tables or the cache could change the cache or a whole matrix, so
the file is refused. One that does not can change small vectors at most, and is told.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from inferdash.layers.config import Config, UnreadFieldError

_PASSED_OVER: Final = re.compile(
    r"""
      _?(name_or_path|commit_hash|attn_implementation\w*|experts_implementation\w*|diffusers_version)
    | architectures | auto_map | model_type | dtype | torch_dtype | transformers_version | custom_pipelines?
    | \w*token(_id|_index|_ids)? | \w*_token_(id|index)s? | \w*_idx | \w*_ids? | id2label | label2id | num_labels
    | problem_type | finetuning_task | task_specific_params | tokenizer_class | language | license | prefix
    | summary_\w+ | pruned_heads | return_dict | output_(hidden_states|attentions|scores|past|router_logits)
    | return_dict_in_generate | is_decoder | is_encoder_decoder | add_cross_attention | torchscript | use_bfloat16
    | tf_legacy_loss | tie_encoder_decoder | use_cache\w* | pretraining_tp | gradient_checkpointing\w*
    | use_return_dict
    | (min|max)_length | max_new_tokens | model_max_length | max_(seq|sequence)_len\w* | seq_length | seq_len
    | max_position_embeddings | n_positions | n_ctx | initial_context_length | original_max_position_embeddings
    | max_position_embedding | training_seqlen | max_model_length | min_position_embeddings
    | temperature | top_[kp] | num_beams | do_sample | repetition_penalty | length_penalty | \w*penalty
    | diversity_\w+
    | num_return_sequences | early_stopping | num_beam_groups | no_repeat_ngram_size | \w*no_repeat_ngram_size
    | remove_invalid_values | bad_words_ids | begin_suppress_tokens | suppress_tokens | chunk_size_feed_forward
    | typical_p | exponential_decay_length_penalty | forced_\w+ | encoder_no_repeat_ngram_size
    | \w*(dropout|_drop|pdrop)\w* | \w*init(ializer)?_?(range|std|method\w*|scale|device|config|cutoff\w*)? | init_\w+
    | \w*_?eps(ilon)? | \w*(loss|aux|coeff?|jitter|noise)\w* | \w*theta\w* | \w*rope\w* | \w*rotary\w* | alibi\w*
    | \w*(softcap|logit|logits)\w* | \w*(scale|scaling|multiplier|multipliers|beta|alpha|temperature|clip|clamp)\w*
    | clip_qkv | swiglu_limit | activation\w* | hidden_act | hidden_activation | \w*_act(ivation)?(_fn|_func)?
    | \w*act_fn
    | position_embedding_type | position_embedding | use_dynamic_ntk | use_logn_attn | use_dynamic_\w+
    | query_pre_attn_scalar | attn_scale | floor_scale | norm_type | layernorm_type | rmsnorm | apply_layernorm\w*
    | norm_topk_prob | norm_expert_weight | norm_min | norm_max_\w+ | moe_norm_min | \w*topk_(group|method|scaling\w*)
    | topk_method | topk_group | n_group | num_expert_groups? | n_groups_moe | \w*scoring_func\w*
    | scoring_func | score_function | expert_selection_fn | moe_router_\w+ | router_\w+ | moe_(layer_)?use_\w+
    | ep_size | \w*parallel(ism)?_size | use_flash\w* | \w*flash_attn\w* | use_mamba_kernels | \w*kernels?
    | fused?_\w+
    | (use_)?fused?\w* | bf16 | fp16 | fp32 | \w*_in_fp32 | \w*fp32\w* | \w*dtype | residual_in_fp32 | save_\w+
    | softmax_\w+ | attention_softmax_in_fp32 | scale_attn\w* | scale_attention_\w+ | reorder_\w+ | upcast_\w+
    | mamba_(chunk_size|hidden_act|ssm\w*dtype\w*) | chunk_size | time_step_(floor|limit|max|min) | mamba_dt_\w+
    | linear_(a_log_max|dt_\w+) | hc_(eps|sinkhorn_iters) | \w*sinkhorn_iters | index_skip_topk_offset
    | index_block_size | index_topk_(blocks|freq) | num_hash_layers | no_rope_layers? | no_rope_layer_interval
    | \w*nope_layers? | use_bidirectional_attention | _sliding_window_pattern | sliding_window_pattern
    | global_attn_every_n_layers | max_window_layers | activation_sparsity_pattern | altup_\w+ | laurel_\w+
    | num_logits_to_keep | logits_to_keep | keys_to_ignore_at_inference | rescale_\w+ | block_auto_adjust_ff_dim
    | qk_head_dim | kv_head_dim | attn_(res_block_size|implementation) | classifier_\w+ | use_pos_enc | embd_layer
    | img_processor | image_\w+ | vision_\w+ | audio_\w+ | video_\w+ | img_\w+ | mm_\w+ | visual\w* | projector_\w+
    | \w*(spatial|temporal)\w* | downsample_\w+ | select_layer | template | ps_version | force_image_size
    | min_dynamic_patch | max_dynamic_patch | use_thumbnail | pad2square | boi_\w+ | eoi_\w+ | tile_tag
    | candidate_resolutions | global_view_pos | lm_head | rm_head | dim_model_base | mup_\w+ | use_mup | unk_\w+
    | onnx_safe | tokenizer_\w+ | verbose | logit_scale | emb_pdrop | no_bias | interleaved? | \w*interleaved?\w*
    | quantization\w* | compression_config | stored_formats | kv_cache_dtype | expert_dtype | use_cache_\w+
    | moe_layer_(end|start)_index | output_gate_type | original_\w+ | rope_ratio | training_\w+ | inference_\w+
    | quantize_\w+ | \w*prenorm\w* | use_rmsnorm | freeze_\w+ | ignore_index | use_rms_norm | zero_expert_type
    | attention_method | mla_use_nope | mla_scale_\w+ | unsloth_\w+ | converted_\w+ | base_model\w* | seed | \w*_seed
    | attention_probs_\w+ | layer_norm_epsilon | normalization_layer_name | num_gqa_groups | qkv_multipliers
    | final_w_\w+ | mlp_only_layers | \w*_warmup\w* | sep_token\w*
    | use_rope | norm_before_gate | norm_after | use_expert_bias | topk_prob | num_mtp_modules | mtp_\w+
    | use_(grouped_topk|routing_bias|mtp|gemma_norm|nope|expert_bias) | num_(nextn_predict|mtp)_\w* | lm_head_bias
    | partial_\w+ | attention_value_scale | use_head_wise_attn_gate
    | enc_index | enable_expert_tensor_parallelism | moe_(eval|train|min)_capacity\w* | moe_token_dropping
    | parallel_attn_mlp_res | max_attn_value | dense_list | mask_init_id | class_num | pool_type
    | add_classification_head | org_vocab_size | moe_drop_tokens | moe_random_routing_dropped_token | shared_moe_mode
    | postnorm | _from_model_config | post_layer_norm | output_projection | pad_key_length | validate_runner_input
    | position_embedding_xdrope | multi_query_attention | apply_residual_connection_\w+ | bias_dropout_fusion
    """,
    re.VERBOSE,
)
"""Fields that change neither parameters nor cache."""
_COULD_CHANGE: Final = re.compile(
    r"layer|head|dim|size|rank|width|hidden|expert|moe|ffn|mlp|_kv|kv_|cache|attn|attention|window|pattern|block|group"
    r"|share|ratio|interval|every|period|freq|mamba|ssm|conv|lora|latent|linear|recurr|loop|depth|gate|embed|table"
    r"|vocab|memory|state|cross|encoder|decoder|mult|factor|stack|chunk|compress|sparse|index|engram|hyper|hc_|cycle|gat"
    r"|residual|split|merge|tower|n_|num_|query|topk|top_k|ngram"
)
"""Words of names that could speak of a whole matrix or of the cache."""
_SUPERSEDED: Final = re.compile(
    r"head_dim|num_(key_value|attention|kv)_heads|n_head(_kv)?|mamba_expand|expand|use_parallel_residual|parallel_attn"
    r"|conv_L_cache|conv_kernel|(dense_)?intermediate_size(_mlp)?|sliding_window(_size)?|use_sliding_window|block_size"
    r"|time_step_rank|attention_chunk_size|full_attention_interval|full_attn_idxs|layer_types|num_layers|n_layer"
    r"|hybrid_override_pattern|layers_block_type|first_k_dense_replace|decoder_sparse_step|moe_(layer_freq|layer_interval)"
    r"|num_local_experts|num_experts|n_routed_experts|num_experts_per_tok(en)?|experts_per_token|moe_topk|moe_top_k"
    r"|n_shared_experts|num_shared_experts?|shared_intermediate_size|shared_expert_intermediate_size|index_\w+"
    r"|linear_(num|key|value|conv)\w+|qk_(nope|rope)_head_dim|v_head_dim|[qkv]+_lora_rank|mamba_\w+|ssm_state_size"
    r"|n_groups|use_mla|use_cla|cla_share_factor|num_attention_groups|use_attention_gate|moe_intermediate_size"
    r"|moe_renormalize|moe_shared_expert_overlap|linear_allow_neg_eigval|use_mixed_mlp_moe|ffn_with_glu|ffn_dim_divisor"
    r"|qk_nope_head_dim|moe_layers_enum|num_dense_layers|share_(expert|q)_dims?|multi_query\w*|use_conv_bias|use_bias"
)
"""Fields that some kind of layer reads; where none did, another field said it, or the family has no such layers."""
_SMALL: Final = re.compile(r"(?!.*(rank|dim|size|layer_norm_before))\w*(bias|norm)\w*")
"""Names of biases and norms alone, which are small vectors whatever else they speak of."""
_GROUPS: Final = ("text_config", "llm_config", "language_config", "thinker_config")


def _says_something(value: Any) -> bool:
    """Whether a value is more than the absence of what it names."""
    return (
        value is not None and value is not False and value not in (0, 0.0, "", "none", "None") and value not in ([], {})
    )


def told(config: Config) -> list[str]:
    """What is told of fields that were not read; refuses the file where one could change more than small vectors.

    Raises:
        UnreadFieldError: where a field could change the cache or a whole matrix.
    """
    small = []
    for name, value in config.fields.items():
        if name in config.used or not _says_something(value) or not isinstance(name, str):
            continue
        if _PASSED_OVER.fullmatch(name) or _SUPERSEDED.fullmatch(name) or name in _GROUPS or name in config.looked_at:
            continue
        if value is True and _SMALL.fullmatch(name):
            small.append(f"{name[:60]} is not known here; by its name it changes small vectors at most.")
            continue
        if isinstance(value, Mapping | list) or _COULD_CHANGE.search(name):
            raise UnreadFieldError(
                name[:60], "is not known here, and could change the cache or a whole matrix, so the file is not read"
            )
        small.append(f"{name[:60]} is not known here; by its name it changes small vectors at most.")
    return small
