"""Pages of the lobby: find a match, open one, play now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import Response

from rollbook.rules.catalogue import current
from rollbook.rules.options import Option
from rollbook.v1.match_pb2 import MATCH_STATE_RUNNING, MatchSummary
from rollbook_clients.reasons import explain
from rollbook_clients.sdk import LimitReached, Refused, RollbookError, Table
from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.terminal.screens.play_now import waiting
from rollbook_clients.web.admission import keep_invitation
from rollbook_clients.web.browser_preferences import keep_cookie, wants_spoilers
from rollbook_clients.web.changes import ChangingPart
from rollbook_clients.web.live import LiveTables
from rollbook_clients.web.lobby_rows import Row, list_tables, own_row, past_row, select
from rollbook_clients.web.visit import Page, Visit
from rollbook_replays.games import presentation
from rollbook_replays.games.presentation import option_name, option_value
from rollbook_replays.games.thumb import COMMON
from rollbook_replays.games.words import Words

CLOCKS: Final = (0, 30, 60, 120, 300, 86_400)
DELAYS: Final = (0, 30, 60, 300)
ROUND_NUMBERS: Final = (0, 10, 20, 30, 50, 100)
MOST_VALUES: Final = 12
MOST_MINE: Final = 50
GAME: Final = "game"
"""The cookie with the game that was played last."""


def titles() -> dict[str, str]:
    """The title of each game by name: first the game that is explained in the fewest words."""
    names = sorted(current(), key=lambda name: len(presentation(name).texts["en"].get("help", "")))
    return {name: current()[name].title for name in names}


async def lobby(visit: Visit) -> Response:
    """The lobby: the visitor's own matches, the games to play now, tables to watch, and finished matches."""
    return await _show_lobby(visit)


async def _show_lobby(visit: Visit, status: int = 200, **typed: Any) -> Response:
    """The lobby, after a refusal with its reason and what was typed."""
    tail, live = await visit.page.watch_lobby(), await visit.page.watch_tables()
    if tail.version == 0:
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await tail.beyond(0)
    game, people_only = read_filter(visit)
    async with live.viewing():
        listed = _list_facts(live, visit.words, game, people_only=people_only)
        # The name of the state in which the list is now; it may be another one after the next await.
        at = part_of(visit.page, visit.words, live, game, people_only=people_only).at
    spoilers = wants_spoilers(visit)
    facts = {"said": "", "people": False, "slow": False, "name": visit.visitor.proposed_name} | typed
    return visit.show(
        "lobby.html",
        status=status,
        **listed,
        cards=_cards(visit),
        definitions=_definitions(),
        last=_last_game(visit),
        mine=await _own_rows(visit),
        over=[past_row(match, visit.words, spoilers=spoilers) for match in await tail.over()],
        spoilers=spoilers,
        topic=f"lobby.{game}{'.people' * people_only}",
        at=at,
        **facts,
    )


def _cards(visit: Visit) -> list[tuple[str, str, str, str, Markup]]:
    """Name, title, sentence, seats and drawing of each game."""
    cards = []
    for name, title in titles().items():
        game, shown = current()[name], presentation(name)
        words = visit.words.also(shown.texts)
        seats = f"{game.seats[0]}–{game.seats[-1]}"  # noqa: RUF001 - a range
        drawn = "" if shown.thumb is None else shown.thumb.draw(shown.thumb.sample)
        motto = words("motto") if "motto" in words else ""
        cards.append((name, title, motto, seats, Markup(drawn)))  # noqa: S704 - shapes escape what is in them
    return cards


def _definitions() -> Markup:
    thumbs = (presentation(name).thumb for name in current())
    return Markup(COMMON + "".join(thumb.definitions for thumb in thumbs if thumb is not None))  # noqa: S704 - as above


def _last_game(visit: Visit) -> str:
    kept = visit.request.cookies.get(GAME, "")
    return kept if kept in current() else next(iter(titles()))


# The visitor's own matches


async def own_matches(visit: Visit, most: int = MOST_MINE) -> list[MatchSummary]:
    """The visitor's matches, the latest first; empty if the service cannot be reached."""
    mine: list[MatchSummary] = []
    with suppress(RollbookError):
        if visit.visitor.token:
            table = await visit.page.visitors.table(visit.visitor)
            async for summary in table.matches(mine=True):
                mine.append(summary)
                if len(mine) == most:
                    break
    return mine


async def _own_rows(visit: Visit) -> list[Row]:
    """The visitor's matches that are not over: first those that await the visitor, by their clocks."""
    mine = [match for match in await own_matches(visit) if match.state not in OVER]
    if not mine:
        return []
    table = await visit.page.visitors.table(visit.visitor)
    rows = await asyncio.gather(*(_own_row(visit, table, match) for match in mine))
    return sorted(rows, key=lambda row: (not row.awaits_visitor, row.left_ms is None, row.left_ms or 0))


async def _own_row(visit: Visit, table: Table, match: MatchSummary) -> Row:
    state = None
    if match.state == MATCH_STATE_RUNNING:
        with suppress(RollbookError):
            state = await table.match(match.match_id).state()
    return own_row(match, state, visit.words)


# The tables now, as they change


