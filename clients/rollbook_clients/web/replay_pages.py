"""Replays of matches and of uploaded files, one moment at a time.

Without `spoilers=yes` no page of a finished match reveals the winner, the length or the standing in advance. A moment
beyond the end gives the same 404 as any other moment that does not exist.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from cachetools import LRUCache, TTLCache
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from rollbook.replay_file.container import NotAReplay, read
from rollbook.rules.game import Perspective, Watcher
from rollbook.v1.match_pb2 import MATCH_STATE_RUNNING
from rollbook_clients.sdk import Match
from rollbook_clients.terminal.film import Account, Film, NotShown, StillHidden
from rollbook_clients.terminal.known_game import KnownGame
from rollbook_clients.web.admission import match_id_of, match_of
from rollbook_clients.web.log import mark_up
from rollbook_clients.web.surface import plates, surface
from rollbook_clients.web.timeline import timeline
from rollbook_clients.web.visit import Visit
from rollbook_replays.games import presentation
from rollbook_replays.games.seats import Seating
from rollbook_replays.narration import seating_of

MOST_FILMS: Final = 64
"""Most films that this process keeps; others are folded again on demand."""

FETCHED_SECONDS: Final = 60.0
"""Time for which the file of a match is reused while a browser steps through it."""

SHOWN_LINES: Final = 40
LONGEST_WAIT_MS: Final = 10_000
LARGEST_MOMENT: Final = 99_999

_FILMS: LRUCache[str, Film] = LRUCache(MOST_FILMS)
_FETCHED: TTLCache[tuple[str, str], Film] = TTLCache(MOST_FILMS, FETCHED_SECONDS)


@dataclass(frozen=True, slots=True)
class Reel:
    """A film with the names and links for one request."""

    film: Film
    names: Sequence[str]
    """The current names of the seats."""
    path: str
    live: str = ""
    """The address of the running match; empty if it is over, or for an uploaded file."""


def film_of(data: bytes) -> tuple[str, Film]:
    """A file as a film, with its hash as a key; raises 400 or 409 if it cannot be shown."""
    key = hashlib.sha256(data).hexdigest()
    film = _FILMS.get(key)
    if film is None:
        try:
            film = _FILMS[key] = Film(read(data).replay)
        except StillHidden:
            raise HTTPException(409, "replay.hidden") from None
        except (NotAReplay, NotShown):
            raise HTTPException(400, "error.file") from None
    return key, film


async def film_of_match(visit: Visit, match: Match, *, is_fresh: bool) -> Film:
    """The match as far as this browser may see it; uses the cache unless `is_fresh`."""
    key = (match.id, visit.visitor.reference if visit.visitor.token else "")
    if not is_fresh and (kept := _FETCHED.get(key)) is not None:
        return kept
    _, film = await asyncio.to_thread(film_of, await match.replay())
    _FETCHED[key] = film
    return film


def eyes_of(film: Film, wished: str) -> Perspective:
    """The perspective with this name if the file allows it, else the first one that it allows."""
    named: dict[str, Perspective] = {name_of(eyes): eyes for eyes in film.perspectives}
    return named.get(wished, film.perspectives[0])


def name_of(eyes: Perspective) -> str:
    """The name of a perspective in addresses."""
    return eyes.value if isinstance(eyes, Watcher) else f"seat-{eyes}"


async def replay_of_match(visit: Visit) -> Response:
    """The replay of a match of the service so far, with the current names."""
    match = await match_of(visit)
    state = await match.state()
    film = await film_of_match(visit, match, is_fresh=not _wants_data(visit))
    path = f"/matches/{match_id_of(visit)}"
    live = path if state.summary.state == MATCH_STATE_RUNNING else ""
    return _answer(visit, Reel(film, [seat.name for seat in state.summary.seats], f"{path}/replay", live))


async def replay_form(visit: Visit) -> Response:
    """The upload form for a replay file."""
    return visit.show("replay_file.html")


async def replay_of_file(visit: Visit) -> Response:
    """Upload a replay file and redirect to its replay."""
    with visit.hold("uploads"):
        upload = (await visit.form()).get("file")
        if upload is None or isinstance(upload, str):
            raise HTTPException(400, "error.file")
        key, _ = await asyncio.to_thread(film_of, await upload.read())
    return visit.go(f"/replays/{key}")


async def replay_again(visit: Visit) -> Response:
    """An uploaded file at any moment and from any perspective that it allows."""
    key = str(visit.request.path_params["key"])
    film = _FILMS.get(key)
    if film is None:
        raise HTTPException(404, "error.no_page")
    return _answer(visit, Reel(film, film.replay.names or film.opened.names, f"/replays/{key}"))


def _wants_data(visit: Visit) -> bool:
    return visit.request.headers.get("accept") == "application/json"


def _answer(visit: Visit, reel: Reel) -> Response:
    """One moment, as a page or, for scripts, as JSON."""
    eyes = eyes_of(reel.film, visit.request.query_params.get("eyes", ""))
    at = _find_moment(visit, reel.film)
    moment = _moment(visit, reel, at, eyes)
    if _wants_data(visit):
        return visit.add_cookies(JSONResponse(moment))
    return _page(visit, reel, eyes, moment)


def _find_moment(visit: Visit, film: Film) -> int:
    """The requested moment: `at`, or the start of the previous or next turn with `to`; raises 404 beyond the end."""
    given = visit.request.query_params.get("at", "1")
    at = int(given) if given.isascii() and given.isdecimal() and len(given) <= len(str(LARGEST_MOMENT)) else 0
    if not 1 <= at <= len(film):
        raise HTTPException(404, "error.no_moment")
    match visit.request.query_params.get("to", ""):
        case "next":
            return next((turn for turn in film.turns if turn > at), len(film))
        case "previous":
            return next((turn for turn in reversed(film.turns) if turn < at), 1)
    return at


def _moment(visit: Visit, reel: Reel, at: int, eyes: Perspective) -> dict[str, Any]:
    """Board and log of one moment."""
    film, seating = reel.film, _seating(visit, reel, eyes)
    lines = Account(film, eyes).until(at, seating)
    known = KnownGame(film.game, presentation(film.game.name))
    view = film.view(at, eyes)
    table = surface(known, view, seating)
    players = plates(known, view, seating, film.opened.names)
    board = visit.page.render("_surface.html", visit.words, surface=table, players=players)
    is_last = at == len(film)
    wait_ms = 0 if is_last else film.frames[at].time_ms - film.frames[at - 1].time_ms
    return {
        "at": at,
        "eyes": name_of(eyes),
        "where": seating.words("replay.where", number=at, turn=film.turn_at(at)),
        "board": board,
        "lines": [str(mark_up(line.text)) for line in lines if not line.is_implied][-SHOWN_LINES:],
        "wait_ms": min(wait_ms, LONGEST_WAIT_MS),
        "is_last": is_last,
    }


def _seating(visit: Visit, reel: Reel, eyes: Perspective) -> Seating:
    seating = seating_of(reel.film.game, reel.film.opened, eyes, visit.words)
    return replace(seating, names=tuple(reel.names))


def _page(visit: Visit, reel: Reel, eyes: Perspective, moment: dict[str, Any]) -> Response:
    film = reel.film
    seating = _seating(visit, reel, eyes)
    spoils = visit.request.query_params.get("spoilers") == "yes"
    return visit.show(
        "replay.html",
        title=film.game.title,
        game=film.game.name,
        moment=moment | {"board": Markup(moment["board"]), "lines": [Markup(line) for line in moment["lines"]]},  # noqa: S704 - drawn and marked here
        here=reel.path,
        live=reel.live,
        behind=len(film) - moment["at"] if reel.live else 0,
        perspectives=[(name_of(each), _eyes_said(each, seating)) for each in film.perspectives],
        length=len(film) if spoils or reel.live else None,
        timeline=timeline(film, visit.words) if spoils else None,
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
