"""Feeds over a real gRPC server, for every position, every state of a match, and every next event."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import grpc
import pytest

from rollbook.identity.tokens import Role
from rollbook.match.chain import Entry
from rollbook.match.codec.envelope import Logged, write_bytes
from rollbook.match.codec.stubs import stubs_of
from rollbook.match.events import Chosen
from rollbook.rules.cant_stop.moves import Stop
from rollbook.rules.catalogue import current, find
from rollbook.server import app
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.feeds import feed as feeds
from rollbook.server.replica.history import History
from rollbook.server.rpc import feed as feed_service
from rollbook.storage.embedded.server import find_server
from rollbook.v1 import feed_pb2, match_pb2, table_pb2
from rollbook.v1.table_pb2 import Position
from tests.server.feeds.watching import Theatre, Watch, numbers, run
from tests.server.replica.spoiling import Spoiler
from tests.server.replica.spoiling import run as on_a_store
from tests.server.rpc.talking import Person, Refused, entropy, refusal, some_choice
from tests.storage.servers import Server, running

NEVER = "a" * 24
SEATS = {name: game.seats[0] for name, game in current().items()}

POSITIONS = ("nothing", "first", "before the head", "head", "head with another link", "beyond")
STATES = ("not started", "running", "sealed", "aborted", "unknown", "private")
HAPPENINGS = ("event", "seal", "drain", "Redis restart")

NOT_FOUND = (grpc.StatusCode.NOT_FOUND, "MATCH_NOT_FOUND")
REFUSED_STATES = {"unknown": NOT_FOUND, "private": NOT_FOUND}
REFUSED_POSITIONS = {
    "head with another link": (grpc.StatusCode.OUT_OF_RANGE, "POSITION_OTHER_LINK"),
    "beyond": (grpc.StatusCode.OUT_OF_RANGE, "POSITION_AHEAD"),
}
OVER = {"sealed", "aborted"}
THEN = {"event": ["events"], "seal": ["events", "revealed", "ended"], "drain": ["ended"], "Redis restart": ["events"]}
REASONS = {"seal": feed_pb2.END_REASON_MATCH_OVER, "drain": feed_pb2.END_REASON_DRAINING}


async def staged(world: Theatre, state: str) -> tuple[str, list[Person]]:
    """A match in this state."""
    if state in {"not started", "unknown"}:
        return await world.seated()
    match_id, people = await world.started(is_private=state == "private")
    await choose(world, match_id, people)
    if state == "sealed":
        await people[0].call("Resign", match_id=match_id)
    elif state == "aborted":
        await world.abort(match_id)
    return match_id, people


async def choose(world: Theatre, match_id: str, people: list[Person], number: int = 0) -> None:
    """One choice by the awaited player."""
    person, look = await world.awaited(match_id, people)
    await person.choose(match_id, some_choice(look.legal, number), world.check_head(look.head))


async def placed(world: Theatre, match_id: str, position: str) -> tuple[int, Position | None]:
    """The number of events before a position, and the position."""
    head = len(await world.stored(match_id))
    if position == "nothing":
        return 0, None
    if position == "beyond":
        return head + 1, Position(sequence=head + 1, link=bytes(32))
    if position == "head with another link":
        return head, Position(sequence=head, link=bytes(32))
    sequence = {"first": 1, "before the head": head - 1, "head": head}[position]
    return sequence, await world.position(match_id, sequence)


async def happen(world: Theatre, happening: str, state: str, match_id: str, people: list[Person]) -> None:
    """Let this happen; a match that is over does not change."""
    if happening == "drain":
        await world.feeds.drain()
        return
    if isinstance(world, Spoiler) and happening == "Redis restart":
        await world.restart_store()
    if state in OVER:
        return
    if happening == "seal":
        await world.abort(match_id)
    elif state == "not started":
        closing = (await people[0].look(match_id)).head.link
        await people[1].call("Ready", match_id=match_id, closing_link=closing, entropy=entropy(1))
    else:
        await choose(world, match_id, people)


@pytest.mark.parametrize(("position", "state", "happening"), [*product(POSITIONS, STATES, HAPPENINGS)])
def test_a_watch_from_any_position_of_any_match_is_told_what_there_is_and_what_follows(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, position: str, state: str, happening: str
) -> None:
    """Each event after the position comes once and in order, then the next happening; or the call is refused.

    A killed and restarted store goes unnoticed by watchers.
    """

    async def scenario(world: Theatre) -> None:
        match_id, people = await staged(world, state)
        after, asked = await placed(world, match_id, position)
        before = await world.stored(match_id)
        watcher = world.person("watcher")
        watched = NEVER if state == "unknown" else match_id
        watch = world.watch(watcher, watched, position=asked)
        expected = REFUSED_STATES.get(state) or REFUSED_POSITIONS.get(position)
        if expected is not None:
            await assert_refused(world, await refusal(watch.next()), expected, match_id)
            if isinstance(world, Spoiler):
                await world.restart_store()
                again = world.watch(watcher, watched, position=asked)
                await assert_refused(world, await refusal(again.next()), expected, match_id)
            return
        await watch.until("caught_up")
        behind = ["events"] if after < len(before) else []
        assert ["confirmed", *behind, "caught_up"] == watch.kinds
        assert before[after:] == watch.told
        await happen(world, happening, state, match_id, people)
        over = state in OVER
        then = THEN["seal"][1:] if over else THEN[happening]
        for wanted in then:
            await watch.until(wanted)
        assert ["confirmed", *behind, "caught_up", *then] == watch.kinds
        assert (await world.stored(match_id))[after:] == watch.told
        await assert_consistent(world, watcher, match_id, watch, after)
        if then[-1] == "ended":
            ended = watch.frames[-1].ended
            assert REASONS["seal" if over else happening] == ended.reason
            assert await world.position(match_id, after + len(watch.told)) == ended.position
            assert "ended" == (await watch.rest())[-1]
        watch.leave()

    if happening == "Redis restart":
        # Without this the guard for lost logs would hide a tailer that does not return.
        monkeypatch.setattr(feeds, "GUARD_SECONDS", 3_600)
        on_a_store(request.getfixturevalue("valkey"), scenario)
    else:
        run(scenario)


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that tests kill and start again."""
    with running(find_server(), tmp_path_factory.mktemp("valkey")) as server:
        yield server


