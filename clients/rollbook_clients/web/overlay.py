"""The overlay for video streams: board, names and scores of a match, always inside the frame, without controls."""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from rollbook_clients.sdk import RollbookError
from rollbook_clients.web.admission import PUBLIC, follow_match, match_id_of
from rollbook_clients.web.scenes import scene
from rollbook_clients.web.visit import Visit, wrong

CHOICES: Final = {
    "names": ("left", "right", "below", "off"),
    "scheme": ("dark", "light", "none"),
    "clock": ("on", "off"),
    "log": tuple(map(str, range(6))),
}
"""The values of each option in the address, the default first."""

SCALES: Final = range(50, 201)
SCALE: Final = 100
"""The size of letters in per cent."""


async def overlay(visit: Visit) -> Response:
    """The public board. A match that cannot be shown gives an empty page, which loads itself again."""
    query = visit.request.query_params
    options = {name: query[name] if query.get(name) in values else values[0] for name, values in CHOICES.items()}
    given = query.get("scale", "")
    scale = int(given) if given.isascii() and given.isdecimal() and len(given) < 4 else SCALE  # noqa: PLR2004 - digits
    facts = {"options": options, "scale": scale if scale in SCALES else SCALE}
    status, now = 200, None
    try:
        match_id_of(visit)
        async with follow_match(visit, eyes=PUBLIC) as tail:
            now = scene(tail, visit.words)
    except (HTTPException, RollbookError) as error:
        status, _ = wrong(error)
    return HTMLResponse(visit.page.render("overlay.html", visit.words, scene=now, **facts), status)


ROUTES: Final = (("GET", "/matches/{match_id}/overlay", overlay),)
