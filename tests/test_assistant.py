"""An assistant by the official client, on three jobs of the dashboard's readers."""

import asyncio
import json
import sys
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.testclient import TestClient

import inferdash
from inferdash.assistant import server
from inferdash.ui.hosting import server as ui_server
from inferdash.ui.hosting.server import ROUTES

NAMES = {
    *("numbers", "working", "change", "compare", "price_feature", "plan", "fields", "models", "accelerators"),
}


def asked(*calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """What the tools answer, called one after another."""

    async def answers() -> list[Any]:
        async with Client(server) as client:
            return [read(await client.call_tool(name, given)) for name, given in calls]

    return asyncio.run(answers())


def read(answer: Any) -> Any:
    return json.loads(answer.content[0].text) if not answer.is_error else answer.content[0].text


def number(page: dict[str, Any], name: str) -> Any:
    return next(one["value"] for one in page["numbers"] if one["name"] == name)


def test_a_feature_is_priced() -> None:
    """A ticket of 1,500 + 3,000 tokens in and 250 out at $2 and $10 a million: $0.0115 each without a cache."""
    fields = {"users": 200_000, "turns": 1, "system_tokens": 1500, "question": 3000, "answer": 250}
    rest = {"input_usd": 2, "output_usd": 10, "tools_tokens": 0, "user_tokens": 0, "documents_tokens": 0}
    (changed,) = asked(("change", {"link": "?v=1", "changes": fields | rest}))
    assert changed["problems"] == []
    (page,) = asked(("numbers", {"link": changed["link"], "page": "feature_cost"}))
    feature = inferdash.report(changed["link"]).feature_cost
    assert page["link"] == changed["link"]
    assert number(page, "month_usd") == feature.month_usd
    tickets = number(page, "tokens.output") / 250
    assert number(page, "month_without_cache_usd") == pytest.approx(tickets * 0.0115)


def test_a_feature_is_priced_and_planned_in_one_call_each() -> None:
    fields = {"users": 200_000, "turns": 1, "input_usd": 2, "output_usd": 10}
    changes = {"model": "gpt-oss-120b", "load_as": "requests", "load": 20, "prompt": 2000, "answer": 400}
    feature, plan, refused = asked(
        ("price_feature", {"changes": fields}),
        ("plan", {"changes": changes}),
        ("plan", {"changes": {"lode": 20}}),
    )
    assert feature["page"] == "feature_cost"
    assert number(feature, "month_usd") == inferdash.report(feature["link"]).feature_cost.month_usd
    assert feature["formulas"]
    assert "gpt-oss-120b" in plan["start"][0]["command"]
    assert plan["formulas"]
    assert "did you mean load?" in refused


def test_before_and_after_quantization() -> None:
    before = "?model=qwen3-32b&batch=16&v=1"
    (after,) = asked(("change", {"link": before, "changes": {"weights": "fp8"}}))
    (said,) = asked(("compare", {"first": before, "second": after["link"]}))
    assert said["fields"] == {"weights": ["bf16", "fp8"]}
    ratios = {row["name"]: row["ratio"] for row in said["numbers"]["compute_vs_memory"]}
    assert 0.5 < ratios["decode.bytes_read"] < 0.6


def test_a_model_is_found_and_its_cache_told() -> None:
    (found,) = asked(("models", {"search": "qwen3 235b"}))
    assert "qwen3-235b-a22b" in str(found)
    (page,) = asked(("numbers", {"link": "?model=qwen3-235b-a22b&v=1", "page": "kv_cache"}))
    assert number(page, "bytes_per_token") == 94 * 2 * 4 * 128 * 2


def test_what_is_wrong_is_said() -> None:
    said = asked(
        ("numbers", {"link": "?v=1", "page": "nothing"}),
        ("change", {"link": "?v=1", "changes": {"bach": 3}}),
        ("numbers", {"link": "?model=nonsense&v=1", "page": "kv_cache"}),
    )
    assert "There is no page" in said[0]
    assert "did you mean batch?" in said[1]
    assert "model=nonsense is not a known model" in said[2]["problems"][0]


def test_on_standard_streams() -> None:
    async def tools() -> set[str]:
        command = StdioServerParameters(command=sys.executable, args=["-m", "inferdash", "mcp"])
        async with Client(command) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert asyncio.run(tools()) == NAMES
    assert {tool.name for tool in asyncio.run(server.list_tools())} == NAMES


def test_over_http() -> None:
    """The official client at `/mcp` as the dashboard has it."""

    async def called() -> Any:
        transport = httpx2.ASGITransport(Starlette(routes=ROUTES))
        async with (
            httpx2.AsyncClient(transport=transport) as client,
            Client(streamable_http_client("http://localhost/mcp", http_client=client)) as assistant,
        ):
            return read(await assistant.call_tool("numbers", {"link": "?v=1", "page": "kv_cache"}))

    assert [asyncio.run(called())] == asked(("numbers", {"link": "?v=1", "page": "kv_cache"}))


@pytest.mark.parametrize(("host", "status"), [("localhost", 200), ("localhost:8501", 200), ("elsewhere.example", 421)])
def test_it_answers_to_the_names_of_the_dashboard(monkeypatch: pytest.MonkeyPatch, host: str, status: int) -> None:
    monkeypatch.setattr(ui_server, "get_option", lambda _: ["localhost"])
    listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Host": host, "Accept": "application/json"}
    assert TestClient(Starlette(routes=ROUTES)).post("/mcp", json=listed, headers=headers).status_code == status
