"""The numbers for an assistant, by the Model Context Protocol: `inferdash mcp` on standard streams, and over HTTP."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from inferdash import answers
from inferdash.answers import UnknownNameError
from inferdash.studies import report

_LINK: Final = (
    "A scenario is a link such as '?model=qwen3-32b&accelerator=h100-sxm&batch=64&v=2'; '?v=2' is the baseline. "
    "Numbers are in base units: seconds, bytes, dollars, shares of 1. Say which are the limit and which are expected, "
    "give the link with the answer, and pass on what stands under problems."
)
server: Final = MCPServer(
    "inferdash",
    title="inferdash",
    instructions=f"What inference of a language model takes, what it costs, and why. {_LINK}",
    website_url=None,
    log_level="WARNING",
)


@contextmanager
def _said() -> Iterator[None]:
    """Hands a refusal on as a sentence."""
    try:
        yield
    except UnknownNameError as error:
        raise ToolError(str(error)) from None


@server.tool()
def numbers(link: str, page: str) -> dict[str, Any]:
    """The numbers of one page for a scenario, with the sentence that sums it up and the formulas that gave them.

    Args:
        link: the scenario.
        page: overview, compute_vs_memory, kv_cache, batching, quantization, experts, prompt_cache, feature_cost,
            memory, serving, plan or model.
    """
    with _said():
        return _brief(answers.page(page, link))


@server.tool()
def working(link: str, page: str) -> list[dict[str, str]]:
    """Every formula that ran for a page, with this scenario's numbers, result and source.

    Args:
        link: the scenario.
        page: as for `numbers`.
    """
    with _said():
        return [step for side in _sides(answers.page(page, link)) for step in side["working"]]


@server.tool()
def price_feature(changes: dict[str, str | float | bool], link: str = "?v=2") -> dict[str, Any]:
    """What a feature costs in a month on an API, what caching and batches save, and when own GPUs pay.

    Args:
        changes: field -> value: api, users, sessions, turns, system_tokens, question, answer and others of `fields`.
        link: the scenario that they change.
    """
    return _changed_page("feature_cost", link, changes)


@server.tool()
def plan(changes: dict[str, str | float | bool], link: str = "?v=2") -> dict[str, Any]:
    """The cheapest set-up of a model that carries a load within targets, with the commands that start it.

    Args:
        changes: field -> value: model, load, prompt, answer, target_first, target_between and others of `fields`.
        link: the scenario that they change.
    """
    answer = _changed_page("plan", link, changes)
    return answer | {"start": answers.starts(answer["link"])}


@server.tool()
def change(link: str, changes: dict[str, str | float | bool]) -> dict[str, Any]:
    """The link of a scenario with some of its fields changed; `fields` lists them.

    Args:
        link: the scenario.
        changes: field -> value, a number in its base unit or a text such as "3.35 TB/s".
    """
    with _said():
        return answers.changed(link, changes)


@server.tool()
def compare(first: str, second: str = "") -> dict[str, Any]:
    """Two scenarios: which fields differ, what that does to each page in words, and by how much the numbers differ.

    Args:
        first: a link; one that holds two scenarios (with parameters such as b.batch=64) needs no second.
        second: another one.
    """
    with _said():
        return answers.compared(first, second)


@server.tool()
def fields(search: str = "") -> dict[str, Any]:
    """What can be set in a scenario: each field with its help, its bounds and what may be chosen.

    Args:
        search: words of its name or help; all fields without them.
    """
    words = search.lower().split()
    return {
        name: said
        for name, said in answers.fields()["properties"].items()
        if all(word in f"{name} {said.get('title')} {said.get('description')}".lower() for word in words)
    }


def _changed_page(page: str, link: str, changes: dict[str, str | float | bool]) -> dict[str, Any]:
    """A page of a scenario with some of its fields changed, and what could not be read of them."""
    with _said():
        changed = answers.changed(link, changes)
        answer = _brief(answers.page(page, changed["link"]))
    return answer | {"problems": list(dict.fromkeys((*changed["problems"], *answer["problems"])))}


def _sides(page: dict[str, Any]) -> list[dict[str, Any]]:
    """What a page says of its scenario, or of each of two."""
    return [page] if "working" in page else [page["a"], page["b"]]


def _brief(page: dict[str, Any]) -> dict[str, Any]:
    """A page with each of its formulas once; `working` has every time that it ran."""
    if "working" not in page:
        return page | {side: _brief(page[side]) for side in ("a", "b")}
    first = {step["name"]: step for step in reversed(page["working"])}
    formulas = {name: f"{step['formula']} = {step['with_numbers']} = {step['result']}" for name, step in first.items()}
    return {name: value for name, value in page.items() if name != "working"} | {"formulas": formulas}


@server.tool()
def models(search: str = "") -> list[dict[str, Any]]:
    """Models that are known, by words of their id, name or repository."""
    return answers.models(search)


@server.tool()
def accelerators(search: str = "") -> list[dict[str, Any]]:
    """Accelerators that are known, by words of their id or name."""
    return answers.accelerators(search)


@server.resource("inferdash://pages")
def pages() -> dict[str, str]:
    """The pages there are: name -> title."""
    return {name: study.TITLE for name, study in report.STUDIES.items()}


async def over_http(scope: Scope, receive: Receive, send: Send, *, hosts: Sequence[str]) -> None:
    """Answers one request at `/mcp`. Nothing is kept between two, so that any replica answers.

    Args:
        scope: of the request, as ASGI has it.
        receive: as well.
        send: as well.
        hosts: names that it answers to; any where there are none, or one is `*`.
    """
    names = [name for host in hosts for name in (host, f"{host}:*")]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
    app = server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=bool(hosts) and "*" not in hosts,
            allowed_hosts=names,
            allowed_origins=origins,
        ),
    )
    async with server.session_manager.run():
        await app(scope, receive, send)
