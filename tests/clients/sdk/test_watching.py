"""Watching through the SDK: one sequence of frames, although the streams beneath it end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from random import Random
from typing import Any, cast

import pytest

from rollbook.match.chain import is_signed, link
from rollbook.server import app
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.feeds import feed as feeds
from rollbook.server.lobby.match_access import Context
from rollbook.server.rpc.feed import FeedServicer
from rollbook.v1.feed_pb2 import LobbyFrame, MatchFrame, WatchLobbyRequest, WatchMatchRequest
from rollbook_clients.sdk import (
    Away,
    Back,
    Beat,
    CaughtUp,
    Confirmed,
    Ended,
    Events,
    FellBehind,
    LogLost,
    Match,
    Position,
    PositionUnknown,
    Revealed,
    Unauthenticated,
)
from tests.clients.sdk.proxy import Pair, Proxy
from tests.clients.sdk.tables import (
    SEED,
    events,
    impatient,
    play,
    run,
    running,
    table,
    tables,
    told,
    turn,
    until,
)
from tests.server.feeds.watching import Theatre


def test_a_watch_tells_a_match_from_its_opening_to_its_end() -> None:
    """Frames come in order: Confirmed, Events, CaughtUp, more Events, Revealed, Ended; the events equal the log."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            matches = await running([anna, ben], "allie_gator")
            async with aclosing(cora.match(matches[0].id).watch()) as frames:
                read = await until(frames, Confirmed, Events, CaughtUp)
                await asyncio.gather(*(play(match, Random(SEED)) for match in matches))
                read += [frame async for frame in frames]
        kinds = [type(frame) for frame in read]
        assert [Events, Revealed, Ended] == [kind for kind in kinds if kind is not Beat][-3:]
        assert await theatre.stored(matches[0].id) == told(read)
        revealed = next(frame for frame in read if isinstance(frame, Revealed))
        assert revealed.outcomes
        last = [frame for frame in read if isinstance(frame, Events)][-1]
        assert last.sealed is not None
        assert Ended(last.position) == read[-1]

    run(scenario)


def test_frames_of_events_have_the_clocks_after_their_last_event() -> None:
    """The seat to choose and a spectator get the same clocks, also right after a change of turn."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            matches = await running([anna, ben], turn_seconds=30, reserve_seconds=60)
            watched = cora.match(matches[0].id)
            seats = []
            async with aclosing(watched.watch()) as frames:
                await until(frames, CaughtUp)
                for number in range(12):
                    match, moment = await turn(matches)
                    seats.append(matches.index(match))
                    assert moment.legal
                    assert moment.clocks
                    assert (seats[-1], moment.events[-1].message.time_ms) == (moment.clocks.seat, moment.clocks.at_ms)
                    theatre.clock.ms += 1_700 * number
                    made = await match.choose(list(moment.legal)[-1])
                    frame: Any = None
                    while frame is None or frame.position != made.position:
                        [*_, frame] = await until(frames, Events)
                    # The test sets the theatre's clock, so this is the same moment.
                    assert (await watched.state()).clocks == frame.clocks
            assert {0, 1} == set(seats)

    run(scenario)


def test_a_watch_without_views_tells_the_same_events() -> None:
    """Watchers that fold or print events do not need tables, and the service sends them none."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            matches = await running([anna, ben])
            await asyncio.gather(*(play(match, Random(SEED)) for match in matches))
            read = [frame async for frame in cora.match(matches[0].id).watch(views=False)]
        assert await theatre.stored(matches[0].id) == told(read)
        assert not any(frame.view.ByteSize() or frame.legal for frame in read if isinstance(frame, Events))

    run(scenario)