def read_filter(visit: Visit) -> tuple[str, bool]:
    """The game of the query, empty for all, and whether only tables among people are wanted."""
    query = visit.request.query_params
    game = query.get("game", "")
    return game if game in current() else "", query.get("people") == "yes"


def part_of(page: Page, words: Words, live: LiveTables, game: str, *, people_only: bool) -> ChangingPart:
    """The list of tables in this language for a filter, rendered once for all visitors who see the same."""

    def render() -> str:
        return page.render("_matches.html", words, **_list_facts(live, words, game, people_only=people_only))

    key = words.language, game, people_only
    part = live.parts.get(key)
    if part is None:
        part = live.parts[key] = ChangingPart(render)
    part.update(live.version)
    return part


def _list_facts(live: LiveTables, words: Words, game: str, *, people_only: bool) -> dict[str, Any]:
    matches = live.tail.matches
    return {
        "rows": list_tables(matches, live.looks, words, game=game, people_only=people_only),
        "is_away": live.tail.lobby.is_away,
        "titles": titles(),
        "waiting": {name: waiting(matches, name) for name in current()},
        "game": game,
        "people_only": people_only,
        "count": len(select(matches, game="", people_only=False)),
    }


# A new match


async def opening(visit: Visit) -> Response:
    """The form for a new match of a game; without a game, of the one played last."""
    return _show_form(visit, visit.request.query_params.get("game", ""), {})


def _show_form(visit: Visit, game: str, typed: Mapping[str, Any], said: str = "", status: int = 200) -> Response:
    if game not in current():
        game = _last_game(visit)
    rules = current()[game]
    words = visit.words.also(presentation(game).texts)
    options = [
        (
            option,
            option_name(option, words),
            [(str(value), _option_text(option, value, visit)) for value in _values(option)],
        )
        for option in rules.options
    ]
    return visit.show(
        "open.html",
        status=status,
        game=game,
        titles=titles(),
        about=words("help"),
        seats=list(rules.seats),
        options=options,
        clocks=CLOCKS,
        delays=DELAYS,
        name=visit.visitor.proposed_name,
        typed=typed,
        said=said,
    )


def _values(option: Option) -> list[Any]:
    values = list(option.values)
    if len(values) <= MOST_VALUES:
        return values
    return sorted({option.default, *(number for number in ROUND_NUMBERS if number in option.values)})


def _option_text(option: Option, value: Any, visit: Visit) -> str:
    if isinstance(value, bool):
        return visit.words("yes" if value else "no")
    return option_value(option, value, visit.words)


async def open_match(visit: Visit) -> Response:
    """Open a match from the form, join it, and add bots if asked for."""
    form = await visit.form()
    game = str(form.get("game"))
    if game not in current():
        raise HTTPException(400, "error.form")
    rules = current()[game]
    options = {option.name: _read_option(option, form.get(f"option.{option.name}")) for option in rules.options}
    seats = _number(form.get("seats"), rules.seats)
    visit.visitor.rename(str(form.get("name", "")))
    try:
        table = await visit.page.visitors.table(visit.visitor)
        match = await table.open(
            game,
            seats,
            options,
            turn_seconds=_number(form.get("clock"), CLOCKS),
            spectator_delay_seconds=_number(form.get("delay"), DELAYS),
            is_private=form.get("private") == "yes",
        )
        await match.join(name=visit.visitor.name or None)
        with suppress(Refused):  # the table can ask for bots again
            for _ in range(seats - 1 if form.get("bots") == "yes" else 0):
                await match.add_bot()
    except Refused as refused:
        return _show_form(visit, game, form, *_refusal(visit, refused))
    response = keep_invitation(visit, visit.go(f"/matches/{match.id}"), match.id, match.invitation_code)
    return keep_cookie(visit, response, GAME, game)


def _refusal(visit: Visit, refused: Refused) -> tuple[str, int]:
    """The reason with the time to wait, and the status of the answer."""
    return explain(refused, visit.words.language), 429 if isinstance(refused, LimitReached) else 409


def _read_option(option: Option, given: object) -> Any:
    return next((value for value in option.values if str(value) == given), option.default)


def _number(given: object, allowed: Sequence[int]) -> int:
    return next((number for number in allowed if str(number) == given), next(iter(allowed)))


async def play_now(visit: Visit) -> Response:
    """Sit down where a person waits for this game, or at a new table."""
    form = await visit.form()
    game = str(form.get("game"))
    if game not in current():
        raise HTTPException(400, "error.form")
    visit.visitor.rename(str(form.get("name", "")))
    slow, people_only = form.get("slow") == "yes", form.get("people") == "yes"
    try:
        table = await visit.page.visitors.table(visit.visitor)
        match = await table.sit_now(game, slow=slow, people_only=people_only, name=visit.visitor.name or None)
    except Refused as refused:
        said, status = _refusal(visit, refused)
        return await _show_lobby(visit, status, said=said, people=people_only, slow=slow)
    return keep_cookie(visit, visit.go(f"/matches/{match.id}{'?people=yes' * people_only}"), GAME, game)


ROUTES: Final = (
    ("GET", "/", lobby),
    ("GET", "/open", opening),
    ("POST", "/open", open_match),
    ("POST", "/play", play_now),
)