async def assert_refused(world: Theatre, told: Refused, expected: tuple[grpc.StatusCode, str], match_id: str) -> None:
    """The call gets the expected refusal, with the head if the watcher may see the match."""
    assert expected == (told.code, told.reason)
    if expected == NOT_FOUND:
        assert not told.detail.HasField("position")
    else:
        head = len(await world.stored(match_id))
        assert str(head) == told.facts["head"]
        assert await world.position(match_id, head) == told.detail.position


async def assert_consistent(world: Theatre, watcher: Person, match_id: str, watch: Watch, after: int) -> None:
    """Positions and heads match the log, and the last view equals that of GetMatch."""
    at = after
    assert await world.position(match_id, after) == watch.frames[0].confirmed.position
    world.check_head(watch.frames[0].confirmed.head)
    for frame in watch.frames:
        if frame.HasField("events"):
            at += len(frame.events.events)
            assert await world.position(match_id, at) == world.check_head(frame.events.head)
        if frame.HasField("caught_up"):
            assert await world.position(match_id, at) == frame.caught_up.position
    last = next((frame.events for frame in reversed(watch.frames) if frame.HasField("events")), None)
    look = await watcher.look(match_id)
    if last is not None and last.head == look.head:
        assert look.view == last.view


def test_a_position_whose_link_has_another_length_is_malformed() -> None:
    """The reason is the same as for a choice."""

    async def scenario(world: Theatre) -> None:
        match_id, _ = await world.seated()
        told = await refusal(world.watch(world.person("w"), match_id, position=Position(sequence=1)).next())
        assert (grpc.StatusCode.INVALID_ARGUMENT, "POSITION_MALFORMED") == (told.code, told.reason)

    run(scenario)


