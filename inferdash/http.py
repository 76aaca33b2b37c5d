"""The numbers over HTTP, under `/api`: a report, a page, a comparison, what can be chosen, and files.

What reads a link is computed here, a few at a time; what reads a file runs as the command that a terminal would run, in
a process that ends with the request.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from threading import BoundedSemaphore
from typing import Annotated, Any, Final

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as AnyHTTPException

from inferdash import __version__, answers
from inferdash.answers import UnknownNameError
from inferdash.scenario import FIELDS

_AT_ONCE: Final = BoundedSemaphore(2)
_PATIENCE_S: Final = 20.0
_KEPT: Final = 256
"""Answers that are kept, by their links; the largest has some 70 kB."""
_ANSWERS: Final[OrderedDict[tuple[Any, ...], tuple[bytes, str]]] = OrderedDict()
"""By what was asked of whom, the latest last; only the server's own loop is here."""
_FILE_S: Final = 120.0
"""After which a file is given up."""
MOST_BYTES: Final = int(os.environ.get("INFERDASH_API_BYTES", "20000000"))
"""Of a file; 0 takes none."""
_SCENARIO: Final = {
    "parameters": [
        {"name": name, "in": "query", "description": field.description, "schema": {"type": "string"}}
        for name, field in FIELDS.items()
    ]
    + [{"name": "v", "in": "query", "description": "The version of the link.", "schema": {"type": "string"}}]
}
"""A scenario is the query of its link."""


class Problems(BaseModel):
    """Why there is no answer."""

    problems: list[str]
    """A sentence each."""


_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": Problems, "description": "There is no such page."},
    413: {"model": Problems, "description": "The file is larger than this server takes."},
    422: {"model": Problems, "description": "What was asked cannot be answered."},
    503: {"model": Problems, "description": "Too many ask at once."},
}


def _some(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: _PROBLEMS[status] for status in statuses}


app: Final = FastAPI(
    title="inferdash",
    version=__version__,
    summary="What inference of a language model takes, what it costs, and why.",
    description="A scenario is the query of its link, as in the address of the dashboard. Numbers are in base units.",
    docs_url=None,
    redoc_url=None,
)
if os.environ.get("INFERDASH_CORS"):
    app.add_middleware(
        CORSMiddleware, allow_origins=os.environ["INFERDASH_CORS"].split(","), allow_methods=["GET", "POST"]
    )


@app.exception_handler(AnyHTTPException)
async def _said(_: Request, error: AnyHTTPException) -> JSONResponse:
    return JSONResponse({"problems": [str(error.detail)]}, error.status_code, headers=error.headers)


@app.exception_handler(RequestValidationError)
async def _unread(_: Request, error: RequestValidationError) -> JSONResponse:
    said = [f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}." for one in error.errors()]
    return JSONResponse({"problems": said}, 422)


async def _answered(request: Request, answer: Callable[..., dict[str, Any]], *asked: str) -> Response:
    """An answer: at once where it is kept, else when it is its turn; nothing where the client has it."""
    key: tuple[Any, ...] = (answer, *asked)
    found = _ANSWERS.pop(key, None)
    if found is None:
        found = await run_in_threadpool(_computed, answer, *asked)
    _ANSWERS[key] = found
    if len(_ANSWERS) > _KEPT:
        _ANSWERS.popitem(last=False)
    text, tag = found
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in request.headers.get("If-None-Match", ""):
        return Response(status_code=304, headers=headers)
    return Response(text, media_type="application/json", headers=headers)


def _computed(answer: Callable[..., dict[str, Any]], *asked: str) -> tuple[bytes, str]:
    """An answer as JSON, and its tag."""
    if not _AT_ONCE.acquire(timeout=_PATIENCE_S):
        raise HTTPException(503, "Too many ask at once; try again in a moment.", {"Retry-After": "5"})
    try:
        text = json.dumps(answer(*asked), allow_nan=False, ensure_ascii=False).encode()
    except UnknownNameError as error:
        raise HTTPException(404, str(error)) from None
    finally:
        _AT_ONCE.release()
    return text, f'"{sha256(text).hexdigest()[:32]}"'


