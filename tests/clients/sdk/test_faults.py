"""Failing networks and killed services: connections are cut, reset, stalled and half-opened, and no event is lost."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rollbook.server.feeds import feed as feeds
from rollbook_clients.sdk import (
    Away,
    Back,
    CaughtUp,
    Event,
    Events,
    Match,
    MovedOn,
    OutcomeUnknown,
    RollbookError,
    Unreachable,
)
from tests.clients.sdk.proxy import FAULTS, Pair, Proxy, harass
from tests.clients.sdk.tables import SEED, events, impatient, play, run, running, table, tables, told, turn, until
from tests.server.feeds.watching import Theatre
from tests.server.test_whole_service import Serving

HURRIED = impatient(answer=1.0, silence=0.5)
"""Limits for this network, in which half a second of silence is long."""

MATCHES = 6
FEWEST = 3
"""Every fault has to happen at least as often while matches are played."""


def chosen(seen: list[Event], seat: int) -> list[int]:
    """Return the sequences of a seat's choices."""
    return [event.sequence for event in seen if (event.kind, event.seat) == ("chosen", seat)]


async def choice_of_two(matches: list[Match]) -> tuple[Match, Events]:
    """Play on to a moment with at least two legal choices; returns the player's match and the moment."""
    while True:
        match, moment = await turn(matches)
        assert moment.legal
        if len(moment.legal) > 1:
            return match, moment
        await match.choose(next(iter(moment.legal)))