def test_a_watch_of_each_event_has_one_event_a_frame() -> None:
    """Live, although a choice and the next throw happen at once; both watches get the same events."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            matches = await running([anna, ben])
            watches = [cora.match(matches[0].id).watch(each_event=each) for each in (True, False)]
            for watch in watches:
                await until(watch, CaughtUp)

            async def rest(watch: Any) -> list[Any]:
                return [frame async for frame in watch if isinstance(frame, Events)]

            playing = [play(match, Random(SEED)) for match in matches]
            single, bundled, *_ = await asyncio.gather(*map(rest, watches), *playing)
        assert told(single) == told(bundled)
        assert len(single) > len(bundled)

    run(scenario)


def test_a_watch_begins_behind_any_position_that_was_seen() -> None:
    """A watch can begin at the end of a finished match; a position of another match is refused as no loss."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            matches = await running(players)
            await asyncio.gather(*(play(match, Random(SEED)) for match in matches))
            seen = await events(matches[0])
            for event in (seen[0], seen[len(seen) // 2], seen[-1]):
                rest = await events(matches[1], after=event.position)
                assert [each.data for each in seen[event.sequence :]] == [each.data for each in rest]
            with pytest.raises(PositionUnknown, match="POSITION_OTHER_LINK"):
                await events(matches[0], after=Position(3, link(b"of another match")))

    run(scenario)


@pytest.mark.parametrize("harm", [Pair.cut, Pair.reset, Pair.half_open])
def test_a_watch_tells_that_it_was_away_and_goes_on_where_it_was(harm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events that happened meanwhile follow once, and no event comes twice."""
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.05)

    async def scenario(theatre: Theatre) -> None:
        async with Proxy(theatre.port) as proxy, tables(theatre, "Anna", "Ben") as players:
            matches = await running(players)
            async with (
                table(theatre, "Cora", through=proxy.address, patience=impatient(silence=3.0)) as cora,
                aclosing(cora.match(matches[0].id).watch()) as frames,
            ):
                read = await until(frames, Confirmed, Events, CaughtUp)
                assert 1 == proxy.each(harm)
                match, moment = await turn(matches)
                assert moment.legal
                await match.choose(next(iter(moment.legal)))
                read += await until(frames, Away, Back, Events, CaughtUp)
            (back,) = [frame for frame in read if isinstance(frame, Back)]
            # A few seconds of silence reveal the loss, and the SDK connects again at once.
            assert 0 < back.seconds < 30
            assert 1 == sum(isinstance(frame, Confirmed) for frame in read)
            assert await theatre.stored(match.id) == told(read)

    run(scenario)


def test_a_watch_sees_with_the_eyes_that_its_caller_has() -> None:
    """A caller who sits down sees as that seat from then on, and as the public after leaving it."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna") as (anna,):
            match = await anna.open("cant_stop", 2)
            async with aclosing(match.watch()) as frames:
                read = await until(frames, Confirmed, CaughtUp)
                await match.join()
                read += await until(frames, Confirmed, CaughtUp)
                await match.leave()
                read += await until(frames, Confirmed, CaughtUp)
            seats = [frame.perspective.HasField("seat") for frame in read if isinstance(frame, Confirmed)]
            assert [False, True, False] == seats
            assert await theatre.stored(match.id) == told(read)
            assert not any(isinstance(frame, Away) for frame in read)

    run(scenario)


def test_a_guest_whose_token_expires_under_a_watch_gets_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch continues with the same perspective, and so do the guest's later calls."""
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.02)

    async def scenario(theatre: Theatre) -> None:
        async with table(f"127.0.0.1:{theatre.port}", "Anna") as anna, table(theatre, "Ben") as ben:
            matches = await running([anna, ben])
            async with aclosing(matches[0].watch()) as frames:
                read = await until(frames, Confirmed, Events, CaughtUp)
                token = anna.token
                theatre.clock.ms += theatre.limits.guest_token_seconds * 1_000
                read += await until(frames, CaughtUp)
                assert token != anna.token
                await matches[0].resign()
                read += [frame async for frame in frames]
            assert 1 == sum(isinstance(frame, Confirmed) for frame in read)
            assert await theatre.stored(matches[0].id) == told(read)

    run(scenario)


def test_a_token_that_was_given_is_used_as_it_is_and_not_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK cannot renew a token that the caller gave; the watch ends with that reason."""
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.02)

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna") as (anna,):
            match = await anna.open("cant_stop", 2)
            async with aclosing(match.watch()) as frames:
                await until(frames, CaughtUp)
                theatre.clock.ms += 10**9 * 2
                with pytest.raises(Unauthenticated, match="TOKEN_EXPIRED"):
                    await until(frames, Ended)
            with pytest.raises(Unauthenticated, match="TOKEN_EXPIRED"):
                await match.state()

    run(scenario)


def test_a_log_that_was_lost_is_told_with_the_head_that_proves_it() -> None:
    """The watch ends, and the exception holds the head that the service signed."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            matches = await running(players)
            async with aclosing(matches[0].watch()) as frames:
                await until(frames, CaughtUp)
                head = matches[0].head
                stream = theatre.log._streams[matches[0].id]
                del stream.entries[-2:]
                with pytest.raises(LogLost) as caught:
                    await until(frames, Ended)
            assert head is not None
            assert (head, matches[0].id) == (caught.value.head, caught.value.match_id)
            key = theatre.head_key.public_key()
            assert is_signed(key, head.match_id, head.sequence, head.link, head.signature)

    run(scenario)


def test_the_lobby_is_always_the_whole_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matches come, change and go; after a lost connection the SDK reports it and sends the complete lobby again."""
    monkeypatch.setattr(app, "LOBBY_SECONDS", 0.02)

    async def scenario(theatre: Theatre) -> None:
        async with Proxy(theatre.port) as proxy, tables(theatre, "Anna", "Ben") as (anna, _):
            first = await anna.open("cant_stop", 2)
            async with (
                table(theatre, "Cora", through=proxy.address) as cora,
                aclosing(cora.lobby("cant_stop")) as lobby,
            ):
                assert [first.id] == [each.match_id for each in (await anext(lobby)).matches]
                second = await anna.open("cant_stop", 2)
                assert [second.id, first.id] == [each.match_id for each in (await anext(lobby)).matches]
                proxy.each(Pair.cut)
                away = await anext(lobby)
                assert (True, 2) == (away.is_away, len(away.matches))
                await theatre.abort(first.id)
                async for now in lobby:
                    if len(now.matches) == 1:
                        break
                assert ([second.id], False) == ([each.match_id for each in now.matches], now.is_away)
                await theatre.abort(second.id)
                assert () == (await anext(lobby)).matches

    run(scenario)


def test_hidden_cards_reach_their_seat_and_nobody_else() -> None:
    """An event has its hidden part only in the feed of a seat that may see it."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            matches = await running([anna, ben], "allie_gator")

            async def hidden(match: Match) -> int:
                async with aclosing(match.watch()) as frames:
                    read = await until(frames, CaughtUp)
                each = [event for frame in read if isinstance(frame, Events) for event in frame.events]
                return sum(event.hidden is not None for event in each)

            assert await hidden(matches[0])
            assert await hidden(matches[1])
            assert 0 == await hidden(cora.match(matches[0].id))

    run(scenario)


def test_many_streams_of_a_guest_share_one_new_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service counts sign-ins by address; twenty watches whose token expires together sign in once."""
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.02)

    async def scenario(theatre: Theatre) -> None:
        async with table(f"127.0.0.1:{theatre.port}", "Anna") as anna, tables(theatre, "Ben", "Cora") as (ben, cora):
            watching = []
            for _ in range(10):
                matches = await running([ben, cora])
                frames = anna.match(matches[0].id).watch()
                await until(frames, CaughtUp)
                watching.append((frames, matches))
            theatre.clock.ms += theatre.limits.guest_token_seconds * 1_000
            again = [asyncio.create_task(until(frames, CaughtUp)) for frames, _ in watching]
            await asyncio.gather(*again)
            for frames, _ in watching:
                await frames.aclose()

    run(scenario, limits=Limits(requests_at_once=10**6, guests_per_address_per_hour=2))


class Newer(FeedServicer):
    """A service that sends frames of a kind that this client does not know."""

    async def WatchMatch(  # noqa: N802 - the contract's name
        self, request: WatchMatchRequest, context: Context
    ) -> AsyncIterator[MatchFrame]:
        """Yield an empty frame before each known one."""
        async with aclosing(cast("AsyncGenerator[MatchFrame]", super().WatchMatch(request, context))) as frames:
            async for frame in frames:
                yield MatchFrame()
                yield frame

    async def WatchLobby(  # noqa: N802 - the contract's name
        self, request: WatchLobbyRequest, context: Context
    ) -> AsyncIterator[LobbyFrame]:
        """Yield an empty frame before each known one."""
        async with aclosing(cast("AsyncGenerator[LobbyFrame]", super().WatchLobby(request, context))) as frames:
            async for frame in frames:
                yield LobbyFrame()
                yield frame


def test_frames_of_a_newer_service_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients ignore frames of later contracts and continue to watch."""
    monkeypatch.setattr(Theatre, "servicer", Newer)

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            matches = await running([anna, ben])
            async with aclosing(cora.match(matches[0].id).watch()) as frames:
                read = await until(frames, Confirmed, Events, CaughtUp)
                await asyncio.gather(*(play(match, Random(SEED)) for match in matches))
                read += [frame async for frame in frames]
            assert await theatre.stored(matches[0].id) == told(read)
            assert Ended in {type(frame) for frame in read}
            async with aclosing(cora.lobby()) as lobby:
                assert [] == [match.match_id for match in (await anext(lobby)).matches]

    run(scenario)


def test_whoever_reads_slowly_is_told_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events come bundled; the watch falls behind, catches up, and has all events."""
    monkeypatch.setattr(feeds, "FELL_BEHIND", 1)

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            matches = await running([anna, ben])
            async with aclosing(cora.match(matches[0].id).watch()) as frames:
                read = await until(frames, CaughtUp)
                playing = asyncio.gather(*(play(match, Random(SEED)) for match in matches))
                read += await until(frames, FellBehind, Events, CaughtUp)
                await playing
                read += [frame async for frame in frames]
            assert await theatre.stored(matches[0].id) == told(read)

    run(scenario)