def test_heartbeats_bring_signed_heads_and_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heartbeat proves to an idle watcher that no event is missing."""
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.02)

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started(turn_seconds=10, reserve_seconds=20)
        watch = world.watch(world.person("watcher"), match_id)
        await watch.until("caught_up")
        head = await world.position(match_id, len(await world.stored(match_id)))
        world.clock.ms += 12_000
        beat = await watch.beat()
        while beat.clocks.at_ms != world.clock.ms:
            beat = await watch.beat()
        assert head == world.check_head(beat.head)
        assert (await people[0].look(match_id)).clocks == beat.clocks
        watch.leave()

    run(scenario)


def test_a_watcher_that_takes_a_seat_resumes_with_the_eyes_of_the_seat() -> None:
    """The feed ends with its position; the next feed confirms the seat's perspective and misses no event."""

    async def scenario(world: Theatre) -> None:
        person = world.person("p0")
        match_id = (await person.open()).match_id
        watch = world.watch(person, match_id)
        await watch.until("caught_up")
        assert table_pb2.PERSPECTIVE_KIND_PUBLIC == watch.frames[0].confirmed.perspective.kind
        await person.call("TakeSeat", match_id=match_id)
        await watch.rest()
        ended = watch.frames[-1].ended
        assert feed_pb2.END_REASON_PERSPECTIVE_CHANGED == ended.reason
        again = world.watch(person, match_id, position=ended.position)
        await again.until("caught_up")
        perspective = again.frames[0].confirmed.perspective
        assert (table_pb2.PERSPECTIVE_KIND_SEAT, 0) == (perspective.kind, perspective.seat)
        assert await world.stored(match_id) == watch.told + again.told
        again.leave()

    run(scenario)


