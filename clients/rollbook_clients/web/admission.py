"""The match that a request is about, and the perspective and invitation of its browser."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from rollbook.v1.table_pb2 import PERSPECTIVE_KIND_SEAT
from rollbook_clients.sdk import Match
from rollbook_clients.web.followed import IDLE_SECONDS, LEFT_SECONDS, FollowedMatch
from rollbook_clients.web.visit import Visit

MATCH_ID: Final = re.compile(r"[a-z2-7]{24}")
CODE: Final = re.compile(r"[a-z2-7]{1,64}")
INVITATION: Final = "invitation"
PUBLIC: Final = "public"
KEPT_SECONDS: Final = 30 * 24 * 3_600


def match_id_of(visit: Visit) -> str:
    """The match id in the address; raises 404 for anything that cannot be an id."""
    match_id = str(visit.request.path_params["match_id"])
    if not MATCH_ID.fullmatch(match_id):
        raise HTTPException(404, "error.not_found")
    return match_id


def code_of(visit: Visit, match_id: str = "") -> str:
    """The invitation code in this browser's cookie for the match; empty if there is none."""
    return _code(visit.request.cookies.get(f"{INVITATION}.{match_id or match_id_of(visit)}", ""))


def keep_invitation(visit: Visit, response: Response, match_id: str, code: str) -> Response:
    """Set a cookie with the invitation code on the response, for the pages of this match and for streams."""
    for path in (f"/matches/{match_id}", "/stream") if _code(code) else ():
        response.set_cookie(
            f"{INVITATION}.{match_id}",
            code,
            max_age=KEPT_SECONDS,
            httponly=True,
            samesite="lax",
            secure=visit.is_secure,
            path=path,
        )
    return response


def invitation(visit: Visit, code: str) -> str:
    """The link of an invitation; the code is in the fragment, which browsers do not send to servers."""
    return visit.address(f"/matches/{match_id_of(visit)}", code)


async def enter(visit: Visit) -> Response:
    """Save an invitation code in a cookie and redirect to the match; raises NotFound if the code is wrong."""
    form = await visit.form()
    match_id, code = match_id_of(visit), _code(str(form.get("code", "")).strip())
    await (await visit.page.visitors.match(visit.visitor, match_id, code)).state()
    return keep_invitation(visit, visit.go(f"/matches/{match_id}"), match_id, code)


async def match_of(visit: Visit, match_id: str = "") -> Match:
    """The match with this id, by default that in the address.

    It is called as this browser's guest if it plays or was invited, else as the page.
    """
    match_id = match_id or match_id_of(visit)
    code = code_of(visit, match_id)
    if visit.visitor.token or code:
        return await visit.page.visitors.match(visit.visitor, match_id, code)
    return (await visit.page.everybody()).match(match_id)


@asynccontextmanager
async def follow_match(
    visit: Visit, match_id: str = "", eyes: str | None = None, *, is_stream: bool = False
) -> AsyncIterator[FollowedMatch]:
    """A match, by default that in the address, followed from the perspective `eyes`: `public` or `seat-N`.

    By default, `eyes` is that of the query. Without `eyes`, the browser's own seat, else the public perspective. All
    requests with the same perspective share one FollowedMatch. When the stream of a seat ends, its player has left the
    page, which others should see soon.
    """
    match, reference = await match_of(visit, match_id), visit.visitor.reference
    eyes = visit.request.query_params.get("eyes", "") if eyes is None else eyes
    seat, is_private = None, False
    if visit.visitor.token:
        seat, is_private = await _seat(visit, match)
    if eyes not in {"", PUBLIC, f"seat-{seat}"}:
        raise HTTPException(404, "error.not_found")
    tails = visit.page.tails
    if seat is not None and eyes != PUBLIC:
        idle_seconds = LEFT_SECONDS if is_stream else IDLE_SECONDS
        async with tails.following(reference, match, public_only=False, idle_seconds=idle_seconds) as tail:
            yield tail
    elif is_private:
        async with tails.following(f"{reference}:{PUBLIC}", match, public_only=True) as tail:
            yield tail
    else:
        everybody = (await visit.page.everybody()).match(match.id)
        async with tails.following(PUBLIC, everybody, public_only=True) as tail:
            yield tail


async def _seat(visit: Visit, match: Match) -> tuple[int | None, bool]:
    """The guest's seat in the match, None without one; and whether the match is private."""
    tail = visit.page.tails.find(visit.visitor.reference, match.id)
    if tail is not None and tail.own is not None:
        return tail.own, tail.summary.is_private
    state: Any = await match.state()
    seated = state.perspective.kind == PERSPECTIVE_KIND_SEAT
    return state.perspective.seat if seated else None, state.summary.is_private


def _code(given: str) -> str:
    return given if CODE.fullmatch(given) else ""


ROUTES: Final = (("POST", "/matches/{match_id}/enter", enter),)
