"""The numbers for an assistant, by the Model Context Protocol: `inferdash mcp` on standard streams."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

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
    """The numbers of one page for a scenario, with the sentence that sums it up.

    Args:
        link: the scenario.
        page: overview, compute_vs_memory, kv_cache, batching, quantization, experts, prompt_cache, feature_cost,
            memory, serving, plan or model.
    """
    with _said():
        return answers.page(page, link)


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
