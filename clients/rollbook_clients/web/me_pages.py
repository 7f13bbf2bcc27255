"""The profile: the visitor's name, matches and switches, and the way to be forgotten by this browser."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.web.browser_preferences import wants_spoilers
from rollbook_clients.web.lobby_pages import own_matches
from rollbook_clients.web.lobby_rows import past_row
from rollbook_clients.web.visit import Visit
from rollbook_clients.web.visitors import GUEST, NAME, VISIT

EACH: Final = 50
"""Matches of a page."""

MOST_PAGES: Final = 20


async def me(visit: Visit) -> Response:
    """The profile, with a page of the visitor's matches, the latest first."""
    given = visit.request.query_params.get("page", "")
    page = min(int(given), MOST_PAGES) if given.isdecimal() and len(given) < 4 and int(given) else 1  # noqa: PLR2004
    mine = await own_matches(visit, page * EACH + 1)
    matches, spoilers = mine[(page - 1) * EACH : page * EACH], wants_spoilers(visit)
    return visit.show(
        "me.html",
        name=visit.visitor.proposed_name,
        running=[past_row(match, visit.words, spoilers=False) for match in matches if match.state not in OVER],
        finished=[past_row(match, visit.words, spoilers=spoilers) for match in matches if match.state in OVER],
        spoilers=spoilers,
        page=page,
        has_more=len(mine) > page * EACH and page < MOST_PAGES,
    )


async def rename(visit: Visit) -> Response:
    """Keep another name for the next tables."""
    form = await visit.form()
    visit.visitor.rename(str(form.get("name", "")))
    return visit.go("/me")


async def forget(visit: Visit) -> Response:
    """Delete all cookies of this browser, so that the visitor is a new one."""
    await visit.form()
    response = visit.go("/")
    del response.headers["set-cookie"]
    # By https also the cookies of single matches, and what scripts have kept.
    response.headers["clear-site-data"] = '"cookies", "storage"'
    for name in {VISIT, GUEST, NAME, *visit.request.cookies}:
        response.delete_cookie(name, path="/")
    return response


ROUTES: Final = (
    ("GET", "/me", me),
    ("POST", "/me", rename),
    ("POST", "/me/forget", forget),
)
