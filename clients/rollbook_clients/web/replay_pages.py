"""Replays of matches and of uploaded files, one moment at a time.

Without the cookie `spoilers` no page of a finished match reveals the winner, the length or the standing in advance. A
moment beyond the end gives the same 404 as any other moment that does not exist. The address contains the moment (`at`)
and, if it is another one, the furthest moment that the viewer has seen (`far`).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

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
from rollbook_clients.web.browser_preferences import wants_spoilers
from rollbook_clients.web.log import mark_up
from rollbook_clients.web.surface import plates, surface
from rollbook_clients.web.timeline import Outline, Scale, outline_of, strip, track
from rollbook_clients.web.visit import Visit
from rollbook_replays.games import presentation
from rollbook_replays.games.seats import Seating
from rollbook_replays.narration import seating_of

MOST_FILMS: Final = 64
"""Most films that this process keeps; others are folded again on demand."""

FETCHED_SECONDS: Final = 60.0
"""Time for which the file of a match is reused while a browser steps through it."""

SHOWN_EVENTS: Final = 40
LONGEST_WAIT_MS: Final = 10_000
LARGEST_MOMENT: Final = 99_999

_FILMS: LRUCache[str, Film] = LRUCache(MOST_FILMS)
_FETCHED: TTLCache[tuple[str, str], Film] = TTLCache(MOST_FILMS, FETCHED_SECONDS)
_ACCOUNTS: LRUCache[tuple[Film, Perspective, str, tuple[str, ...]], Account] = LRUCache(MOST_FILMS)
"""Accounts by film, perspective, language and names, so that each sentence is written once."""


@dataclass(frozen=True, slots=True)
class Reel:
    """A film with the names and links for one request."""

    film: Film
    names: Sequence[str]
    """The current names of the seats."""
    path: str
    match_id: str = ""
    """Empty for an uploaded file."""
    live: str = ""
    """The address of the running match; empty if it is over, or for an uploaded file."""

    def link(self, at: int, furthest: int = 0, eyes: str = "", to: str = "") -> str:
        """The address of a moment, for a viewer who has seen the match up to `furthest`."""
        query: dict[str, object] = {"at": at}
        if furthest > at:
            query["far"] = furthest
        query |= {name: value for name, value in (("eyes", eyes), ("to", to)) if value}
        return f"{self.path}?{urlencode(query)}"


@dataclass(frozen=True, slots=True)
class Shot:
    """One moment of a film for one viewer."""

    reel: Reel
    eyes: Perspective
    outline: Outline
    scale: Scale
    at: int


@dataclass(frozen=True, slots=True)
class LoggedLine:
    """A sentence of the log."""

    id: str
    event: int
    text: Markup


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
    names = [seat.name for seat in state.summary.seats]
    return await _answer(visit, Reel(film, names, f"{path}/replay", match_id_of(visit), live))


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
    return await _answer(visit, Reel(film, film.replay.names or film.opened.names, f"/replays/{key}"))


def _wants_data(visit: Visit) -> bool:
    return visit.request.headers.get("accept") == "application/json"


async def _answer(visit: Visit, reel: Reel) -> Response:
    """One moment, as a page or, for scripts, as JSON."""
    shot = await _find_shot(visit, reel)
    facts = _facts(visit, shot)
    if not _wants_data(visit):
        return visit.show("replay.html", **facts)
    html = visit.page.render("_replay.html", visit.words, **facts)
    keys = ("at", "furthest", "wait_ms", "is_last")
    return visit.add_cookies(JSONResponse({"html": html, **{key: facts[key] for key in keys}}))


async def _find_shot(visit: Visit, reel: Reel) -> Shot:
    """The shot that the request is about; raises 404 beyond the end."""
    outline = await asyncio.to_thread(outline_of, reel.film)
    eyes = eyes_of(reel.film, visit.request.query_params.get("eyes", ""))
    is_whole = bool(reel.live) or wants_spoilers(visit)
    at, scale = _find_moment(visit, reel.film, outline, is_whole=is_whole)
    return Shot(reel, eyes, outline, scale, at)


def _find_moment(visit: Visit, film: Film, outline: Outline, *, is_whole: bool) -> tuple[int, Scale]:
    """The requested moment, and the scale up to the furthest one that the viewer has seen; raises 404 beyond the end.

    The moment is `at`, or with `slide` the event at that value of the slider, or with `to` the start of the turn
    before or after `at`; without all of them the first throw or draw.
    """
    at = _read_moment(visit, "at", film, outline.first)
    furthest = len(film) if is_whole else max(at, outline.first, _read_moment(visit, "far", film, 1))
    match visit.request.query_params.get("to", ""):
        case "next":
            at = next((turn for turn in film.turns if turn > at), len(film))
        case "previous":
            at = next((turn for turn in reversed(film.turns) if turn < at), outline.first)
    slide = visit.request.query_params.get("slide", "")
    if slide.isascii() and slide.isdecimal() and len(slide) <= len(str(LARGEST_MOMENT)):
        at = Scale(outline.first, furthest, is_whole).event(int(slide))
    return at, Scale(outline.first, max(at, furthest), is_whole)


def _read_moment(visit: Visit, name: str, film: Film, otherwise: int) -> int:
    """The number of an event in the query; raises 404 if the film does not have it."""
    given = visit.request.query_params.get(name)
    if given is None:
        return otherwise
    at = int(given) if given.isascii() and given.isdecimal() and len(given) <= len(str(LARGEST_MOMENT)) else 0
    if not 1 <= at <= len(film):
        raise HTTPException(404, "error.no_moment")
    return at


def _facts(visit: Visit, shot: Shot) -> dict[str, Any]:
    """The values for the templates: table, log and controls at one moment."""
    reel, eyes, outline, scale, at = shot.reel, shot.eyes, shot.outline, shot.scale, shot.at
    film, seating = reel.film, _seating(visit, reel, eyes)
    known = KnownGame(film.game, presentation(film.game.name))
    view = film.view(at, eyes)
    lines = _log(film, eyes, at, seating)
    is_last = at == len(film)
    wait_ms = 0 if is_last else film.frames[at].time_ms - film.frames[at - 1].time_ms
    return {
        "reel": reel,
        "title": film.game.title,
        "surface": surface(known, view, seating),
        "players": plates(known, view, seating, film.opened.names),
        "at": at,
        "first": outline.first,
        "furthest": scale.furthest,
        "is_whole": scale.is_whole,
        "is_last": is_last,
        "wait_ms": min(wait_ms, LONGEST_WAIT_MS),
        "turn": film.turn_at(at),
        "newest": next((line.text for line in reversed(lines) if line.event == lines[0].event), ""),
        "lines": lines,
        "eyes": name_of(eyes),
        "perspectives": [(name_of(each), _eyes_said(each, seating)) for each in film.perspectives],
        "slide": scale.value(at),
        "slide_end": scale.end,
        "track": track(outline, scale, at, seating),
        "strip": strip(outline, scale, seating),
        "behind": len(film) - at if reel.live else 0,
    }


def _log(film: Film, eyes: Perspective, at: int, seating: Seating) -> list[LoggedLine]:
    """The sentences of the last events up to this moment, the newest event first."""
    key = (film, eyes, seating.words.language, seating.names)
    account = _ACCOUNTS.get(key)
    if account is None:
        account = _ACCOUNTS[key] = Account(film, eyes)
    lines: list[LoggedLine] = []
    for event in range(at, max(0, at - SHOWN_EVENTS), -1):
        texts = [each.text for each in account.of(event, seating) if not each.is_implied]
        lines += (LoggedLine(f"line-{event}-{number}", event, mark_up(text)) for number, text in enumerate(texts, 1))
    return lines


def _seating(visit: Visit, reel: Reel, eyes: Perspective) -> Seating:
    seating = seating_of(reel.film.game, reel.film.opened, eyes, visit.words)
    return replace(seating, names=tuple(reel.names), bots=reel.film.bots(visit.words))


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