def test_nothing_is_lost_doubled_or_chosen_twice_while_connections_fail_at_random(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Players and watchers agree on every event after hundreds of choices through a failing proxy.

    Every watcher has exactly the bytes of the log, and the log has every acknowledged choice once and no other. Further
    matches are played until each fault has happened often enough.
    """
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.1)
    print(f"ROLLBOOK_SEED={SEED}")
    counts = dict.fromkeys(FAULTS, 0)

    async def scenario(theatre: Theatre) -> None:
        random = Random(SEED)
        async with Proxy(theatre.port) as proxy:
            how: dict[str, Any] = {"through": proxy.address, "patience": HURRIED, "seed": SEED}
            async with tables(theatre, "Anna", "Ben", "Cora", **how) as (anna, ben, cora):
                while min(counts.values()) < FEWEST:
                    pairs = [await running([anna, ben]) for _ in range(MATCHES)]
                    watching = [asyncio.create_task(events(cora.match(pair[0].id))) for pair in pairs]
                    harm = asyncio.create_task(harass(proxy, random, counts, 0.5))
                    playing = [asyncio.gather(*(play(match, random) for match in pair)) for pair in pairs]
                    played = await asyncio.gather(*playing)
                    seen = await asyncio.gather(*watching)
                    harm.cancel()
                    await asyncio.gather(harm, return_exceptions=True)
                    for pair, told, mine in zip(pairs, seen, played, strict=True):
                        assert await theatre.stored(pair[0].id) == [event.data for event in told]
                        for seat in range(2):
                            assert chosen(told, seat) == [made.events[0].sequence for made in mine[seat]]
                    frames = sum(len(told) for told in seen)
                    choices = sum(len(made) for mine in played for made in mine)
                    print(f"{frames} events, {choices} choices, {proxy.connections} connections, {counts}")

    run(scenario)


def test_a_choice_whose_outcome_is_unknown_is_settled_before_the_next() -> None:
    """If the answer is lost, the repeated choice is recognised, and a different choice is refused as late."""

    async def scenario(theatre: Theatre) -> None:
        async with Proxy(theatre.port) as proxy:
            how: dict[str, Any] = {"through": proxy.address, "patience": impatient(answer=1.5, call=4.0)}
            async with tables(theatre, "Anna", "Ben", **how) as players:
                for again in (True, False):
                    match, moment = await choice_of_two(await running(players))
                    assert moment.legal
                    before = len(await theatre.stored(match.id))
                    proxy.is_mute = True
                    with pytest.raises(OutcomeUnknown) as caught:
                        await match.choose(next(iter(moment.legal)))
                    assert caught.value.request_id
                    after = len(await theatre.stored(match.id))
                    assert after > before
                    proxy.is_mute = False
                    if again:
                        made = await match.choose(next(iter(moment.legal)))
                        assert (before + 1, after) == (made.events[0].sequence, made.position.sequence)
                    else:
                        with pytest.raises(MovedOn):
                            await match.choose(list(moment.legal)[-1])
                    assert after == len(await theatre.stored(match.id))

    run(scenario)


def test_a_choice_that_was_given_up_is_settled_like_one_that_failed() -> None:
    """After a cancelled call the outcome is unknown too; the next choice first settles it by the same request id."""

    async def scenario(theatre: Theatre) -> None:
        async with Proxy(theatre.port) as proxy, tables(theatre, "Anna", "Ben", through=proxy.address) as players:
            matches = await running(players)
            match, moment = await turn(matches)
            assert moment.legal
            before = len(await theatre.stored(match.id))
            proxy.is_mute = True
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(match.choose(next(iter(moment.legal))), 0.3)
            proxy.is_mute = False
            proxy.each(Pair.cut)
            made = await match.choose(next(iter(moment.legal)))
            assert before + 1 == made.events[0].sequence
            assert made.position.sequence == len(await theatre.stored(match.id))

    run(scenario)


def test_nothing_is_lost_while_the_service_is_killed_and_drained(tmp_path: Path) -> None:
    """`rollbook serve` is killed and drained in turn under two matches and a spectator."""
    print(f"ROLLBOOK_SEED={SEED}")

    async def scenario(serving: Serving) -> None:
        random = Random(SEED)
        patient = impatient(arrival=30.0, answer=2.0)
        async with tables(serving.address, "Anna", "Ben", "Cora", patience=patient) as (anna, ben, cora):
            pairs = [await running([anna, ben]) for _ in range(2)]
            watching = [asyncio.create_task(events(cora.match(pair[0].id))) for pair in pairs]
            harm = asyncio.create_task(stopping(serving, random))
            playing = [asyncio.gather(*(play(match, random) for match in pair)) for pair in pairs]
            played = await asyncio.gather(*playing)
            seen = await asyncio.gather(*watching)
            stops = await harm
            again = [await events(ben.match(pair[0].id)) for pair in pairs]
        assert 3 == stops
        assert [[event.data for event in one] for one in again] == [[event.data for event in one] for one in seen]
        for one, mine in zip(seen, played, strict=True):
            for seat in range(2):
                assert chosen(one, seat) == [made.events[0].sequence for made in mine[seat]]

    async def stopping(serving: Serving, random: Random) -> int:
        stops = (serving.kill_service, serving.end, serving.kill_both)
        for stop in stops:
            await asyncio.sleep(random.uniform(0.2, 0.6))
            await asyncio.to_thread(stop)
            if serving.process.poll() is not None:
                serving.process = serving.start()
        return len(stops)

    serving = Serving(tmp_path / "data")
    try:
        asyncio.run(asyncio.wait_for(scenario(serving), 200))
    finally:
        serving.end()


def test_a_restarted_service_is_come_back_to(tmp_path: Path) -> None:
    """The watcher of a quiet match receives Away and Back, and every event after the restart."""

    async def scenario(serving: Serving) -> None:
        async with tables(serving.address, "Anna", "Ben", patience=impatient(arrival=30.0)) as players:
            matches = await running(players)
            async with aclosing(matches[0].watch()) as frames:
                read = await until(frames, CaughtUp)
                ending = asyncio.create_task(asyncio.to_thread(serving.end))
                read += await until(frames, Away)
                await ending
                serving.process = serving.start()
                read += await until(frames, Back, CaughtUp)
                await matches[1].resign()
                read += [frame async for frame in frames]
            assert [event.data for event in await events(matches[1])] == told(read)

    serving = Serving(tmp_path / "data")
    try:
        asyncio.run(asyncio.wait_for(scenario(serving), 200))
    finally:
        serving.end()


def test_a_table_is_left_at_once_though_a_replaced_connection_hangs() -> None:
    """Ctrl-C must not wait for the deadline of a call on a dead connection."""

    async def scenario(theatre: Theatre) -> None:
        async with Proxy(theatre.port) as proxy:
            patience = impatient(answer=1.0, call=3.0, silence=3_600.0)
            async with table(theatre, "Anna", through=proxy.address, patience=patience) as anna:
                match = await anna.open("cant_stop", 2)
                watching = asyncio.create_task(events(match))
                while not theatre.feeds._feeds.watchers:
                    await asyncio.wait({watching}, timeout=0.01)
                proxy.is_mute = True
                with pytest.raises(Unreachable):
                    await match.state()
            with pytest.raises(RollbookError, match="left"):
                await watching

    run(scenario)
