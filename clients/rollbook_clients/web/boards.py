"""Boards as SVG files. The address contains everything that a board depends on, so public boards are cached for ever.

A board changes only with a release or the language; names are not part of it. A board that the browser may not see yet
and one that never exists get the same answer.
"""

from __future__ import annotations

import hashlib
import time  # noqa: TID251 - running matches are requested again
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from cachetools import LRUCache
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from rollbook.rules.game import Perspective, Watcher
from rollbook_clients.sdk import Match, RollbookError
from rollbook_clients.terminal.film import Film
from rollbook_clients.web.admission import match_id_of, match_of
from rollbook_clients.web.replay_pages import LARGEST_MOMENT, film_of, name_of
from rollbook_clients.web.static_files import FOR_EVER
from rollbook_clients.web.visit import Visit
from rollbook_clients.web.words import LANGUAGES, words_in
from rollbook_replays.games import presentation

AGAIN_SECONDS: Final = 1.0
MOST_FILMS: Final = 64
PRIVATE: Final = "private, no-store"

_films: LRUCache[tuple[str, str], tuple[float, Film]] = LRUCache(MOST_FILMS)


def _sources(folder: Traversable) -> list[Traversable]:
    found: list[Traversable] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _sources(entry)
        elif entry.name.endswith(".py"):
            found.append(entry)
    return found


REVISION: Final = hashlib.sha256(
    b"".join(source.read_bytes() for source in _sources(files("rollbook_replays.games")))
).hexdigest()[:12]
"""Hash of the code that draws boards."""


async def board(visit: Visit) -> Response:
    """A board as the public sees it."""
    everybody = (await visit.page.everybody()).match(match_id_of(visit))
    return await _draw_response(visit, everybody, Watcher.PUBLIC, FOR_EVER)


async def board_of_seat(visit: Visit) -> Response:
    """A board as seen from this seat, for browsers that may see it."""
    seat = str(visit.request.path_params["seat"])
    if len(seat) != 1 or not seat.isascii() or not seat.isdecimal():
        raise _missing()
    return await _draw_response(visit, await match_of(visit), int(seat), PRIVATE)


async def latest(visit: Visit) -> Response:
    """Redirect to the same board of the current revision."""
    parts = {name: str(visit.request.path_params[name]) for name in ("language", "name")}
    if parts["language"] not in LANGUAGES or not parts["name"].removesuffix(".svg").isdecimal():
        raise _missing()
    path = f"/matches/{match_id_of(visit)}/boards/{REVISION}/{parts['language']}/{parts['name']}"
    return RedirectResponse(path, 302)


async def _draw_response(visit: Visit, match: Match, eyes: Perspective, kept: str) -> Response:
    path = visit.request.path_params
    number = str(path["name"]).removesuffix(".svg")
    is_number = number.isascii() and number.isdecimal() and len(number) <= len(str(LARGEST_MOMENT))
    if path["revision"] != REVISION or path["language"] not in LANGUAGES or not is_number:
        raise _missing()
    who = PRIVATE + visit.visitor.reference if kept == PRIVATE else ""
    film = await _film(match, who, int(number), is_public=eyes is Watcher.PUBLIC)
    if not 1 <= int(number) <= len(film) or name_of(eyes) not in map(name_of, film.perspectives):
        raise _missing()
    shown = presentation(film.game.name)
    if shown.picture is None:
        raise _missing()
    picture = shown.picture(film.view(int(number), eyes), words_in(str(path["language"])).also(shown.texts))
    return Response(picture.standalone(), media_type="image/svg+xml", headers={"cache-control": kept})


async def _film(match: Match, who: str, number: int, *, is_public: bool) -> Film:
    """The match as far as this browser may see it; requested again if it may have reached this event."""
    at, film = _films.get((match.id, who), (0.0, None))
    if film is not None and (number <= len(film) or time.monotonic() - at < AGAIN_SECONDS):
        return film
    try:
        _, film = film_of(await match.replay(public_only=is_public))
    except (RollbookError, HTTPException):
        raise _missing() from None
    _films[match.id, who] = time.monotonic(), film
    return film


def _missing() -> HTTPException:
    return HTTPException(404, "error.no_page")


ROUTES: Final = (
    ("GET", "/matches/{match_id}/boards/{language}/{name}", latest),
    ("GET", "/matches/{match_id}/boards/{revision}/{language}/{name}", board),
    ("GET", "/matches/{match_id}/seats/{seat}/boards/{revision}/{language}/{name}", board_of_seat),
)
