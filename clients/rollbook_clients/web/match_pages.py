"""The page of a match, for spectators and players."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final
from uuid import UUID, uuid4

from google.protobuf.message import DecodeError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from rollbook.match.chain import Position
from rollbook.v1.games_pb2 import Choice
from rollbook.v1.table_pb2 import PERSPECTIVE_KIND_SEAT
from rollbook_clients.sdk import MovedOn, NotFound, OutcomeUnknown, Unreachable
from rollbook_clients.terminal.clocks import DAY
from rollbook_clients.web.admission import code_of, follow_match, invitation, keep_invitation, match_id_of, match_of
from rollbook_clients.web.qr import draw_qr
from rollbook_clients.web.scenes import help_of, scene, short_of
from rollbook_clients.web.stream_pages import table_part
from rollbook_clients.web.visit import Visit

MOST_PICKED: Final = 64
_PRIVATE: Final = {"cache-control": "private, no-store"}


async def match_page(visit: Visit) -> Response:
    """The page with the table and all actions; a form for an invitation code if there is no such public match."""
    try:
        return await _show_match(visit)
    except NotFound:
        # No error, so that the console of an invited browser, whose script sends the code, stays empty.
        return visit.show("no_match.html", match_id=match_id_of(visit), is_wrong=False)


async def _show_match(visit: Visit) -> Response:
    async with follow_match(visit) as tail:
        await tail.look_again()
        picked = _read_picked(visit)
        now = scene(tail, visit.words, picked)
        eyes = visit.request.query_params.get("eyes", "")
        link = invitation(visit, code_of(visit))
        is_host = now.is_open and now.own is not None
        return visit.show(
            "match.html",
            scene=now,
            name=visit.visitor.name,
            request_id=str(uuid4()),
            eyes=eyes,
            # With picked pieces, the table differs from that of the stream.
            at="" if picked else table_part(visit.page, visit.words, tail).at,
            people=visit.request.query_params.get("people") == "yes",
            code=code_of(visit),
            link=link,
            qr=draw_qr(link, visit.words("table.invite")) if is_host else "",
            help=help_of(tail, visit.words),
            short=short_of(tail, visit.words),
        )


async def choices(visit: Visit) -> Response:
    """The choices for the picked pieces, as HTML; 409 if the browser asks for those at another position."""
    async with follow_match(visit) as tail:
        shown = scene(tail, visit.words, _read_picked(visit))
        if visit.request.query_params.get("position", shown.position) != shown.position:
            return visit.add_cookies(Response(status_code=409, headers=_PRIVATE))
        parts = ("_pieces.html", "_choices.html") if shown.pieces else ("_choices.html",)
        text = "".join(visit.page.render(part, visit.words, scene=shown) for part in parts)
        return visit.add_cookies(Response(text, media_type="text/html", headers=_PRIVATE))


def _read_picked(visit: Visit) -> list[int]:
    given = visit.request.query_params.getlist("piece")[:MOST_PICKED]
    return [int(piece) for piece in given if piece.isdecimal() and len(piece) < 4]  # noqa: PLR2004 - numbers of pieces


async def choose(visit: Visit) -> Response:
    """Make a choice; the request id makes it count once, even if the form is sent again."""
    form = await visit.form()
    position, choice, request_id = _read(form)
    match = await visit.page.visitors.match(visit.visitor, match_id_of(visit))
    said, status = "table.sent", 200
    try:
        await match.choose(choice, at=position, request_id=request_id)
    except MovedOn:
        said, status = "table.moved_on", 409
    except OutcomeUnknown:
        said, status = "table.unknown", 503
    except Unreachable:
        said, status = "table.not_sent", 503
    return _answer(visit, said, status)


def _read(form: Any) -> tuple[Position, Choice, str]:
    try:
        sequence, _, link = str(form.get("position")).partition(".")
        position = Position(int(sequence), bytes.fromhex(link))
        choice = Choice.FromString(base64.b64decode(str(form.get("choice")), altchars=b"-_", validate=True))
        return position, choice, str(UUID(str(form.get("request_id"))))
    except (ValueError, binascii.Error, DecodeError):
        raise HTTPException(400, "error.form") from None


def _answer(visit: Visit, said: str, status: int = 200) -> Response:
    """Answer a script with a sentence as JSON, and a form with a page."""
    if visit.request.headers.get("accept") == "application/json":
        return visit.add_cookies(JSONResponse({"said": visit.words(said)}, status))
    if status == 200:  # noqa: PLR2004 - it is done
        return visit.go(f"/matches/{match_id_of(visit)}")
    return visit.show("error.html", status=status, said=visit.words(said))


async def join(visit: Visit) -> Response:
    """Join the match."""
    form = await visit.form()
    visit.visitor.rename(str(form.get("name", "")))
    match_id = match_id_of(visit)
    code = str(form.get("code", ""))[:100] or code_of(visit)
    match = await visit.page.visitors.match(visit.visitor, match_id, code)
    await match.join(name=visit.visitor.name or None)
    return keep_invitation(visit, visit.go(f"/matches/{match_id}"), match_id, code)


async def leave(visit: Visit) -> Response:
    """Leave the seat while seats are free."""
    await visit.form()
    match = await visit.page.visitors.match(visit.visitor, match_id_of(visit))
    await match.leave()
    return visit.go("/")


async def resign(visit: Visit) -> Response:
    """Resign from the match."""
    await visit.form()
    match = await visit.page.visitors.match(visit.visitor, match_id_of(visit))
    await match.resign()
    return visit.go(f"/matches/{match_id_of(visit)}")


async def add_bot(visit: Visit) -> Response:
    """Add a bot of the house on the next free seat, or on all of them."""
    form = await visit.form()
    match_id = match_id_of(visit)
    match = await visit.page.visitors.match(visit.visitor, match_id, code_of(visit))
    state = await match.state()
    free = sum(not seat.taken for seat in state.summary.seats)
    for _ in range(free if form.get("all") == "yes" else min(free, 1)):
        await match.add_bot()
    return visit.go(f"/matches/{match_id}")


async def wait_for_people(visit: Visit) -> Response:
    """Move from a table that bots will join to one for people only."""
    await visit.form()
    match = await visit.page.visitors.match(visit.visitor, match_id_of(visit), code_of(visit))
    summary = (await match.state()).summary
    await match.leave()
    table, is_slow = await visit.page.visitors.table(visit.visitor), summary.turn_seconds >= DAY
    name = visit.visitor.name or None
    return visit.go(f"/matches/{(await table.sit_now(summary.game, slow=is_slow, people_only=True, name=name)).id}")


async def rematch(visit: Visit) -> Response:
    """Join the rematch, or open it if this is the first player to ask."""
    await visit.form()
    match = await (await visit.page.visitors.match(visit.visitor, match_id_of(visit), code_of(visit))).rematch()
    state = await match.state()
    if state.perspective.kind != PERSPECTIVE_KIND_SEAT and not all(seat.taken for seat in state.summary.seats):
        await match.join(name=visit.visitor.name or None)
    return keep_invitation(visit, visit.go(f"/matches/{match.id}"), match.id, match.invitation_code)


async def decline(visit: Visit) -> Response:
    """Decline the rematch that asks this player."""
    await visit.form()
    async with follow_match(visit) as tail:
        if tail.news.offer is not None:
            await tail.news.offer.decline()
    return visit.go(f"/matches/{match_id_of(visit)}")


async def save(visit: Visit) -> Response:
    """The match as a replay file."""
    data = await (await match_of(visit)).replay()
    headers = {"content-disposition": f'attachment; filename="{match_id_of(visit)}.rollbook"'}
    return visit.add_cookies(Response(data, media_type="application/octet-stream", headers=headers))


ROUTES: Final = (
    ("GET", "/matches/{match_id}", match_page),
    ("GET", "/matches/{match_id}/choices", choices),
    ("GET", "/matches/{match_id}/file", save),
    ("POST", "/matches/{match_id}/choose", choose),
    ("POST", "/matches/{match_id}/join", join),
    ("POST", "/matches/{match_id}/bot", add_bot),
    ("POST", "/matches/{match_id}/people", wait_for_people),
    ("POST", "/matches/{match_id}/rematch", rematch),
    ("POST", "/matches/{match_id}/decline", decline),
    ("POST", "/matches/{match_id}/leave", leave),
    ("POST", "/matches/{match_id}/resign", resign),
)
