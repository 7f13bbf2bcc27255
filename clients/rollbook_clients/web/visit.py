"""A request to the page: its visitor and language, and the objects that all requests share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random  # noqa: TID251 - for pauses between attempts
from typing import Any, Final

import structlog
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from rollbook import GATEWAY
from rollbook.v1.refusals_pb2 import RefusalReason
from rollbook_clients.sdk import (
    KeptHeads,
    LimitReached,
    NotFound,
    Patience,
    Refused,
    RollbookError,
    Table,
    Unreachable,
    Untrustworthy,
)
from rollbook_clients.sdk.connection import Connection
from rollbook_clients.sdk.guests import Caller
from rollbook_clients.terminal.clocks import clock_name, delay_name, minutes
from rollbook_clients.terminal.known_game import bot_mark
from rollbook_clients.web.followed import FollowedMatches
from rollbook_clients.web.hosts import Hosts
from rollbook_clients.web.limits import Holdings, TooMany, address_of
from rollbook_clients.web.live import LiveTables
from rollbook_clients.web.lobby import LobbyTail
from rollbook_clients.web.lobby_rows import date_text
from rollbook_clients.web.policy import TooLarge, is_ours, mask
from rollbook_clients.web.static_files import StaticFiles
from rollbook_clients.web.visitors import Visitor, Visitors
from rollbook_clients.web.words import LANGUAGES, prefer_language, words_in
from rollbook_replays.games.words import Words

_log = structlog.get_logger()

LANGUAGE: Final = "language"
MOST_STREAMED: Final = 1_000
"""Length of HTML above which choices are not part of streams."""

PATIENCE: Final = Patience(call=8.0, answer=4.0)
"""Shorter than the default, as a browser waits for each call."""


_ADDRESS: Final[ContextVar[str]] = ContextVar("address", default="")
"""The address of the browser whose request is being handled; empty outside requests."""


@dataclass(frozen=True, slots=True)
class PageOptions:
    """The service of the page, and the page's own credentials."""

    service: str
    token: str = ""
    authorities: bytes | None = None
    server_name: str = ""
    """The name in the service's certificate, if it differs from its address."""
    hosts: Hosts = field(default_factory=Hosts)
    proxies: tuple[str, ...] = ()
    """Networks of proxies on other machines whose x-forwarded-for and x-forwarded-proto are believed."""