@app.get("/report", response_model=dict[str, Any], openapi_extra=_SCENARIO, responses=_some(503))
async def report(request: Request) -> Response:
    """Every number of every page of a scenario, with its link as it was read and what could not be read of it."""
    return await _answered(request, answers.report, request.url.query)


@app.get("/page/{name}", response_model=dict[str, Any], openapi_extra=_SCENARIO, responses=_some(404, 503))
async def page(name: str, request: Request) -> Response:
    """One page: its sentence, its numbers with label, unit and the text that the page shows, and its working."""
    return await _answered(request, answers.page, name, request.url.query)


@app.get("/compare", response_model=dict[str, Any], responses=_some(404, 422, 503))
async def compare(
    request: Request,
    a: Annotated[str, Query(description="A link, or its query; one of two scenarios needs no other.")],
    b: Annotated[str, Query(description="Another one.")] = "",
) -> Response:
    """Two scenarios: which fields differ, what that does to each page in words, and which numbers."""
    return await _answered(request, answers.compared, a, b)


@app.get("/fields")
def fields() -> dict[str, Any]:
    """JSON schema of a scenario: each field with its help and its bounds."""
    return answers.fields()


@app.get("/models")
def models(search: Annotated[str, Query(description="Of its id, name or repository.")] = "") -> list[dict[str, Any]]:
    """Models that are known."""
    return answers.models(search)


@app.get("/accelerators")
def accelerators(search: Annotated[str, Query(description="Of its id or name.")] = "") -> list[dict[str, Any]]:
    """Accelerators that are known."""
    return answers.accelerators(search)


_FILE: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@app.post("/replay", openapi_extra=_FILE, responses=_some(413, 422, 503))
async def replay(
    request: Request,
    prices: Annotated[str, Query(description="As the command takes them: in=2,out=10, or an API's model.")] = "",
    rules: Annotated[str, Query(description="Of the cache, as the command takes them.")] = "",
) -> dict[str, Any]:
    """What a log or a trace costs under the rules of a prompt cache: the file is the body."""
    return await _run(request, "replay", [("--prices", prices), ("--rules", rules)])


@app.post("/score", openapi_extra=_FILE, responses=_some(413, 422, 503))
async def score(
    request: Request,
    on: Annotated[str, Query(description="The link of what a load tool's file ran on.")] = "",
) -> dict[str, Any]:
    """A table of load tests, or a load tool's file, beside what is expected: the file is the body."""
    return await _run(request, "score", [("--on", on)])


async def _run(request: Request, command: str, options: list[tuple[str, str]]) -> dict[str, Any]:
    """What a command prints of the file in the body of a request."""
    if not _AT_ONCE.acquire(blocking=False):
        raise HTTPException(503, "Too many ask at once; try again in a moment.", {"Retry-After": "5"})
    try:
        with tempfile.NamedTemporaryFile(prefix="inferdash-") as file:
            size = 0
            async for piece in request.stream():
                size += len(piece)
                if size > MOST_BYTES:
                    raise HTTPException(
                        413, f"The file is larger than the {MOST_BYTES:,} bytes that this server takes."
                    )
                file.write(piece)
            if not size:
                raise HTTPException(422, "There is no file in the body of the request.")
            file.flush()
            given = [f"{name}={value}" for name, value in options if value]
            return await _printed(command, Path(file.name), given)
    finally:
        _AT_ONCE.release()


async def _printed(command: str, path: Path, options: list[str]) -> dict[str, Any]:
    """The JSON that a command prints; it ends when nobody waits for it any more.

    Raises:
        HTTPException: where it takes too long, or prints none.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "inferdash", command, str(path), "--json", *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        text, _ = await asyncio.wait_for(process.communicate(), _FILE_S)
    except TimeoutError:
        raise HTTPException(422, f"The file was given up after {_FILE_S:.0f} seconds.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        answer: dict[str, Any] = json.loads(text)
    except ValueError:
        raise HTTPException(422, "The file or an option cannot be read.") from None
    if set(answer) == {"problems"}:
        raise HTTPException(422, " ".join(answer["problems"]).replace(str(path), "The file"))
    return answer
