"""The ASGI application of the page: its routes, start and shutdown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from rollbook_clients.web import (
    admission,
    boards,
    browser_preferences,
    device_pages,
    judge,
    lobby_pages,
    match_pages,
    me_pages,
    overlay,
    replay_pages,
    rules_pages,
    stream_pages,
    verify_pages,
)
from rollbook_clients.web.policy import Policy
from rollbook_clients.web.static_files import FOLDER, StaticFiles
from rollbook_clients.web.visit import LANGUAGE, Page, PageOptions, Visit, handle
from rollbook_clients.web.words import LANGUAGES
from rollbook_replays.games.sheet import SHEET


async def set_language(visit: Visit) -> Response:
    """Set the language cookie and redirect back."""
    form = await visit.form()
    back = str(form.get("back", "/"))
    response = visit.go(back if back.startswith("/") and not back.startswith("//") else "/")
    if (language := str(form.get("language"))) in LANGUAGES:
        response.set_cookie(
            LANGUAGE, language, max_age=365 * 24 * 3_600, httponly=True, samesite="lax", secure=visit.is_secure
        )
    return response


def read_static_files() -> StaticFiles:
    """The static files; each style sheet includes that of the boards, and the verifier is one script."""
    sheets = {name: FOLDER.joinpath(name).read_text(encoding="utf-8") + SHEET for name in ("page.css", "overlay.css")}
    return StaticFiles({**sheets, "verifier.js": verify_pages.joined_modules()})


async def not_found(request: Request, _error: Exception) -> Response:
    """The error page for unknown addresses."""
    visit = Visit.of(request)
    return visit.show("error.html", status=404, said=visit.words("error.no_page"))


ROUTES: Final = (
    *lobby_pages.ROUTES,
    *admission.ROUTES,
    *match_pages.ROUTES,
    *overlay.ROUTES,
    *browser_preferences.ROUTES,
    *stream_pages.ROUTES,
    *boards.ROUTES,
    *replay_pages.ROUTES,
    *rules_pages.ROUTES,
    *verify_pages.ROUTES,
    *judge.ROUTES,
    *device_pages.ROUTES,
    *me_pages.ROUTES,
    ("POST", "/language", set_language),
)


class _Application(Starlette):
    """An application whose policy also covers the response to an unexpected exception."""

    def build_middleware_stack(self) -> ASGIApp:
        """Wrap the policy around everything."""
        return Policy(super().build_middleware_stack(), self.state.hosts)


UNCOMPRESSED: Final = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/octet-stream")
"""Content types of streams, of what is compressed already, and of replay files."""


def create_app(options: PageOptions) -> Starlette:
    """Create the page of a service as an ASGI application."""
    static = read_static_files()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.page = Page(options, static)
        try:
            yield
        finally:
            await app.state.page.close()

    routes = [*(Route(path, handle(handler), methods=[method]) for method, path, handler in ROUTES), *static.routes]
    middleware = [Middleware(GZipMiddleware, compresslevel=6, exclude_content_types=UNCOMPRESSED)]
    app = _Application(routes=routes, lifespan=lifespan, middleware=middleware, exception_handlers={404: not_found})
    app.state.hosts = options.hosts
    return app
