"""The clocks in a frame of events are those after its last event, for every reader and at any time."""

from __future__ import annotations

from itertools import pairwise

from rollbook.v1.events_pb2 import Event
from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.table_pb2 import Clocks
from tests.server.feeds.watching import Theatre, Watch, run
from tests.server.rpc.talking import some_choice

TURN_MS, RESERVE_MS, DELAY_MS = 10_000, 60_000, 600_000
THINKING_MS = (3_000, 4_000, 6_000, 500, 9_000, 2_000, 15_000, 1_000, 12_000, 700)
"""Milliseconds per choice; a turn of several choices uses the turn's time first, then the reserve."""


def clocks_after(stored: list[bytes], turn_ms: int, reserve_ms: int) -> dict[int, Clocks]:
    """The clocks after each event, by sequence, computed by plain arithmetic over the choices of two seats.

    Only events before a choice have an entry, because the choice names the awaited seat.
    """
    reserves = [reserve_ms, reserve_ms]
    seat, left, found = None, 0, dict[int, Clocks]()
    for event, following in pairwise(map(Event.FromString, stored)):
        if event.HasField("chosen"):
            from_turn = min(left, event.chosen.charged_ms)
            left -= from_turn
            reserves[event.seat] -= event.chosen.charged_ms - from_turn
        if following.HasField("chosen"):
            if following.seat != seat:
                seat, left = following.seat, turn_ms
            clocks = Clocks(at_ms=event.time_ms, seat=seat, turn_left_ms=left, reserve_left_ms=reserves)
            found[event.sequence] = clocks
    return found


def time_ms(stored: list[bytes], number: int) -> int:
    """The time of the event at this index of the log."""
    return Event.FromString(stored[number]).time_ms


def frames(watch: Watch) -> list[MatchFrame.Events]:
    """The frames of events received so far."""
    return [frame.events for frame in watch.frames if frame.HasField("events")]


def test_every_frame_of_events_has_the_clocks_after_its_last_event() -> None:
    """The clocks are the same live, after catching up later, without views, and with a delay."""

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started(
            turn_seconds=TURN_MS // 1_000,
            reserve_seconds=RESERVE_MS // 1_000,
            spectator_delay_seconds=DELAY_MS // 1_000,
        )
        stranger = world.person("stranger")
        watches = [world.watch(people[0], match_id), world.watch(people[1], match_id, without_views=True)]
        delayed = world.watch(stranger, match_id)
        for watch in (*watches, delayed):
            await watch.until("caught_up")
        seen_early = len(frames(delayed))
        for number, thinking_ms in enumerate(THINKING_MS):
            world.clock.ms += thinking_ms
            person, look = await world.awaited(match_id, people)
            await person.choose(match_id, some_choice(look.legal, number), world.check_head(look.head))
            for watch in watches:
                while (await watch.until("events")).head.sequence < len(await world.stored(match_id)):
                    pass
        stored = await world.stored(match_id)
        # The delayed public sees neither these events nor clocks: for it the match has not begun.
        assert seen_early == len(frames(delayed))
        assert not any(frame.HasField("clocks") for frame in frames(delayed))
        world.clock.ms += 7_777
        late = world.watch(people[0], match_id)
        await late.until("caught_up")
        right = clocks_after(stored, TURN_MS, RESERVE_MS)
        # No choice follows the last one, so `clocks_after` has no entry for it.
        last = frames(late)[-1].clocks
        assert ((await people[0].look(match_id)).summary.awaited_seat, time_ms(stored, -1)) == (last.seat, last.at_ms)
        for sequence in [*list(right)[:4], len(stored)]:
            world.clock.ms = time_ms(stored, sequence - 1) + DELAY_MS
            while (frame := await delayed.until("events")).head.sequence < sequence:
                pass
            assert (sequence, right.get(sequence, last)) == (frame.head.sequence, frame.clocks)
        for watch in watches:
            told = {frame.head.sequence: frame.clocks for frame in frames(watch) if frame.HasField("clocks")}
            assert told == {sequence: right.get(sequence, last) for sequence in told}
            assert len(told) > len(THINKING_MS)
        await world.abort(match_id)
        for watch in (*watches, late, delayed):
            await watch.rest()
            assert not frames(watch)[-1].HasField("clocks")

    run(scenario)


def test_a_match_without_a_clock_has_none_beside_its_events() -> None:
    """As in heartbeats."""

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started()
        watch = world.watch(people[0], match_id)
        await watch.until("caught_up")
        assert not any(frame.HasField("clocks") for frame in frames(watch))
        watch.leave()

    run(scenario)
