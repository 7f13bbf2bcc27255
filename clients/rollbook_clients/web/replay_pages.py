"""Replays: a match, moment by moment, or a file that somebody dropped.

Nobody is told more than was asked for: without `spoilers=yes` no answer has the winner, the length or the standing, and
a moment that there is not is not found, whether it lies behind the end or not.
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
from rollbook_clients.web.log import marked
from rollbook_clients.web.scenes import drawn
from rollbook_clients.web.timeline import timeline
from rollbook_clients.web.visit import Visit
from rollbook_replays.games import presentation
from rollbook_replays.games.seats import Seating, seat_style, sign
from rollbook_replays.narration import seating_of

MOST_FILMS: Final = 64
"""Of one process: the others are folded again when somebody looks at them."""

FETCHED_SECONDS: Final = 60.0
"""For so long the file of a match is not asked for again, while somebody looks at it moment by moment."""

SHOWN_LINES: Final = 40
LONGEST_WAIT_MS: Final = 10_000
LARGEST_MOMENT: Final = 99_999

_FILMS: LRUCache[str, Film] = LRUCache(MOST_FILMS)
_FETCHED: TTLCache[tuple[str, str], Film] = TTLCache(MOST_FILMS, FETCHED_SECONDS)


@dataclass(frozen=True, slots=True)
class Reel:
    """A film, as somebody looks at it."""

    film: Film
    names: Sequence[str]
    """Of the seats, as they may be shown now."""
    path: str
    live: str = ""
    """Where the match is played on; empty if it is over, or a file."""


def film_of(data: bytes) -> tuple[str, Film]:
    """A file as a film, and what it is called here; a file that cannot be shown is refused."""
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
    """What may be seen of a match so far; it is not asked for again while somebody goes from moment to moment."""
    key = (match.id, visit.visitor.reference if visit.visitor.token else "")
    if not is_fresh and (kept := _FETCHED.get(key)) is not None:
        return kept
    _, film = await asyncio.to_thread(film_of, await match.replay())
    _FETCHED[key] = film
    return film


def eyes_of(film: Film, wished: str) -> Perspective:
    """Whose eyes: those that were wished for, if the file allows them."""
    named: dict[str, Perspective] = {name_of(eyes): eyes for eyes in film.perspectives}
    return named.get(wished, film.perspectives[0])


def name_of(eyes: Perspective) -> str:
    """How eyes are named in addresses."""
    return eyes.value if isinstance(eyes, Watcher) else f"seat-{eyes}"


async def replay_of_match(visit: Visit) -> Response:
    """A match of the service, as far as it can be replayed; names are those that the service gives now."""
    match = await match_of(visit)
    state = await match.state()
    film = await film_of_match(visit, match, is_fresh=not _wants_data(visit))
    path = f"/matches/{match_id_of(visit)}"
    live = path if state.summary.state == MATCH_STATE_RUNNING else ""
    return _answer(visit, Reel(film, [seat.name for seat in state.summary.seats], f"{path}/replay", live))


async def replay_form(visit: Visit) -> Response:
    """Where a file can be dropped."""
    return visit.show("replay_file.html")


async def replay_of_file(visit: Visit) -> Response:
    """A file that was dropped."""
    with visit.hold("uploads"):
        upload = (await visit.form()).get("file")
        if upload is None or isinstance(upload, str):
            raise HTTPException(400, "error.file")
        key, _ = await asyncio.to_thread(film_of, await upload.read())
    return visit.go(f"/replays/{key}")


async def replay_again(visit: Visit) -> Response:
    """A file that was dropped, at any moment and by all eyes that it allows."""
    key = str(visit.request.path_params["key"])
    film = _FILMS.get(key)
    if film is None:
        raise HTTPException(404, "error.no_page")
    return _answer(visit, Reel(film, film.replay.names or film.opened.names, f"/replays/{key}"))


def _wants_data(visit: Visit) -> bool:
    return visit.request.headers.get("accept") == "application/json"


def _answer(visit: Visit, reel: Reel) -> Response:
    """One moment: as a page, or as what has to be put into one."""
    eyes = eyes_of(reel.film, visit.request.query_params.get("eyes", ""))
    at = _asked(visit, reel.film)
    seating = _seating(visit, reel, eyes)
    if _wants_data(visit):
        return visit.answered(JSONResponse(_moment(reel.film, at, eyes, seating)))
    return _page(visit, reel, eyes, _moment(reel.film, at, eyes, seating))


def _asked(visit: Visit, film: Film) -> int:
    """Which moment: `at`, or the one that begins the turn before it or behind it. There is none behind the end."""
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


def _moment(film: Film, at: int, eyes: Perspective, seating: Seating) -> dict[str, Any]:
    """Board and words of one moment."""
    lines = Account(film, eyes).until(at, seating)
    known = KnownGame(film.game, presentation(film.game.name))
    is_last = at == len(film)
    wait_ms = 0 if is_last else film.frames[at].time_ms - film.frames[at - 1].time_ms
    return {
        "at": at,
        "eyes": name_of(eyes),
        "where": seating.words("replay.where", number=at, turn=film.turn_at(at)),
        "board": str(drawn(known, film.view(at, eyes), seating)),
        "lines": [str(marked(line.text)) for line in lines if not line.is_implied][-SHOWN_LINES:],
        "wait_ms": min(wait_ms, LONGEST_WAIT_MS),
        "is_last": is_last,
    }


def _seating(visit: Visit, reel: Reel, eyes: Perspective) -> Seating:
    seating = seating_of(reel.film.game, reel.film.opened, eyes, visit.words)
    return replace(seating, names=tuple(reel.names))


def _page(visit: Visit, reel: Reel, eyes: Perspective, moment: dict[str, Any]) -> Response:
    film = reel.film
    seating = _seating(visit, reel, eyes)
    seats = [(sign(seat), seat_style(seat), seating.name(seat)) for seat in range(len(film.opened.names))]
    spoils = visit.request.query_params.get("spoilers") == "yes"
    return visit.show(
        "replay.html",
        title=film.game.title,
        moment=moment | {"board": Markup(moment["board"]), "lines": [Markup(line) for line in moment["lines"]]},  # noqa: S704 - drawn and marked here
        here=reel.path,
        live=reel.live,
        behind=len(film) - moment["at"] if reel.live else 0,
        seats=seats,
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