def test_a_feed_ends_when_its_token_expires_though_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The feed of a match and that of the lobby both end; with a new token the client resumes."""
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.02)
    monkeypatch.setattr(app, "LOBBY_SECONDS", 0.02)

    async def scenario(world: Theatre) -> None:
        match_id, _ = await world.started()
        guest = world.nobody(world.token("guest", lifetime=100))
        watch, lobby = world.watch(guest, match_id), world.lobby(guest)
        await watch.until("caught_up")
        await lobby.until("snapshot")
        world.clock.ms += 100_000
        for feed in (watch, lobby):
            assert "ended" == (await feed.rest())[-1]
            assert feed_pb2.END_REASON_TOKEN_EXPIRED == feed.frames[-1].ended.reason
        assert await world.position(match_id, len(watch.told)) == watch.frames[-1].ended.position
        told = await refusal(world.watch(guest, match_id).next())
        assert (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED") == (told.code, told.reason)

    run(scenario)


def test_a_subject_watches_so_many_feeds_and_no_more() -> None:
    """Feeds of matches and of the lobby count together.

    An ended feed makes room, and other subjects are not affected.
    """

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started()
        watches = [world.watch(people[0], match_id), world.lobby(people[0])]
        for watch in watches:
            await watch.next()
        for feed in (world.watch(people[0], match_id), world.lobby(people[0])):
            told = await refusal(feed.next())
            assert (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_WATCHES") == (told.code, told.reason)
            assert "2" == told.facts["limit"]
        other = world.watch(people[1], match_id)
        await other.until("caught_up")
        watches[1].leave()
        again = None
        while again is None:
            again = await accepted(world.watch(people[0], match_id))
        await again.until("caught_up")
        for watch in (watches[0], other, again):
            watch.leave()

    run(scenario, limits=Limits(requests_at_once=10**6, watches_per_subject=2))


async def accepted(watch: Watch) -> Watch | None:
    """The watch, or None if it is refused."""
    try:
        await watch.next()
    except grpc.aio.AioRpcError:
        return None
    return watch


@pytest.mark.parametrize("reason", [feed_pb2.END_REASON_TOKEN_EXPIRED, feed_pb2.END_REASON_DRAINING])
def test_the_feed_of_a_lobby_outlives_what_ends_that_of_a_match(monkeypatch: pytest.MonkeyPatch, reason: int) -> None:
    """A taken seat or a finished match ends only the match feed; expiry and drain end both."""
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.02)
    monkeypatch.setattr(app, "LOBBY_SECONDS", 0.02)

    async def scenario(world: Theatre) -> None:
        guest = world.nobody(world.token("guest", lifetime=100))
        lobby = world.lobby(guest)
        await lobby.until("snapshot")
        match_id = (await world.person("opener").open()).match_id
        # A match that opens and ends between two looks is never sent.
        await lobby.until("changed")
        watch = world.watch(guest, match_id)
        await watch.until("caught_up")
        await guest.call("TakeSeat", match_id=match_id)
        await watch.rest()
        assert feed_pb2.END_REASON_PERSPECTIVE_CHANGED == watch.frames[-1].ended.reason
        await world.abort(match_id)
        while (await lobby.until("changed")).match.state != match_pb2.MATCH_STATE_ABORTED:
            pass
        await lobby.beat()
        if reason == feed_pb2.END_REASON_DRAINING:
            await world.feeds.drain()
        else:
            world.clock.ms += 100_000
        await lobby.rest()
        assert reason == lobby.frames[-1].ended.reason

    run(scenario)


def test_the_lobby_tells_what_there_is_and_what_becomes_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening, seating, start and end are each sent once; choices are not, and private matches never."""
    monkeypatch.setattr(app, "LOBBY_SECONDS", 0.02)

    async def scenario(world: Theatre) -> None:
        watcher = world.person("watcher")
        lobby, raffzahn = world.lobby(watcher), world.lobby(watcher, "raffzahn")
        for feed in (lobby, raffzahn):
            snapshot = await feed.until("snapshot")
            assert (0, True, True) == (len(snapshot.matches), snapshot.first, snapshot.last)
        private = (await watcher.open(is_private=True)).match_id
        await watcher.call("TakeSeat", match_id=private, invitation_code=world.service.players.invitation_code(private))
        person = world.person("p0")
        match_id = (await person.open()).match_id
        changed = (await lobby.until("changed")).match
        assert (match_id, match_pb2.MATCH_STATE_OPEN) == (changed.match_id, changed.state)
        await person.call("TakeSeat", match_id=match_id)
        changed = (await lobby.until("changed")).match
        assert [True, False] == [seat.taken for seat in changed.seats]
        await world.abort(match_id)
        changed = (await lobby.until("changed")).match
        assert (match_id, match_pb2.MATCH_STATE_ABORTED) == (changed.match_id, changed.state)
        match_id, people = await world.started()
        while (await lobby.until("changed")).match.state != match_pb2.MATCH_STATE_RUNNING:
            pass
        await choose(world, match_id, people)
        await people[0].call("Resign", match_id=match_id)
        changed = (await lobby.until("changed")).match
        while changed.state == match_pb2.MATCH_STATE_RUNNING:
            assert any(seat.forfeited for seat in changed.seats)
            changed = (await lobby.until("changed")).match
        assert (match_id, match_pb2.MATCH_STATE_FINISHED) == (changed.match_id, changed.state)
        await world.feeds.drain()
        for feed in (lobby, raffzahn):
            await feed.rest()
            assert feed_pb2.END_REASON_DRAINING == feed.frames[-1].ended.reason
        assert ["snapshot", "ended"] == raffzahn.kinds
        assert private not in {frame.changed.match.match_id for frame in lobby.frames}

    run(scenario)


