"""The time of one request: until its first token, and until its last."""

from inferdash.formula import Number, formula


@formula(unit="s", ref="reading-and-writing")
def time_to_first_token_s(*, queue_s: Number, prefill_s: Number, network_s: Number, reasoning_s: Number) -> Number:
    """Seconds from sending a request to receiving the first token of its answer.

    The sum of the wait for a GPU, the prefill, the way of request and token over the network, and the tokens that
    a reasoning model writes before its answer where the API hides them.
    """
    return queue_s + prefill_s + network_s + reasoning_s


@formula(unit="s", ref="reading-and-writing")
def written_s(*, passes: Number, mean_pass_s: Number) -> Number:
    """Seconds of a number of decode passes, each as long as the one in the middle of them.

    Exact while the same of loading and arithmetic is the longer one, since the cache grows by one token a pass.
    """
    return passes * mean_pass_s


@formula(unit="tokens", ref="kv-cache")
def mean_past(*, before: Number, passes: Number) -> Number:
    """Tokens in the cache at the middle one of a number of decode passes that start after `before` tokens."""
    return before + (passes - 1) / 2


@formula(unit="tokens/s", ref="reading-and-writing")
def output_tok_per_s(*, pass_s: Number) -> Number:
    """Output speed of one request: it gets one token in each decode pass."""
    return 1 / pass_s


@formula(unit="s/token", ref="batching")
def per_token_s(*, pass_s: Number, tokens: Number) -> Number:
    """Seconds of the accelerators for each token that a pass reads or writes."""
    return pass_s / tokens


@formula(unit="times", ref="reading-and-writing")
def written_to_prompt_ratio(*, written_token_s: Number, prompt_token_s: Number) -> Number:
    """How many times as long a written token takes as a token of the prompt."""
    return written_token_s / prompt_token_s


@formula(unit="%", ref="reading-and-writing")
def attention_share(*, attention_flops: Number, matrix_flops: Number) -> Number:
    """What attention adds to the operations with the parameters, as a share of them."""
    return attention_flops / matrix_flops
