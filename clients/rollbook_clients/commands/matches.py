"""`rollbook matches`: lists matches, and waits until it is your turn in one."""

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter

from rollbook.cli.commands.games import no_such_game
from rollbook.cli.exits import Exit, Failed, usage
from rollbook.cli.game_names import GameName
from rollbook.cli.json_lines import AsJson, print_json
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions
from rollbook.rules.catalogue import current
from rollbook.v1.match_pb2 import (
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    MATCH_STATE_UNSPECIFIED,
    MatchState,
    MatchSummary,
)
from rollbook_clients.commands.operator_text import STRENGTHS, name_of
from rollbook_clients.commands.service_calls import at_the_service
from rollbook_clients.sdk.sync import SyncTable
from rollbook_clients.terminal.profile import Profile

States = Literal["open", "running", "finished", "aborted", "all"]

LIVING: Final = (MATCH_STATE_OPEN, MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING)
PAUSES_SECONDS: Final = (1.0, 2.0, 5.0)
"""Seconds between polls of the caller's matches; the last pause is repeated."""


def matches(  # noqa: PLR0913 - every flag is a parameter
    *,
    state: States = "all",
    game: GameName = "",
    player: str = "",
    mine: Annotated[bool, Parameter(negative="")] = False,
    wait: Annotated[bool, Parameter(negative="")] = False,
    limit: int = 50,
    ids: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
    at: ServiceOptions = LOCAL_SERVICE,
) -> int:
    """List matches of a service: open, running, finished, yours, or a player's.

    One line for each match, the newest first: the id, which `rollbook export`, `show`, `replay` and `watch` take, the
    game, the state, and the players; those who ran out of time or resigned are "out". With --mine you are the guest
    that `rollbook play` made you on this computer, or the owner of --token, and matches that wait for you are marked.

    With --wait it waits until it is your turn in any match, or you have to get ready, prints that match, and ends with
    exit code 0: useful for matches with a day for each move. Exit code 3 if you have no match to wait for, no match
    fits, or no service answers, 1 if the service refuses, 64 if there is no such game.

    Example: `rollbook export $(rollbook matches --mine --state finished --ids) --out files`

    Parameters
    ----------
    state
        Only open, running (or getting ready), finished or aborted matches. Default: all.
    game
        Only matches of this game, by id or title; `rollbook games` lists them.
    player
        Only matches of a player with exactly this display name.
    mine
        Only matches in which you have a seat.
    wait
        Wait until it is your turn in any of them.
    limit
        At most this many. Default: 50.
    ids
        Print only the ids, for other commands.
    as_json
        For programs: one JSON object for each match, a line each. match: its id; game; state: open, getting_ready,
        running, finished or aborted; is_private; names: by seat, empty if it is free or the name was erased; bots: the
        strength of each bot of the house (weak, medium, strong or null) by its seat; taken and
        out: the seats with a player, and of those the ones that resigned or ran out of time, from 0; places: by seat,
        null unless it is finished; opened_ms and changed_ms: the times of the first and the last event, Unix time in
        milliseconds; waits_for_you: true or false with --mine or --wait, else null.
    """
    if limit < 1:
        return usage("--limit must be at least 1")
    if ids and as_json:
        return usage("--ids and --json are two forms of the same list; name one")
    if game and game not in current():
        return no_such_game(game)

    def say(summary: MatchSummary, *, is_on_turn: bool | None) -> None:
        if as_json:
            print_json(match_facts(summary, is_on_turn=is_on_turn))
        else:
            print(summary.match_id if ids else match_line(summary, is_on_turn=bool(is_on_turn)))

    def work(table: SyncTable) -> Exit:
        if wait:
            say(_wait_for_turn(table, game), is_on_turn=True)
            return Exit.GOOD
        found = list(islice(_find_matches(table, state, game, player, mine=mine), limit))
        for summary in found:
            say(summary, is_on_turn=_is_called(table, summary) if mine and not ids else None)
        if not found:
            raise Failed(Exit.UNREADABLE, "no matching match")
        return Exit.GOOD

    return at_the_service("matches", at, work, keep=_guests() if (mine or wait) and not at.token else None)


def match_facts(summary: MatchSummary, *, is_on_turn: bool | None = None) -> dict[str, Any]:
    """The JSON object of a match for --json."""
    seats = list(enumerate(summary.seats))
    return {
        "match": summary.match_id,
        "game": summary.game,
        "state": MatchState.Name(summary.state).removeprefix("MATCH_STATE_").lower(),
        "is_private": summary.is_private,
        "names": [seat.name for _, seat in seats],
        "bots": {str(number): STRENGTHS.get(seat.strength) for number, seat in seats if seat.is_house},
        "taken": [number for number, seat in seats if seat.taken],
        "out": [number for number, seat in seats if seat.forfeited],
        "places": list(summary.places.places) if summary.HasField("places") else None,
        "opened_ms": summary.opened_ms,
        "changed_ms": summary.changed_ms,
        "waits_for_you": is_on_turn,
    }


def match_line(summary: MatchSummary, *, is_on_turn: bool = False) -> str:
    """A match in one line: id, game, state, and the players, ordered by place if the match has a result.

    >>> match_line(MatchSummary(match_id="a" * 24, game="dice", state=3, seats=[{"taken": True, "name": "Anna"}, {}]))
    'aaaaaaaaaaaaaaaaaaaaaaaa  dice         running        Anna, (free)'
    """
    state = MatchState.Name(summary.state).removeprefix("MATCH_STATE_").replace("_", " ").lower()
    seats = [_name(seat) for seat in summary.seats]
    if summary.HasField("places"):
        placed = sorted(zip(summary.places.places, seats, strict=True), key=lambda one: one[0])
        seats = [f"{place}. {name}" for place, name in placed]
    line = f"{summary.match_id}  {summary.game:<11}  {state:<13}  {', '.join(seats)}"
    return f"{line}  (waits for you)" if is_on_turn else line


def _name(seat: MatchSummary.Seat) -> str:
    name = name_of(seat)
    return f"{name} (out)" if seat.forfeited else name


def _find_matches(table: SyncTable, state: States, game: str, player: str, *, mine: bool) -> Iterator[MatchSummary]:
    wanted = {
        "all": [MATCH_STATE_UNSPECIFIED],
        "running": [MATCH_STATE_RUNNING, MATCH_STATE_GETTING_READY],
    }.get(state) or [MatchState.Value(f"MATCH_STATE_{state.upper()}")]
    for each in wanted:
        yield from table.matches(game, each, mine=mine, player=player)


def _is_called(table: SyncTable, summary: MatchSummary) -> bool:
    """Whether this match waits for the caller, to choose or to get ready."""
    if summary.state not in {MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING}:
        return False
    state = table.match(summary.match_id).state()
    if state.summary.state == MATCH_STATE_GETTING_READY:
        return not state.summary.seats[state.perspective.seat].ready
    return state.legal is not None


def _wait_for_turn(table: SyncTable, game: str) -> MatchSummary:
    """Poll until a match waits for the caller, and return it; raises Failed if the caller has no unfinished match."""
    pauses = iter(PAUSES_SECONDS)
    while True:
        living = [summary for each in LIVING for summary in table.matches(game, each, mine=True)]
        if not living:
            raise Failed(Exit.UNREADABLE, "you sit in no match that goes on")
        for summary in living:
            if _is_called(table, summary):
                return summary
        time.sleep(next(pauses, PAUSES_SECONDS[-1]))


def _guests() -> Path:
    return Profile().guests