def test_a_large_lobby_comes_in_parts_and_a_quiet_one_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first and the last part are marked; the newest matches come first."""
    monkeypatch.setattr(app, "LOBBY_SECONDS", 0.01)
    monkeypatch.setattr(feed_service, "SUMMARIES_A_FRAME", 2)

    async def scenario(world: Theatre) -> None:
        early = world.lobby(world.person("watcher"))
        assert [] == list((await early.until("snapshot")).matches)
        early.leave()
        opened = []
        for _ in range(5):
            world.clock.ms += 1
            opened.append((await world.person("opener").open()).match_id)
        lobby = world.lobby(world.person("watcher"))
        parts = [await lobby.until("snapshot") for _ in range(3)]
        assert [(True, False), (False, False), (False, True)] == [(part.first, part.last) for part in parts]
        assert opened[::-1] == [match.match_id for part in parts for match in part.matches]
        assert world.clock.ms == (await lobby.beat()).time_ms
        lobby.leave()

    run(scenario)


def test_a_delayed_viewer_is_served_from_the_past_on_every_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames, heartbeats, clocks and refusals omit the last minute; the delay ends with the seal."""
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.02)

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started(spectator_delay_seconds=60, turn_seconds=300)
        stranger = world.person("stranger")
        early = world.watch(stranger, match_id)
        await early.until("caught_up")
        closing = (await stranger.look(match_id)).head
        assert [2 + 1, closing.sequence] == [len(early.told)] * 2
        early.leave()
        seen = len(await world.stored(match_id))
        world.clock.ms += 60_000
        await choose(world, match_id, people)
        head = len(await world.stored(match_id))
        watches = [world.watch(stranger, match_id), world.watch(people[0], match_id, public_only=True)]
        for watch in watches:
            await watch.until("caught_up")
            assert seen == len(watch.told)
            beat = await watch.beat()
            assert await world.position(match_id, seen) == world.check_head(beat.head)
            assert world.clock.ms - 60_000 == beat.clocks.at_ms
            assert (await stranger.look(match_id)).clocks == beat.clocks
        beyond = await world.position(match_id, head)
        told = await refusal(world.watch(stranger, match_id, position=beyond).next())
        assert ("POSITION_AHEAD", {"head": str(seen)}) == (told.reason, told.facts)
        assert seen == told.detail.position.sequence
        player = world.watch(people[0], match_id)
        await player.until("caught_up")
        assert head == len(player.told)
        world.clock.ms += 60_000
        for watch in watches:
            await watch.until("events")
            assert head == len(watch.told)
        await choose(world, match_id, people)
        await world.abort(match_id)
        for watch in (*watches, player):
            await watch.rest()
            assert await world.stored(match_id) == watch.told

    run(scenario)


def test_who_asks_for_no_views_is_told_the_same_events_and_heads_without_them() -> None:
    """Spectators and seats, even the awaited one, get frames without views; other subscribers still get views."""

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started("allie_gator", 2)
        both = [
            (world.watch(person, match_id, without_views=True), world.watch(person, match_id))
            for person in (*people, world.person("judge", Role.JUDGE, (match_id,)), world.person("public"))
        ]
        for number in range(6):
            await choose(world, match_id, people, number)
        await world.abort(match_id)
        legal = 0
        for watch, whole in both:
            await watch.rest()
            await whole.rest()
            frames = [frame for frame in watch.frames if frame.HasField("events")]
            others = [frame for frame in whole.frames if frame.HasField("events")]
            assert not any(frame.events.HasField("view") or frame.events.HasField("legal") for frame in frames)
            assert all(frame.events.HasField("view") for frame in others)
            legal += sum(frame.events.HasField("legal") for frame in others)
            # The number of events per frame is not predictable.
            assert [each for frame in frames for each in frame.events.events] == [
                each for frame in others for each in frame.events.events
            ]
            assert frames[-1].events.head == others[-1].events.head
            assert watch.frames[-2:] == whole.frames[-2:]
        assert legal > 0

    run(scenario)


