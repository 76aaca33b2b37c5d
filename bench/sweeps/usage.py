"""Usages in the makers' own types, a thousand each, read here and billed: the same as by the maker's own definition.

Needs the makers' packages, each of which is left out where it is not there: openai, anthropic, google-genai, mistralai,
litellm, langchain-anthropic, groq, cohere, cerebras-cloud-sdk, openrouter, together, zai-sdk, perplexityai, xai-sdk,
botocore, pydantic-ai-slim. What is right is computed from the numbers that went into the types, by what their makers
say of them, and never by what is read.
"""

import contextlib
import importlib.metadata
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib import import_module
from typing import Any, Final, NamedTuple

from inferdash.facts.money.rates import Rates, entered
from inferdash.pricing.bills import replay
from inferdash.pricing.kept import Rules
from inferdash.pricing.logs.traces import Trace

SEED: Final = 20261130
EACH: Final = 1000
PRICES: Final = Rates(*map(Decimal, ("3", "15", "0.3", "3.75", "6")))
RULES: Final = Rules(minimum_tokens=1, increment_tokens=1, lifetime_s=300, renewed=True)


class Parts(NamedTuple):
    """What one request really took."""

    fresh: int
    read: int
    written: int
    hour: int
    answer: int
    thought: int

    @property
    def input(self) -> int:
        """All tokens of the prompt."""
        return self.fresh + self.read + self.written + self.hour

    @property
    def output(self) -> int:
        """All tokens of the answer."""
        return self.answer + self.thought

    def usd(self) -> Decimal:
        """What it costs."""
        of = PRICES.input, PRICES.read, PRICES.write, PRICES.write_long, PRICES.output, PRICES.output
        dollars = ((price or Decimal(0)) * tokens for price, tokens in zip(of, self, strict=True))
        return sum(dollars, Decimal(0)) / 1_000_000


Made = tuple[dict[str, Any], Parts]
"""A record as the maker writes it, and what it means."""


def parts(rng: random.Random, *, written: bool = False, hour: bool = False, cached: bool = True) -> Parts:
    """A request of any size; about a third of what may be 0 is."""

    def some(most: int, *, may: bool = True) -> int:
        return rng.randrange(1, most) if may and rng.random() < 0.67 else 0

    return Parts(
        fresh=rng.randrange(1, 90_000),
        read=some(200_000, may=cached),
        written=some(40_000, may=written),
        hour=some(40_000, may=hour),
        answer=rng.randrange(1, 8000),
        thought=some(20_000),
    )


def _dumped(model: Any, **how: Any) -> dict[str, Any]:
    return json.loads(model.model_dump_json(**how))  # type: ignore[no-any-return]  # a record is an object


def openai_chat(rng: random.Random) -> Made:
    """CompletionUsage: details are parts of the counts."""
    types = import_module("openai.types.completion_usage")

    is_new = rng.random() < 0.5
    one = parts(rng, written=is_new)
    usage = types.CompletionUsage(
        prompt_tokens=one.input,
        completion_tokens=one.output,
        total_tokens=one.input + one.output,
        prompt_tokens_details=types.PromptTokensDetails(
            cached_tokens=one.read, audio_tokens=0, cache_write_tokens=one.written if is_new else None
        ),
        completion_tokens_details=types.CompletionTokensDetails(
            reasoning_tokens=one.thought, audio_tokens=0, accepted_prediction_tokens=0, rejected_prediction_tokens=0
        ),
    )
    return {"id": f"chatcmpl-{rng.random()}", "usage": _dumped(usage, exclude_none=rng.random() < 0.5)}, one


def openai_responses(rng: random.Random) -> Made:
    """ResponseUsage: details are parts of the counts."""
    types = import_module("openai.types.responses.response_usage")

    one = parts(rng, written=True)
    usage = types.ResponseUsage(
        input_tokens=one.input,
        input_tokens_details=types.InputTokensDetails(cached_tokens=one.read, cache_write_tokens=one.written),
        output_tokens=one.output,
        output_tokens_details=types.OutputTokensDetails(reasoning_tokens=one.thought),
        total_tokens=one.input + one.output,
    )
    return {"response": {"usage": _dumped(usage, exclude_none=True)}}, one


