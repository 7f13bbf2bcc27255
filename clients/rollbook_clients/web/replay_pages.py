"""Replays: a match that is over, moment by moment, or a file that somebody dropped."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from typing import Any, Final

from cachetools import LRUCache
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from rollbook.replay_file.container import NotAReplay, read
from rollbook.rules.game import Perspective, Watcher
from rollbook_clients.terminal.film import Account, Film, NotShown
from rollbook_clients.terminal.known_game import KnownGame
from rollbook_clients.web.match_pages import match_id_of
from rollbook_clients.web.scenes import drawn, marked
from rollbook_clients.web.visit import Visit
from rollbook_replays.games import presentation
from rollbook_replays.games.seats import Seating, seat_style, sign
from rollbook_replays.narration import seating_of

MOST_FILMS: Final = 64
"""Of one process: the others are folded again when somebody looks at them."""

_FILMS: LRUCache[str, Film] = LRUCache(MOST_FILMS)


def film_of(data: bytes) -> tuple[str, Film]:
    """A file as a film, and what it is called here; a file that cannot be shown is refused."""
    key = hashlib.sha256(data).hexdigest()
    film = _FILMS.get(key)
    if film is None:
        try:
            film = _FILMS[key] = Film(read(data).replay)
        except NotAReplay:
            raise HTTPException(400, "error.file") from None
        except NotShown:
            raise HTTPException(409, "replay.hidden") from None
    return key, film


def eyes_of(film: Film, wished: str) -> Perspective:
    """Whose eyes: those that were wished for, if the file allows them."""
    named: dict[str, Perspective] = {name_of(eyes): eyes for eyes in film.perspectives}
    return named.get(wished, film.perspectives[0])


def name_of(eyes: Perspective) -> str:
    """How eyes are named in addresses."""
    return eyes.value if isinstance(eyes, Watcher) else f"seat-{eyes}"


async def replay_of_match(visit: Visit) -> Response:
    """A match of the service, as far as it can be replayed."""
    match_id = match_id_of(visit)
    if visit.visitor.token:
        match = await visit.page.visitors.match(visit.visitor, match_id)
    else:
        match = (await visit.page.everybody()).match(match_id)
    key, film = await asyncio.to_thread(film_of, await match.replay())
    return _shown(visit, key, film, f"/matches/{match_id}/replay")


async def replay_form(visit: Visit) -> Response:
    """Where a file can be dropped."""
    return visit.show("replay_file.html")


async def replay_of_file(visit: Visit) -> Response:
    """A file that was dropped."""
    form = await visit.form()
    upload = form.get("file")
    if upload is None or isinstance(upload, str):
        raise HTTPException(400, "error.file")
    key, film = await asyncio.to_thread(film_of, await upload.read())
    return _shown(visit, key, film, f"/replays/{key}")


async def replay_again(visit: Visit) -> Response:
    """A file that was dropped a moment ago, at another moment or by other eyes."""
    key = str(visit.request.path_params["key"])
    film = _FILMS.get(key)
    if film is None:
        raise HTTPException(404, "error.no_page")
    if visit.request.headers.get("accept") == "application/json":
        return visit.answered(JSONResponse(_moment(visit, film)))
    return _shown(visit, key, film, f"/replays/{key}")


def _moment(visit: Visit, film: Film) -> dict[str, Any]:
    """Board and words of one moment."""
    eyes = eyes_of(film, visit.request.query_params.get("eyes", ""))
    asked = visit.request.query_params.get("at", "")
    at = min(max(1, int(asked) if asked.isdecimal() and len(asked) < 6 else 1), len(film))  # noqa: PLR2004 - of events
    seating = _seating(visit, film, eyes)
    lines = Account(film, eyes).until(at, seating)
    known = KnownGame(film.game, presentation(film.game.name))
    view = film.view(at, eyes)
    return {
        "at": at,
        "eyes": name_of(eyes),
        "turn": film.turn_at(at),
        "board": str(drawn(known, view, seating)),
        "lines": [str(marked(line.text)) for line in lines if not line.is_implied][-40:],
        "standing": _standing(view),
        "is_last": at == len(film),
    }


def _standing(view: Any) -> list[int]:
    places = getattr(view, "places", ())
    return list(places)


def _seating(visit: Visit, film: Film, eyes: Perspective) -> Seating:
    names = film.replay.names or film.opened.names
    return replace(seating_of(film.game, film.opened, eyes, visit.words), names=tuple(names))


def _shown(visit: Visit, key: str, film: Film, path: str) -> Response:
    moment = _moment(visit, film)
    eyes = eyes_of(film, moment["eyes"])
    seating = _seating(visit, film, eyes)
    seats = [(sign(seat), seat_style(seat), seating.name(seat)) for seat in range(len(film.opened.names))]
    spoils = visit.request.query_params.get("spoilers") == "yes"
    perspectives = [(name_of(each), _eyes_said(each, seating)) for each in film.perspectives]
    return visit.show(
        "replay.html",
        title=film.game.title,
        moment=moment | {"board": Markup(moment["board"]), "lines": [Markup(line) for line in moment["lines"]]},  # noqa: S704 - drawn and marked here
        key=key,
        here=path,
        seats=seats,
        perspectives=perspectives,
        spoils=spoils,
        length=len(film) if spoils else None,
        turns=film.turns if spoils else [],
    )


def _eyes_said(eyes: Perspective, seating: Seating) -> str:
    if isinstance(eyes, Watcher):
        return seating.words(f"replay.eyes.{eyes.value}")
    return seating.name(eyes)


ROUTES: Final = (
    ("GET", "/matches/{match_id}/replay", replay_of_match),
    ("GET", "/replays", replay_form),
    ("POST", "/replays", replay_of_file),
    ("GET", "/replays/{key}", replay_again),
)