LETTERS = {"confirmed": "C", "events": "E", "caught_up": "U", "fell_behind": "F", "revealed": "R", "ended": "X"}


@pytest.mark.parametrize("game", sorted(SEATS))
def test_frames_come_in_the_order_of_the_contract_and_their_views_are_those_of_get_match(game: str) -> None:
    """For seats, judge and public during the match; only the awaited seat gets the legal choices."""

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started(game, SEATS[game])
        eyes = [*people, world.person("judge", Role.JUDGE, (match_id,)), world.person("public")]
        watches = [world.watch(person, match_id) for person in eyes]
        for watch in watches:
            await watch.until("caught_up")
        for number in range(12):
            await choose(world, match_id, people, number)
            for person, watch in zip(eyes, watches, strict=True):
                look = await person.look(match_id)
                while (frame := await watch.until("events")).head != look.head:
                    assert frame.head.sequence < look.head.sequence
                assert look.view == frame.view
                assert (look.HasField("legal"), look.legal) == (frame.HasField("legal"), frame.legal)
        await world.abort(match_id)
        stored = await world.stored(match_id)
        for watch in watches:
            order = "".join(LETTERS[kind] for kind in await watch.rest())
            assert re.fullmatch("CE+U(E|FE+U)*RX", order), order
            assert stored == watch.told
        outcomes = [watch.frames[-2].revealed for watch in watches]
        assert all(outcome == outcomes[0] for outcome in outcomes)
        assert (stubs_of(find(game)).hidden is not None) == bool(outcomes[0].outcomes)

    run(scenario)


def test_watchers_that_come_all_at_once_are_served_from_one_fold_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a restart all watchers return at once; each event is folded once for all of them.

    The later choice is not read from the log, so it is not folded again.
    """
    folded: list[int] = []
    take = History.take

    def counting(history: History, logged: Logged) -> None:
        folded.append(logged.sequence)
        take(history, logged)

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started()
        for number in range(5):
            await choose(world, match_id, people, number)
        monkeypatch.setattr(History, "take", counting)
        watches = [world.watch(world.person(f"w{number}"), match_id) for number in range(60)]
        await asyncio.gather(*[watch.until("caught_up") for watch in watches])
        stored = await world.stored(match_id)
        assert [list(range(1, len(stored) + 1))] * 60 == [numbers(watch.told) for watch in watches]
        before = numbers(stored)
        assert before == folded
        await choose(world, match_id, people)
        await asyncio.gather(*[watch.until("events") for watch in watches])
        stored = await world.stored(match_id)
        told: set[Any] = {tuple(watch.told) for watch in watches}
        assert {tuple(stored)} == told
        assert before == folded
        for watch in watches:
            watch.leave()

    run(scenario)


def test_a_log_that_the_rules_refuse_stops_only_its_own_feed() -> None:
    """Regression: an event that continues the chain and breaks the rules ended the task that follows all logs."""

    async def scenario(world: Theatre) -> None:
        broken, _ = await world.started()
        sound, people = await world.started()
        watcher = world.person("watcher")
        watches = [world.watch(watcher, match_id) for match_id in (broken, sound)]
        for watch in watches:
            await watch.until("caught_up")
        ledger = await world.service.replicas.ledger(broken)
        seat = ledger.awaited_seat
        assert seat is not None
        head, link = ledger.head.sequence, ledger.head.link
        illegal = write_bytes(
            ledger.game, Chosen(seat, Stop()), sequence=head + 1, time_ms=world.clock(), previous=link
        )
        await world.log.append(broken, head, [Entry(illegal.data)])
        ended = await refusal(watches[0].until("events"))
        assert (grpc.StatusCode.DATA_LOSS, "LOG_LOST") == (ended.code, ended.reason)
        await choose(world, sound, people)
        await watches[1].until("events")
        assert await world.stored(sound) == watches[1].told
        watches[1].leave()

    run(scenario)