def _anthropic_usage(one: Parts, rng: random.Random) -> Any:
    types = import_module("anthropic.types")

    with_thought = rng.random() < 0.5
    return types.Usage(
        input_tokens=one.fresh,
        cache_read_input_tokens=one.read,
        cache_creation_input_tokens=one.written + one.hour,
        cache_creation=types.CacheCreation(ephemeral_5m_input_tokens=one.written, ephemeral_1h_input_tokens=one.hour),
        output_tokens=one.output,
        output_tokens_details=types.OutputTokensDetails(thinking_tokens=one.thought) if with_thought else None,
        service_tier="standard",
    )


def anthropic(rng: random.Random) -> Made:
    """Usage: input_tokens leave out what was read and stored; output_tokens is all that is billed."""
    one = parts(rng, written=True, hour=True)
    return {"message": {"usage": _dumped(_anthropic_usage(one, rng), exclude_none=rng.random() < 0.5)}}, one


def google(rng: random.Random) -> Made:
    """GenerateContentResponseUsageMetadata: the prompt holds what is cached, thoughts are not among the candidates."""
    generate_content_response_usage_metadata = import_module("google.genai.types").GenerateContentResponseUsageMetadata

    one = parts(rng)
    tools = rng.randrange(1, 500) if rng.random() < 0.3 else 0
    usage = generate_content_response_usage_metadata(
        prompt_token_count=one.input,
        cached_content_token_count=one.read or None,
        candidates_token_count=one.answer,
        thoughts_token_count=one.thought or None,
        tool_use_prompt_token_count=tools or None,
        total_token_count=one.input + tools + one.output,
    )
    name = rng.choice(["usageMetadata", "usage_metadata"])
    dumped = _dumped(usage, exclude_none=True, by_alias=name == "usageMetadata")
    return {name: dumped}, one._replace(fresh=one.fresh + tools)


def mistral(rng: random.Random) -> Made:
    """UsageInfo: three counts."""
    usage_info = import_module("mistralai.client.models").UsageInfo

    one = parts(rng, cached=False)
    usage = usage_info(prompt_tokens=one.input, completion_tokens=one.output, total_tokens=one.input + one.output)
    return {"usage": _dumped(usage)}, one


def litellm(rng: random.Random) -> Made:
    """Usage as LiteLLM itself makes it of Anthropic's."""
    anthropic_config = import_module("litellm.llms.anthropic.chat.transformation").AnthropicConfig

    one = parts(rng, written=True, hour=True)
    raw = _dumped(_anthropic_usage(one, rng), exclude_none=True)
    usage = anthropic_config().calculate_usage(usage_object=raw, reasoning_content=None)
    return {"usage": _dumped(usage, exclude_none=rng.random() < 0.5)}, one


def langchain(rng: random.Random) -> Made:
    """UsageMetadata as LangChain itself makes it of Anthropic's."""
    create_usage_metadata = vars(import_module("langchain_anthropic.chat_models"))["_create_usage_metadata"]

    one = parts(rng, written=True, hour=True)
    return {"usage_metadata": dict(create_usage_metadata(_anthropic_usage(one, rng)))}, one


def langchain_openai(rng: random.Random) -> Made:
    """UsageMetadata as LangChain itself makes it of OpenAI's."""
    create_usage_metadata = vars(import_module("langchain_openai.chat_models.base"))["_create_usage_metadata"]

    record, one = openai_chat(rng)
    return {"usage_metadata": dict(create_usage_metadata(record["usage"]))}, one


def groq(rng: random.Random) -> Made:
    """CompletionUsage: as OpenAI's, with times; details only where there is something to tell."""
    types = import_module("groq.types.completion_usage")

    one = parts(rng)
    usage = types.CompletionUsage(
        prompt_tokens=one.input,
        completion_tokens=one.output,
        total_tokens=one.input + one.output,
        queue_time=0.01,
        prompt_time=0.1,
        completion_time=0.2,
        total_time=0.3,
        prompt_tokens_details=types.PromptTokensDetails(cached_tokens=one.read) if one.read else None,
        completion_tokens_details=types.CompletionTokensDetails(reasoning_tokens=one.thought) if one.thought else None,
    )
    return {"usage": _dumped(usage, exclude_none=True)}, one


def cohere(rng: random.Random) -> Made:
    """Usage: what is billed and what was processed are two counts."""
    types = import_module("cohere")

    one = parts(rng, cached=False)
    usage = types.Usage(
        billed_units=types.UsageBilledUnits(input_tokens=one.input, output_tokens=one.output),
        tokens=types.UsageTokens(input_tokens=one.input + 400, output_tokens=one.output + 7),
    )
    return {"usage": json.loads(usage.json())}, one


