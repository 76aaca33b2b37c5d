"""What a link shows before it is opened: title, description and picture in the first HTML, and oEmbed for wikis.

All of it follows from the link. It is computed in threads of its own, a few at a time: where that takes too long for a
reader who waits, or too many ask, the page says its name alone. What a visitor sends (a link, names of hosts) stands in
the HTML escaped, or not at all.
"""

import asyncio
import logging
import os
import re
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from inferdash import cards, pairs
from inferdash.cards import Words
from inferdash.studies.report import PAGES

T = TypeVar("T")

_NAMES: Final = {page.replace("_", "-"): page for page in PAGES}
"""Address of a page -> its name."""
_READER_S: Final = 0.1
"""For which a browser that opens the page waits for its title; the page tells it anyway."""
_PREVIEW_S: Final = 3.0
_PICTURE_S: Final = 10.0
_PICTURES: Final = 64
"""Pictures that are kept, of some 100 kB each."""
_WAITING: Final = 16
"""Links that wait for their turn at the most."""
_LONGEST: Final = 8000
"""Characters of a query that a picture or an embedded page is made of."""
_HOST: Final = re.compile(r"[A-Za-z0-9.-]{1,253}(:\d{1,5})?|\[[0-9a-fA-F:.]{2,45}\](:\d{1,5})?")
_PREFIX: Final = re.compile(r"(/[A-Za-z0-9._~-]{1,100}){0,8}")
_ADDRESS: Final = "INFERDASH_ADDRESS"
"""Variable with the address under which the dashboard is reached, as https://example.org/inference; else a request says
it, by what a proxy adds (X-Forwarded-Proto, -Host and -Prefix)."""


@dataclass
class _Turns:
    """Work in threads of its own, so many at a time, that is given up when too much waits."""

    threads: int
    waiting: int = 0
    pool: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(self.threads, thread_name_prefix="preview")

    async def done(self, work: Callable[[], T], *, within_s: float) -> T | None:
        """What comes of the work; None where it takes too long, fails, or too much waits. It ends all the same."""
        if self.waiting >= _WAITING:
            return None
        self.waiting += 1
        future = asyncio.get_running_loop().run_in_executor(self.pool, work)
        future.add_done_callback(self._ended)
        try:
            return await asyncio.wait_for(asyncio.shield(future), within_s)
        except TimeoutError:
            return None
        except Exception:  # whatever fails, the page itself says it better
            logging.getLogger("inferdash").exception("a preview")
            return None

    def _ended(self, future: "asyncio.Future[Any]") -> None:
        self.waiting -= 1
        if not future.cancelled():
            future.exception()


_SAID: Final = _Turns(2)
_DRAWN: Final = _Turns(1)
_KEPT: Final[OrderedDict[tuple[str, str], bytes]] = OrderedDict()


async def head(page: str, request: Request) -> tuple[str, str]:
    """The title of a page for a link, and the tags of its preview, as HTML."""
    query = request.url.query
    opens = request.headers.get("sec-fetch-dest") == "document"  # sent by browsers that open a page
    found = await _SAID.done(lambda: _words(page, query), within_s=_READER_S if opens else _PREVIEW_S)
    words, link = found or (cards.alone(page), query[:_LONGEST])
    return escape(words.title), _tags(page, words, link, base(request))


def _words(page: str, query: str) -> tuple[Words, str]:
    pair = pairs.decode(query).pair
    return cards.words(page, pair), pairs.encode(pair)


def _tags(page: str, words: Words, link: str, address: str) -> str:
    here = f"{address}/{page.replace('_', '-')}"
    whole = f"{here}?{quote(link, safe=_SAFE)}"
    picture = f"{address}/card/{page.replace('_', '-')}.png?{quote(link, safe=_SAFE)}"
    width, height = cards.PREVIEW
    named = {"description": words.sentence, "twitter:card": "summary_large_image"}
    named |= {"twitter:title": words.title, "twitter:description": words.sentence, "twitter:image": picture}
    of_page = {"og:type": "website", "og:site_name": "inferdash", "og:title": words.title}
    of_page |= {"og:description": words.sentence, "og:url": whole, "og:image": picture, "og:image:type": "image/png"}
    of_page |= {"og:image:width": f"{width}", "og:image:height": f"{height}", "og:image:alt": words.sentence}
    tags = [("name", *one) for one in named.items()] + [("property", *one) for one in of_page.items()]
    lines = [f'<meta {kind}="{name}" content="{escape(text)}">' for kind, name, text in tags]
    oembed = escape(f"{address}/oembed?url={quote(whole, safe='')}")
    title = escape(words.title)
    lines.append(f'<link rel="alternate" type="application/json+oembed" href="{oembed}" title="{title}">')
    return "\n".join(lines)


