"""Pages of the lobby: find a match, open one, play now."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from rollbook.rules.catalogue import current
from rollbook.rules.options import Option
from rollbook.v1.match_pb2 import MATCH_STATE_RUNNING, MatchSummary
from rollbook.v1.table_pb2 import PERSPECTIVE_KIND_SEAT
from rollbook_clients.sdk import RollbookError, Table
from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.terminal.screens.play_now import waiting
from rollbook_clients.web.admission import keep_invitation
from rollbook_clients.web.changes import ChangingPart
from rollbook_clients.web.lobby import LobbyTail
from rollbook_clients.web.visit import Page, Visit
from rollbook_replays.games import presentation
from rollbook_replays.games.presentation import option_name, option_value
from rollbook_replays.games.words import Words

CLOCKS: Final = (0, 30, 60, 120, 300, 86_400)
DELAYS: Final = (0, 30, 60, 300)
ROUND_NUMBERS: Final = (0, 10, 20, 30, 50, 100)
MOST_VALUES: Final = 12
MOST_MINE: Final = 50


def titles() -> dict[str, str]:
    """The title of each game, by name."""
    return {name: game.title for name, game in current().items()}


async def lobby(visit: Visit) -> Response:
    """The lobby: the guest's own matches, then open and running ones."""
    tail = await visit.page.watch_lobby()
    if tail.version == 0:
        try:
            async with asyncio.timeout(2):
                await tail.beyond(0)
        except TimeoutError:
            pass
    return visit.show(
        "lobby.html",
        matches=tail.matches,
        mine=await _mine(visit),
        over=await tail.over(),
        is_away=tail.lobby.is_away,
        titles=titles(),
        waiting={game: waiting(tail.matches, game) for game in current()},
        name=visit.visitor.name,
        at=part_of(visit.page, visit.words, tail).at,
    )


async def _mine(visit: Visit) -> list[tuple[MatchSummary, str]]:
    """The guest's matches, each with a text on whose turn it is; empty if the service cannot be reached."""
    if not visit.visitor.token:
        return []
    mine: list[MatchSummary] = []
    try:
        table = await visit.page.visitors.table(visit.visitor)
        async for summary in table.matches(mine=True):
            mine.append(summary)
            if len(mine) == MOST_MINE:
                break
    except RollbookError:
        return []
    turns = await asyncio.gather(*(_turn(visit, table, summary) for summary in mine))
    return sorted(zip(mine, turns, strict=True), key=lambda one: (one[0].state in OVER, not one[1]))


async def _turn(visit: Visit, table: Table, summary: MatchSummary) -> str:
    """A text on whose turn it is; empty if the match awaits no seat."""
    if summary.asks_you:
        return visit.words("lobby.asks")
    if summary.state != MATCH_STATE_RUNNING or not summary.HasField("awaited_seat"):
        return ""
    with suppress(RollbookError):
        state = await table.match(summary.match_id).state()
        if state.perspective.kind == PERSPECTIVE_KIND_SEAT and state.perspective.seat == summary.awaited_seat:
            return visit.words("lobby.your_turn")
    return visit.words("lobby.mine_turn", name=summary.seats[summary.awaited_seat].name or "?")


def part_of(page: Page, words: Words, tail: LobbyTail) -> ChangingPart:
    """The list of open and running matches in this language, rendered once for all."""

    def render() -> str:
        return page.render("_matches.html", words, matches=tail.matches, titles=titles(), is_away=tail.lobby.is_away)

    part = tail.parts.get(words.language)
    if part is None:
        part = tail.parts[words.language] = ChangingPart(render)
    part.update(tail.version)
    return part


async def opening(visit: Visit) -> Response:
    """The form for a new match of one game; without a game, the list of games."""
    game = visit.request.query_params.get("game", "")
    if game not in current():
        return visit.show(
            "games.html", titles=titles(), words_of=lambda name: visit.words.also(presentation(name).texts)
        )
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
        game=game,
        title=rules.title,
        seats=list(rules.seats),
        options=options,
        clocks=CLOCKS,
        delays=DELAYS,
        name=visit.visitor.name,
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
    """Open a match from the form, and join it."""
    form = await visit.form()
    game = str(form.get("game"))
    if game not in current():
        raise HTTPException(400, "error.form")
    rules = current()[game]
    options = {option.name: _read_option(option, form.get(f"option.{option.name}")) for option in rules.options}
    visit.visitor.rename(str(form.get("name", "")))
    table = await visit.page.visitors.table(visit.visitor)
    match = await table.open(
        game,
        _number(form.get("seats"), rules.seats),
        options,
        turn_seconds=_number(form.get("clock"), CLOCKS),
        spectator_delay_seconds=_number(form.get("delay"), DELAYS),
        is_private=form.get("private") == "yes",
    )
    await match.join(name=visit.visitor.name or None)
    return keep_invitation(visit, visit.go(f"/matches/{match.id}"), match.id, match.invitation_code)


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
    table = await visit.page.visitors.table(visit.visitor)
    slow, people_only = form.get("slow") == "yes", form.get("people") == "yes"
    match = await table.sit_now(game, slow=slow, people_only=people_only, name=visit.visitor.name or None)
    return visit.go(f"/matches/{match.id}{'?people=yes' * people_only}")


ROUTES: Final = (
    ("GET", "/", lobby),
    ("GET", "/open", opening),
    ("POST", "/open", open_match),
    ("POST", "/play", play_now),
)