class Page:
    """The objects that all requests share."""

    def __init__(self, options: PageOptions, static: StaticFiles) -> None:
        self.options = options
        spacing = Random()  # noqa: S311 - pauses need no secure randomness
        self.connection = Connection(
            options.service, options.authorities, PATIENCE, spacing, options.server_name, around=self._around
        )
        self.visitors = Visitors(self.connection)
        self.tails = FollowedMatches()
        self._caller = Caller(self.connection, "", options.token, None)
        self._table = Table(self._caller, KeptHeads(None))
        self._arriving = asyncio.Lock()
        self.lobby: LobbyTail | None = None
        self.live: LiveTables | None = None
        self.limits = Holdings()
        self._templates = Environment(
            loader=PackageLoader("rollbook_clients.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            auto_reload=False,
        )
        self._templates.globals.update(
            clock_name=clock_name, delay_name=delay_name, bot_mark=bot_mark, minutes=minutes, date_text=date_text
        )
        self._templates.globals.update(apart=_apart, is_whole=True)
        self._templates.globals.update(static=static.address, scripts=static.scripts, preloads=static.preloads)

    def _around(self) -> tuple[tuple[str, str], ...]:
        """Metadata with the browser's address, and the page's token, by which the service trusts the address."""
        address = _ADDRESS.get()
        if not address or not self.options.token:
            return ()
        return ((GATEWAY, f"Bearer {self.options.token}"), ("x-forwarded-for", address))

    async def everybody(self) -> Table:
        """The table for public data, shared by all visitors; signs in at the first call."""
        async with self._arriving:
            if not self._caller.token:
                await self._caller.arrive()
        return self._table

    async def watch_lobby(self) -> LobbyTail:
        """The lobby, followed from the first call on."""
        table = await self.everybody()
        if self.lobby is None:
            self.lobby = LobbyTail(table)
        return self.lobby

    async def watch_tables(self) -> LiveTables:
        """The running matches that the lobby shows."""
        lobby = await self.watch_lobby()
        if self.live is None:
            self.live = LiveTables(lobby, self.tails, self._table)
        return self.live

    async def close(self) -> None:
        """Stop following matches and close the connection."""
        if self.live is not None:
            await self.live.close()
        if self.lobby is not None:
            await self.lobby.close()
        await self.tails.close()
        await self.connection.close()

    def render(self, template: str, words: Words, **facts: Any) -> str:
        """Render a template with these values in this language."""
        return self._templates.get_template(template).render(words=words, language=words.language, **facts)


def _apart(inside: str) -> Markup:
    """The attribute of an element whose content is too long for streams, so that scripts request it by itself."""
    return Markup(" data-apart" if len(inside) > MOST_STREAMED else "")  # noqa: S704 - our own


@dataclass(slots=True)
class Visit:
    """One request with its visitor and language."""

    request: Request
    page: Page
    visitor: Visitor
    words: Words

    @classmethod
    def of(cls, request: Request) -> Visit:
        """Create the visit for a request, and set the address for calls to the service."""
        page: Page = request.app.state.page
        _ADDRESS.set(address_of(request))
        given = request.query_params.get("lang", "")
        kept = given if given in LANGUAGES else request.cookies.get(LANGUAGE, "")
        language = prefer_language(request.headers.get("accept-language", ""), kept)
        return cls(request, page, page.visitors.of(request), words_in(language))

    def show(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        """Render a page as the response."""
        token, path = mask(self.visitor.form_token), self.request.url.path
        text = self.page.render(template, self.words, form_token=token, path=path, who=self.visitor.name, **facts)
        return self.add_cookies(HTMLResponse(text, status))

    def go(self, path: str) -> Response:
        """Redirect to another page after a form."""
        return self.add_cookies(RedirectResponse(path, 303))

    def add_cookies(self, response: Response) -> Response:
        """Add the visitor's cookies to a response."""
        self.page.visitors.remember(self.visitor, response, is_secure=self.is_secure)
        return response

    def hold(self, what: str) -> AbstractContextManager[None]:
        """Count one more of `what` for the address of this request; raises TooMany at the limit."""
        return self.page.limits.hold(what, address_of(self.request))

    @property
    def is_secure(self) -> bool:
        """Whether the browser uses https, so that its cookies must be sent only by https."""
        return self.page.options.hosts.is_secure or self.request.url.scheme == "https"

    def address(self, path: str, fragment: str = "") -> str:
        """The full address of one of our pages, for invitations and other devices."""
        return self.page.options.hosts.address(self.request.url.replace(path=path, query="", fragment=fragment))

    async def form(self, most_files: int = 1) -> Any:
        """The fields of one of our forms; raises 403 if the form token is wrong."""
        form = await self.request.form(max_files=most_files + 2, max_fields=200, max_part_size=64 * 1024)
        if not is_ours(self.visitor.form_token, form.get("form_token")):
            raise HTTPException(403, "error.form")
        return form


Handler = Callable[[Visit], Awaitable[Response]]


def handle(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Convert a handler into a route that shows errors as pages."""

    async def handle(request: Request) -> Response:
        visit = Visit.of(request)
        try:
            return await handler(visit)
        except ClientDisconnect:
            _log.info("a browser disconnected", path=request.url.path, status="CANCELLED")
            return Response(status_code=400)  # the browser has disconnected
        except Exception as error:  # noqa: BLE001 - every error becomes a page
            status, key = wrong(error)
            if status == 500:  # noqa: PLR2004 - a failure of the page
                _log.exception("a page failed", path=request.url.path)
            if status == 404 and "boards" in visit.request.url.path:  # noqa: PLR2004 - an image has no page
                return Response(status_code=404, headers={"cache-control": "no-store"})
            if key == "error.not_found" and visit.request.path_params.get("match_id"):
                match_id = visit.request.path_params["match_id"]
                return visit.show("no_match.html", status=404, match_id=match_id, is_wrong=True)
            return visit.show("error.html", status=status, said=visit.words(key))

    return handle


def _refusal_key(reason: str) -> str:
    """The key of the sentence for a refusal: for its kind if there is one, else for its reason, else a general one."""
    known = RefusalReason.DESCRIPTOR.values_by_name.get(f"REFUSAL_REASON_{reason}")
    kinds = {range(100, 112): "token", range(170, 180): "position"}
    kind = next((kind for numbers, kind in kinds.items() if known is not None and known.number in numbers), reason)
    key = f"refused.{kind}"
    return key if key in words_in("en") else "error.refused"


def wrong(error: Exception) -> tuple[int, str]:  # noqa: PLR0911 - a case each
    """The status code for an error, and the key of its sentence."""
    match error:
        case HTTPException():
            return error.status_code, error.detail if error.detail in words_in("en") else "error.no_page"
        case TooLarge():
            return 413, "error.large"
        case NotFound():
            return 404, "error.not_found"
        case TooMany():
            return 429, "error.busy"
        case Refused():
            return 429 if isinstance(error, LimitReached) else 409, _refusal_key(error.reason)
        case Unreachable():
            return 503, "error.service"
        case Untrustworthy():
            return 502, "error.broken"
        case RollbookError():
            return 502, "error.refused"
    return 500, "error.title"
