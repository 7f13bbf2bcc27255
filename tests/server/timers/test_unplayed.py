"""Matches in which no person ever makes a choice end, and bots leave tables at which no person sits any more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rollbook.match.commands import Choose, GetReady, LeaveSeat, TakeSeat
from rollbook.match.events import BY_OPERATOR, Sealed, SeatLeft, Terms
from rollbook.rules.game import Listed
from rollbook.server.lobby.index_rows import ALONE_SECONDS
from rollbook.v1 import match_pb2, replay_pb2
from rollbook.v1.events_pb2 import ABORT_REASON_BY_OPERATOR
from rollbook_clients.terminal.screens.result import headline
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from tests.server.lobby.archives import Keeper
from tests.server.lobby.archives import run as keep
from tests.server.timers.sweeping import MATCH, SECRET, Replicas, run

DAY_MS = 86_400_000
SAID = {"en": "Ended: no player made a move.", "de": "Beendet: Kein Spieler hat einen Zug gemacht."}
ENDED = [Sealed(None, BY_OPERATOR, SECRET)]
IDLE = Terms(idle_seconds=14 * 86_400, ready_seconds=20)


async def choose(replicas: Replicas) -> None:
    """Let the awaited player make the first legal choice."""
    ledger = await replicas.ledger()
    seat = ledger.awaited_seat
    assert seat is not None
    legal = ledger.game.legal(ledger.match.state)
    assert isinstance(legal, Listed)
    origin = replace(replicas.by(""), player=ledger.players[seat])
    await replicas.services[0].matches.carry_out(MATCH, Choose(origin, ledger.head, legal[0]))


async def pass_by(replicas: Replicas, ms: int) -> None:
    """Let a long time pass: the process sweeps once an hour, so without gaps that are pardoned only near the end."""
    replicas.now_ms += ms
    await replicas.log.beat(replicas.now_ms)
    await replicas.live(61_000)


@pytest.mark.parametrize(
    ("terms", "after_ms"),
    [(IDLE, DAY_MS), (Terms(ready_seconds=20), DAY_MS), (Terms(turn_seconds=86_400, ready_seconds=20), 2 * DAY_MS)],
)
def test_a_match_in_which_no_person_ever_chose_ends_on_time(terms: Terms, after_ms: int) -> None:
    """Also without any time limit; a slow clock has two turns and the reserve."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(terms=replace(terms, reserve_seconds=0), ready=2)
        started_ms = (await replicas.ledger()).started_ms
        await replicas.sweep()
        if terms.turn_seconds:
            # The first turn runs out before; the caretaker's choice is no person's.
            await pass_by(replicas, DAY_MS - 60_000)
        await pass_by(replicas, started_ms + after_ms - replicas.now_ms - 61_000 - 1)
        assert [] == await replicas.events(Sealed)
        await replicas.live(1_000)
        assert ENDED == await replicas.events(Sealed)
        assert (await replicas.ledger()).time_ms - started_ms - after_ms <= 2_000

    run(scenario)


def test_a_match_in_which_a_person_chose_once_goes_on() -> None:
    """A choice of the other seat counts for both."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(terms=IDLE, ready=2)
        await replicas.sweep()
        await choose(replicas)
        await pass_by(replicas, 2 * DAY_MS)
        assert [] == await replicas.events(Sealed)

    run(scenario)


@pytest.mark.parametrize("people", [0, 1])
def test_choices_of_bots_are_no_person_s_and_a_match_of_bots_needs_none(people: int) -> None:
    """A person who never chooses against a bot loses the table; the demo's bots play for as long as they like."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(terms=IDLE, seated=people)
        matches = replicas.services[0].matches
        for seat in range(people, 2):
            await matches.carry_out(MATCH, TakeSeat(replicas.by(f"p{seat}"), house=True))
        closing = (await replicas.ledger()).closing
        assert closing is not None
        for seat in range(2):
            await matches.carry_out(MATCH, GetReady(replicas.by(f"p{seat}"), closing.link))
        ledger = await replicas.ledger()
        if ledger.house[ledger.awaited_seat or 0]:
            await choose(replicas)
        await pass_by(replicas, DAY_MS)
        assert (ENDED if people else []) == await replicas.events(Sealed)

    run(scenario)


def test_bots_leave_a_table_at_which_no_person_sits_any_more() -> None:
    """All at once, after two minutes; a person who sits keeps them, and so do closed seats."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(terms=Terms(open_seconds=3_600, ready_seconds=20), seated=1)
        matches = replicas.services[0].matches
        await matches.carry_out(MATCH, TakeSeat(replicas.by("p1"), house=True))
        other = "b" * 24
        await replicas.open(terms=Terms(open_seconds=3_600, ready_seconds=20), seated=0, match_id=other)
        await matches.carry_out(other, TakeSeat(replicas.by("bot"), house=True))
        await matches.carry_out(other, TakeSeat(replicas.by("p0")))
        await replicas.live(19_000)
        assert [] == await replicas.events(SeatLeft, other)
        third = "c" * 24
        await replicas.open(terms=Terms(open_seconds=3_600, ready_seconds=20), seated=1, match_id=third)
        await matches.carry_out(third, LeaveSeat(replicas.by("p0")))
        await matches.carry_out(third, TakeSeat(replicas.by("bot"), house=True))
        await replicas.live(ALONE_SECONDS * 1_000 - 1)
        assert 1 == len(await replicas.events(SeatLeft, third))
        await replicas.live(1)
        assert [SeatLeft(0), SeatLeft(0)] == await replicas.events(SeatLeft, third)
        assert not any((await replicas.services[0].replicas.ledger(third)).match.taken)

    run(scenario)


def test_the_file_of_such_a_match_is_exact(tmp_path: Path) -> None:
    """It is sealed like a match that an operator aborted, which every reader knows."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.started()
        sweeper = keeper.service.sweeper()
        for ms in (0, DAY_MS, *[1_000] * 61):
            keeper.clock.ms += ms
            await keeper.store.beat(keeper.clock.ms)
            await sweeper.sweep()
        summary = (await people[0].look(match_id)).summary
        assert (match_pb2.MATCH_STATE_ABORTED, ABORT_REASON_BY_OPERATOR) == (summary.state, summary.aborted.reason)
        assert summary.unplayed
        for language, sentence in SAID.items():
            assert sentence == headline(summary, Seating(("Anna", "Tom"), None, {}, Words(language)))
        data = await keeper.replay(people[1], match_id)
        assert replay_pb2.VERDICT_EXACT == (await keeper.audit(people[0], data)).verdict

    keep(scenario, tmp_path)
