"""One request to the page: who sends it, in which language it is answered, and what all requests share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from random import Random  # noqa: TID251 - how attempts are spaced
from typing import Any, Final

import structlog
from jinja2 import Environment, PackageLoader, StrictUndefined
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
from rollbook_clients.terminal.clocks import clock_name, delay_name
from rollbook_clients.web.followed import FollowedMatches
from rollbook_clients.web.limits import Holdings, TooMany, address_of
from rollbook_clients.web.lobby import LobbyTail
from rollbook_clients.web.policy import TooLarge, is_ours
from rollbook_clients.web.visitors import Visitor, Visitors
from rollbook_clients.web.words import preferred, words_in
from rollbook_replays.games.words import Words

_log = structlog.get_logger()

LANGUAGE: Final = "language"
PATIENCE: Final = Patience(call=8.0, answer=4.0)
"""A browser waits no longer than this for what it asks."""


_ADDRESS: Final[ContextVar[str]] = ContextVar("address", default="")
"""Where the browser is for whom something is done."""


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Which service the page is for, and as whom it looks itself."""

    service: str
    token: str = ""
    authorities: bytes | None = None
    server_name: str = ""
    """What the service's certificate is good for, if not its address."""
    is_secure: bool = False
    """Browsers reach it by https, so that cookies may say so."""


class Page:
    """What all pages share."""

    def __init__(self, options: PageOptions) -> None:
        self.options = options
        spacing = Random()  # noqa: S311 - of attempts, no secret
        self.connection = Connection(
            options.service, options.authorities, PATIENCE, spacing, options.server_name, around=self._around
        )
        self.visitors = Visitors(self.connection)
        self.tails = FollowedMatches()
        self._caller = Caller(self.connection, "", options.token, None)
        self._table = Table(self._caller, KeptHeads(None))
        self._arriving = asyncio.Lock()
        self.lobby: LobbyTail | None = None
        self.limits = Holdings()
        self._templates = Environment(
            loader=PackageLoader("rollbook_clients.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            auto_reload=False,
        )
        self._templates.globals.update(clock_name=clock_name, delay_name=delay_name)

    def _around(self) -> tuple[tuple[str, str], ...]:
        """Which browser a call is for, said so that the service believes it."""
        address = _ADDRESS.get()
        if not address or not self.options.token:
            return ()
        return ((GATEWAY, f"Bearer {self.options.token}"), ("x-forwarded-for", address))

    async def everybody(self) -> Table:
        """What everybody may see, seen once for all."""
        async with self._arriving:
            if not self._caller.token:
                await self._caller.arrive()
        return self._table

    async def watch_lobby(self) -> LobbyTail:
        """The lobby, followed from the first time that somebody asks for it."""
        table = await self.everybody()
        if self.lobby is None:
            self.lobby = LobbyTail(table)
        return self.lobby

    async def close(self) -> None:
        """Hang up."""
        if self.lobby is not None:
            await self.lobby.close()
        await self.tails.close()
        await self.connection.close()

    def render(self, template: str, words: Words, **facts: Any) -> str:
        """A template with these facts, in this language."""
        return self._templates.get_template(template).render(words=words, language=words.language, **facts)


@dataclass(slots=True)
class Visit:
    """One request, with who sends it and in which language it is answered."""

    request: Request
    page: Page
    visitor: Visitor
    words: Words

    @classmethod
    def of(cls, request: Request) -> Visit:
        """What a request is."""
        page: Page = request.app.state.page
        _ADDRESS.set(address_of(request))
        language = preferred(request.headers.get("accept-language", ""), request.cookies.get(LANGUAGE, ""))
        return cls(request, page, page.visitors.of(request), words_in(language))

    def show(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        """A page."""
        text = self.page.render(
            template, self.words, form_token=self.visitor.form_token, path=self.request.url.path, **facts
        )
        return self.answered(HTMLResponse(text, status))

    def go(self, path: str) -> Response:
        """To another page, after something was done."""
        return self.answered(RedirectResponse(path, 303))

    def answered(self, response: Response) -> Response:
        """With the cookies that the browser is known by."""
        self.page.visitors.remember(self.visitor, response, is_secure=self.is_secure)
        return response

    def hold(self, what: str) -> AbstractContextManager[None]:
        """Hold one more of it, for the address that this comes from."""
        return self.page.limits.hold(what, address_of(self.request))

    @property
    def is_secure(self) -> bool:
        """Whether the browser came by https, so that its cookies have to travel by https alone."""
        return self.page.options.is_secure or self.request.url.scheme == "https"

    async def form(self, most_files: int = 1) -> Any:
        """What was sent by one of our forms; anything else is refused."""
        form = await self.request.form(max_files=most_files + 2, max_fields=200, max_part_size=64 * 1024)
        if not is_ours(self.visitor.form_token, form.get("form_token")):
            raise HTTPException(403, "error.form")
        return form


Handler = Callable[[Visit], Awaitable[Response]]


def handled(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """A route that says in words what did not work."""

    async def handle(request: Request) -> Response:
        visit = Visit.of(request)
        try:
            return await handler(visit)
        except ClientDisconnect:
            _log.info("a browser disconnected", path=request.url.path, status="CANCELLED")
            return Response(status_code=400)  # which nobody reads
        except Exception as error:  # noqa: BLE001 - every page says in words what did not work
            status, key = wrong(error)
            if status == 500:  # noqa: PLR2004 - ours
                _log.exception("a page failed", path=request.url.path)
            if status == 404 and "boards" in visit.request.url.path:  # noqa: PLR2004 - an image has no page
                return Response(status_code=404, headers={"cache-control": "no-store"})
            if key == "error.not_found" and visit.request.path_params.get("match_id"):
                return visit.show("no_match.html", status=404, match_id=visit.request.path_params["match_id"])
            return visit.show("error.html", status=status, said=visit.words(key))

    return handle


def _refused(reason: str) -> str:
    """The key of the sentence for a refusal: that of all of its kind where the page has one, else its own."""
    known = RefusalReason.DESCRIPTOR.values_by_name.get(f"REFUSAL_REASON_{reason}")
    kinds = {range(100, 112): "token", range(170, 180): "position"}
    kind = next((kind for numbers, kind in kinds.items() if known is not None and known.number in numbers), reason)
    key = f"refused.{kind}"
    return key if key in words_in("en") else "error.refused"


def wrong(error: Exception) -> tuple[int, str]:  # noqa: PLR0911 - a case each
    """The status for what went wrong, and the key of the sentence that says so."""
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
            return 429 if isinstance(error, LimitReached) else 409, _refused(error.reason)
        case Unreachable():
            return 503, "error.service"
        case Untrustworthy():
            return 502, "error.broken"
        case RollbookError():
            return 502, "error.refused"
    return 500, "error.title"