def cerebras(rng: random.Random) -> Made:
    """ChatCompletionResponseUsage: as OpenAI's."""
    types = import_module("cerebras.cloud.sdk.types.chat.chat_completion")

    one = parts(rng)
    usage = types.ChatCompletionResponseUsage(
        prompt_tokens=one.input,
        completion_tokens=one.output,
        total_tokens=one.input + one.output,
        prompt_tokens_details=types.ChatCompletionResponseUsagePromptTokensDetails(cached_tokens=one.read),
        completion_tokens_details=types.ChatCompletionResponseUsageCompletionTokensDetails(
            accepted_prediction_tokens=0, rejected_prediction_tokens=0, reasoning_tokens=one.thought
        ),
    )
    return {"usage": _dumped(usage, exclude_none=True)}, one


def openrouter(rng: random.Random) -> Made:
    """ChatUsage: as OpenAI's, with what was stored and the cost."""
    types = import_module("openrouter.components.chatusage")

    one = parts(rng, written=True)
    usage = types.ChatUsage(
        prompt_tokens=one.input,
        completion_tokens=one.output,
        total_tokens=one.input + one.output,
        prompt_tokens_details=types.ChatUsagePromptTokensDetails(
            cached_tokens=one.read, cache_write_tokens=one.written, audio_tokens=0, video_tokens=0
        ),
        completion_tokens_details=types.ChatUsageCompletionTokensDetails(reasoning_tokens=one.thought),
        cost=0.01,
        is_byok=False,
    )
    return {"usage": _dumped(usage)}, one


def together(rng: random.Random) -> Made:
    """ChatCompletionUsage: three counts."""
    chat_completion_usage = import_module("together.types.chat").ChatCompletionUsage

    one = parts(rng, cached=False)
    usage = chat_completion_usage(
        prompt_tokens=one.input, completion_tokens=one.output, total_tokens=one.input + one.output
    )
    return {"usage": _dumped(usage)}, one


def zai(rng: random.Random) -> Made:
    """CompletionUsage: as OpenAI's."""
    types = import_module("zai.types.chat.chat_completion")

    one = parts(rng)
    usage = types.CompletionUsage(
        prompt_tokens=one.input,
        completion_tokens=one.output,
        total_tokens=one.input + one.output,
        prompt_tokens_details=types.PromptTokensDetails(cached_tokens=one.read),
    )
    return {"usage": _dumped(usage, exclude_none=True)}, one


def xai(rng: random.Random) -> Made:
    """SamplingUsage: reasoning is not among the completion tokens."""
    message_to_dict = import_module("google.protobuf.json_format").MessageToDict
    usage_pb2 = import_module("xai_sdk.proto").usage_pb2

    one = parts(rng)
    usage = usage_pb2.SamplingUsage(
        prompt_tokens=one.input,
        completion_tokens=one.answer,
        reasoning_tokens=one.thought,
        total_tokens=one.input + one.output,
        prompt_text_tokens=one.input,
        cached_prompt_text_tokens=one.read,
    )
    snake = rng.random() < 0.5
    return {
        "usage": message_to_dict(usage, preserving_proto_field_name=snake, always_print_fields_with_no_presence=True)
    }, one


def bedrock(rng: random.Random) -> Made:
    """TokenUsage of Converse, by the names of its shape: the three counts of the input are disjoint."""
    session = import_module("botocore.session").Session

    shape = session().get_service_model("bedrock-runtime").shape_for("TokenUsage")
    one = parts(rng, written=True, hour=True)
    details = [{"ttl": ttl, "inputTokens": tokens} for ttl, tokens in (("1h", one.hour), ("5m", one.written)) if tokens]
    usage = {
        "inputTokens": one.fresh,
        "outputTokens": one.output,
        "totalTokens": one.input + one.output,
        "cacheReadInputTokens": one.read,
        "cacheWriteInputTokens": one.written + one.hour,
        "cacheDetails": details,
    }
    if usage.keys() != shape.members.keys():
        raise LookupError(f"TokenUsage has {', '.join(shape.members)}")
    return {"output": {"message": {}}, "usage": usage}, one