_SAFE: Final = "%/,&=?:;@!$'()*+.~-_"
"""Signs that a query has as they are; what is escaped in it already stays so."""


def base(request: Request) -> str:
    """The address below which the pages lie, without a slash at its end."""
    told = os.environ.get(_ADDRESS, "").rstrip("/")
    if told:
        return told
    scheme = request.headers.get("x-forwarded-proto", request.url.scheme).split(",")[0].strip()
    host = request.headers.get("x-forwarded-host", request.headers.get("host", "")).split(",")[0].strip()
    prefix = request.headers.get("x-forwarded-prefix", "").split(",")[0].strip().rstrip("/")
    scheme = scheme if scheme in {"http", "https"} else "http"
    host = host if _HOST.fullmatch(host) else "localhost"
    return f"{scheme}://{host}{prefix if _PREFIX.fullmatch(prefix) else ''}"


async def _card(request: Request) -> Response:
    """The picture of a page for a link."""
    page, query = _NAMES.get(request.path_params["page"]), request.url.query
    if page is None or len(query) > _LONGEST:
        return PlainTextResponse("There is no such picture.", 404)
    picture = await _DRAWN.done(lambda: _picture(page, query), within_s=_PICTURE_S)
    if picture is None:
        return PlainTextResponse("Too many ask at once; try again in a moment.", 503, {"Retry-After": "5"})
    return Response(picture, media_type="image/png", headers={"Cache-Control": "public, max-age=3600"})


def _picture(page: str, query: str) -> bytes:
    """Drawn once a link; only the one thread of `_DRAWN` is here."""
    pair = pairs.decode(query).pair
    key = page, pairs.encode(pair)
    found = _KEPT.pop(key, None) or cards.image(page, pair)
    _KEPT[key] = found
    while len(_KEPT) > _PICTURES:
        _KEPT.popitem(last=False)
    return found


async def _oembed(request: Request) -> Response:
    """A page as a frame in a wiki: https://oembed.com, version 1.0."""
    asked = request.query_params
    if asked.get("format", "json") != "json":
        return PlainTextResponse("Only JSON is answered.", 501)
    try:
        parts = urlsplit(asked.get("url", ""))
        width, height = (_pixels(asked.get(f"max{side}"), most) for side, most in (("width", 1000), ("height", 700)))
    except ValueError:
        return PlainTextResponse("The address cannot be read.", 404)
    page = _NAMES.get(parts.path.rpartition("/")[2])
    if page is None or len(parts.query) > _LONGEST:
        return PlainTextResponse("There is no such page.", 404)
    found = await _SAID.done(lambda: _words(page, parts.query), within_s=_PREVIEW_S)
    if found is None:
        return PlainTextResponse("Too many ask at once; try again in a moment.", 503, {"Retry-After": "5"})
    words, link = found
    address, name = base(request), page.replace("_", "-")
    frame = (
        f'<iframe src="{escape(f"{address}/{name}?{link}&embed=true")}" width="{width}" height="{height}" '
        f'title="{escape(words.title)}" style="border:0" loading="lazy"></iframe>'
    )
    return JSONResponse(
        {"version": "1.0", "type": "rich", "provider_name": "inferdash", "provider_url": address}
        | {"title": words.title, "html": frame, "width": width, "height": height}
        | {"thumbnail_url": f"{address}/card/{name}.png?{link}"}
        | {"thumbnail_width": cards.PREVIEW[0], "thumbnail_height": cards.PREVIEW[1]}
    )


def _pixels(text: str | None, most: int) -> int:
    """A side of a frame.

    Raises:
        ValueError: where it is no number of pixels.
    """
    return most if text is None else max(200, min(most, int(text[:9])))


ROUTES: Final = [Route("/card/{page}.png", _card), Route("/oembed", _oembed)]