def pydantic_ai(rng: random.Random) -> Made:
    """RequestUsage: all counts of a cache are parts of the input."""
    request_usage = import_module("pydantic_ai.usage").RequestUsage

    one = parts(rng, written=True, hour=True)
    usage = request_usage(
        input_tokens=one.input,
        cache_read_tokens=one.read,
        cache_write_tokens=one.written + one.hour,
        cache_write_1h_tokens=one.hour,
        output_tokens=one.output,
    )
    type_adapter = import_module("pydantic").TypeAdapter

    return {"usage": json.loads(type_adapter(request_usage).dump_json(usage))}, one


def perplexity(rng: random.Random) -> Made:
    """UsageInfo of Sonar, which has no cache; searches are billed beside its tokens."""
    types = import_module("perplexity.types.shared.usage_info")

    one = parts(rng, cached=False)._replace(thought=0)
    usage = types.UsageInfo(
        prompt_tokens=one.input,
        completion_tokens=one.output,
        total_tokens=one.input + one.output,
        num_search_queries=rng.choice([None, 1, 3]),
        search_context_size=rng.choice(["low", "medium", "high"]),
        cost=types.Cost(input_tokens_cost=0.001, output_tokens_cost=0.002, request_cost=0.005, total_cost=0.008),
    )
    return {"id": "1", "model": "sonar", "usage": _dumped(usage)}, one


MAKERS: Final[dict[str, tuple[str, Callable[[random.Random], Made]]]] = {
    "OpenAI chat": ("openai", openai_chat),
    "OpenAI responses": ("openai", openai_responses),
    "Anthropic": ("anthropic", anthropic),
    "Google": ("google-genai", google),
    "Mistral": ("mistralai", mistral),
    "LiteLLM": ("litellm", litellm),
    "LangChain of Anthropic": ("langchain-anthropic", langchain),
    "LangChain of OpenAI": ("langchain-openai", langchain_openai),
    "Groq": ("groq", groq),
    "Cohere": ("cohere", cohere),
    "Cerebras": ("cerebras-cloud-sdk", cerebras),
    "OpenRouter": ("openrouter", openrouter),
    "Together": ("together", together),
    "Z.ai": ("zai-sdk", zai),
    "xAI": ("xai-sdk", xai),
    "Bedrock": ("botocore", bedrock),
    "Pydantic AI": ("pydantic-ai-slim", pydantic_ai),
    "Perplexity": ("perplexityai", perplexity),
}
"""Name -> the package whose types are used, and what makes a record."""


def outcome(record: dict[str, Any], right: Parts) -> str:
    """What came of a record: right, refused, or wrong with what was read."""
    trace = Trace(io.BytesIO(json.dumps(record).encode()))
    result = replay(trace.requests(), RULES, entered(PRICES))
    if trace.left_out:
        return f"refused: {trace.problems[0]}"
    counted = (result.requests, result.cost_usd, result.tokens.input, result.output_tokens)
    if counted == (1, right.usd(), right.input, right.output):
        return "right"
    return f"wrong: {json.dumps(record)} is {right}, read as {result.tokens}"


def run(maker: Callable[[random.Random], Made], count: int, seed: int) -> Iterator[str]:
    """What came of many records of one maker."""
    rng = random.Random(seed)  # noqa: S311 - the same seed gives the same usages
    for _ in range(count):
        yield outcome(*maker(rng))


def main() -> None:
    """Prints, by maker, how many usages were read right, refused and read wrong."""
    print(f"seed {SEED}, {EACH:,} usages each")
    for name, (package, maker) in MAKERS.items():
        try:
            version = importlib.metadata.version(package)
            with contextlib.redirect_stderr(io.StringIO()):
                maker(random.Random(0))  # noqa: S311 - only whether it can be made
        except ImportError as error:
            print(f"{name:<24} left out: {error}")
            continue
        said = Counter(run(maker, EACH, SEED))
        right = said.pop("right", 0)
        wrong = [one for one in said if one.startswith("wrong")]
        refused = sum(count for one, count in said.items() if one.startswith("refused"))
        print(f"{name:<24} {package} {version}: right {right:,}, refused {refused:,}, wrong {len(wrong):,}")
        for one in [*wrong[:1], *(one for one in said if one.startswith("refused"))][:2]:
            print(f"    {one[:400]}")


if __name__ == "__main__":
    main()
