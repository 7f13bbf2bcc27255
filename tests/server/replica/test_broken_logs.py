"""Logs that are gone or have holes, at a process without memory: never restarted, never continued."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest

from rollbook.identity.tokens import Role
from rollbook.match.chain import Entry
from rollbook.server.feeds import feed as feeds
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import Conflict, Hole, LobbyEntry
from rollbook.storage.redis.keys import ANNOUNCEMENTS, lobby_key, partition_of, stream_key
from rollbook.v1 import match_pb2
from rollbook.v1.events_pb2 import ABORT_REASON_BY_OPERATOR, ABORT_REASON_LOG_LOST, Event
from tests.server.replica.spoiling import Spoiler, run
from tests.server.rpc.talking import Person, refusal, some_choice
from tests.storage.servers import Server, running

DATA_LOSS = (grpc.StatusCode.DATA_LOSS, "LOG_LOST")


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module."""
    with running(find_server(), tmp_path_factory.mktemp("valkey")) as found:
        yield found


@pytest.fixture(params=["memory", "valkey"])
def act(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Run a scenario on each kind of store in turn."""
    server = None if request.param == "memory" else request.getfixturevalue("valkey")
    return lambda scenario, **how: run(server, scenario, **how)


async def choose(world: Spoiler, match_id: str, people: list[Person]) -> None:
    """One choice by the awaited player."""
    person, look = await world.awaited(match_id, people)
    await person.choose(match_id, some_choice(look.legal), world.check_head(look.head))


async def assert_lost(world: Spoiler, match_id: str) -> None:
    """Every kind of call to the match must fail with DATA_LOSS."""
    player = world.person("p0")
    for call in (
        player.look(match_id),
        player.call("TakeSeat", match_id=match_id),
        player.call("Resign", match_id=match_id),
        world.watch(player, match_id).next(),
    ):
        told = await refusal(call)
        assert DATA_LOSS == (told.code, told.reason)


def test_a_deleted_log_is_lost_as_long_as_the_lobby_lists_its_match(act: Callable[..., None]) -> None:
    """After a restart the original request does not open the match again, and the loss is counted once."""

    async def scenario(world: Spoiler) -> None:
        opener = world.person("p0")
        opened = await opener.open(request_id="open-it-1")
        await world.delete(opened.match_id)
        async with world.restarted():
            opener = world.person("p0")
            for _ in range(2):
                told = await refusal(opener.open(request_id="open-it-1"))
                assert DATA_LOSS == (told.code, told.reason)
            await assert_lost(world, opened.match_id)
            assert 0 == await world.log.head(opened.match_id)
            assert 1 == world.lost_tails
            other = await opener.open(request_id="open-it-2")
            assert opened.match_id != other.match_id

    act(scenario)


def test_a_match_that_was_never_opened_is_unknown(act: Callable[..., None]) -> None:
    """A match that the lobby does not list has lost nothing."""

    async def scenario(world: Spoiler) -> None:
        told = await refusal(world.person("p0").look("a" * 24))
        assert (grpc.StatusCode.NOT_FOUND, "MATCH_NOT_FOUND") == (told.code, told.reason)
        assert 0 == world.lost_tails

    act(scenario)


def test_a_hole_concerns_its_own_match_and_everyone_else_is_served_on(valkey: Server) -> None:
    """Watchers and commands get DATA_LOSS and nothing is written; feeds of other matches and the sweeper continue."""

    async def scenario(world: Spoiler) -> None:
        holed, people = await world.started(turn_seconds=30)
        sound, _ = await world.started(turn_seconds=30)
        await choose(world, holed, people)
        await choose(world, holed, people)
        before = await world.log.head(holed)
        await world.dig(holed, before - 1)
        async with world.restarted():
            watcher = world.person("w")
            watch = world.watch(watcher, sound)
            await watch.until("caught_up")
            await assert_lost(world, holed)
            assert 1 == world.lost_tails
            people = [world.person("p0"), world.person("p1")]
            await choose(world, sound, people)
            await watch.until("events")
            assert await world.stored(sound) == watch.told
            await world.sweep_on(40)
            await watch.until("events")
            assert await world.stored(sound) == watch.told
            assert before == await world.log.head(holed)
            watch.leave()

    run(valkey, scenario)


def test_a_hole_ahead_of_a_live_watcher_ends_its_feed_alone(valkey: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The read that waits for all logs finds the hole once, without blocking or looping."""
    monkeypatch.setattr(feeds, "GUARD_SECONDS", 3_600)

    async def scenario(world: Spoiler) -> None:
        holed, _ = await world.started()
        sound, people = await world.started()
        watches = [world.watch(world.person("w"), match_id) for match_id in (holed, sound)]
        for watch in watches:
            await watch.until("caught_up")
        head = await world.log.head(holed)
        await world.client.xadd(stream_key(holed), {"e": b"?"}, id=f"{head + 2}-0")
        await world.client.publish(ANNOUNCEMENTS, f"{head + 2} 0 {holed}")
        told = await refusal(watches[0].until("events"))
        assert DATA_LOSS == (told.code, told.reason)
        assert 1 == world.lost_tails
        await choose(world, sound, people)
        await watches[1].until("events")
        assert await world.stored(sound) == watches[1].told
        watches[1].leave()

    run(valkey, scenario)


def test_a_log_whose_last_event_was_taken_out_is_not_carried_on(valkey: Server) -> None:
    """The store's next id follows the removed event, so nothing can be appended without a gap."""

    async def scenario(world: Spoiler) -> None:
        match_id, people = await world.started()
        await choose(world, match_id, people)
        head = await world.log.head(match_id)
        await world.dig(match_id, head)
        async with world.restarted():
            told = await refusal(world.person("p0").call("Resign", match_id=match_id))
            assert DATA_LOSS == (told.code, told.reason)
            assert {"known": str(head), "stored": str(head - 1)} == told.facts
            assert head == await world.log.head(match_id)

    run(valkey, scenario)


def test_a_log_that_does_not_hold_together_does_not_stop_the_sweeper() -> None:
    """Regression: such a log ended the sweeper's task in every process that had not folded it before."""

    async def scenario(world: Spoiler) -> None:
        broken, _ = await world.started(turn_seconds=30)
        sound, _ = await world.started(turn_seconds=30)
        entries: list[Any] = world.log._streams[broken].entries
        entries[2], entries[3] = entries[3], entries[2]
        async with world.restarted():
            before = await world.log.head(sound)
            await world.sweep_on(30)
            assert before < await world.log.head(sound)
            assert 1 == world.lost_tails

    run(None, scenario)


def test_a_log_that_is_shorter_than_the_lobby_says_is_sealed_although_nobody_returns(act: Callable[..., None]) -> None:
    """A new process has delivered nothing, but the lobby entry was written with the log and proves the loss."""

    async def scenario(world: Spoiler) -> None:
        match_id, _ = await world.started(turn_seconds=30)
        before = await world.log.head(match_id)
        await world.cut(match_id, 4)
        async with world.restarted():
            await world.service.sweeper().sweep()
            lost = Event.FromString((await world.stored(match_id))[-1]).sealed.aborted
            assert ABORT_REASON_LOG_LOST == lost.reason
            assert 4 < lost.lost.sequence <= before
            assert 1 == world.lost_tails

    act(scenario)


async def delete(world: Spoiler, match_id: str) -> None:
    """Delete the whole log."""
    await world.delete(match_id)


async def dig(world: Spoiler, match_id: str) -> None:
    """Remove an event from the middle."""
    await world.dig(match_id, 3)


async def scribble(world: Spoiler, match_id: str) -> None:
    """Make the lobby entry unreadable."""
    await world.client.hset(lobby_key(partition_of(match_id)), match_id, b"\x00\x00\x00\x09nothing")


async def scribble_and_delete(world: Spoiler, match_id: str) -> None:
    """Delete the log and make the lobby entry unreadable, so that nothing identifies the match."""
    await scribble(world, match_id)
    await delete(world, match_id)


async def dig_at_the_end(world: Spoiler, match_id: str) -> None:
    """Remove the last event."""
    await world.dig(match_id, await world.log.head(match_id))


async def trim(world: Spoiler, match_id: str) -> None:
    """Remove all events, as the archivist does after archiving."""
    await world.client.xtrim(stream_key(match_id), maxlen=0)


async def misuse(world: Spoiler, match_id: str) -> None:
    """Replace the log with a value of another type."""
    await world.client.set(stream_key(match_id), "something else")


async def misuse_and_scribble(world: Spoiler, match_id: str) -> None:
    """Replace the log and make the lobby entry unreadable."""
    await misuse(world, match_id)
    await scribble(world, match_id)


async def garble_the_first(world: Spoiler, match_id: str) -> None:
    """Replace the first event with invalid bytes."""
    key = stream_key(match_id)
    entries = await world.client.xrange(key)
    await world.client.delete(key)
    for identity, fields in [(b"1-0", {b"e": b"\xff\xff"}), *entries[1:]]:
        await world.client.xadd(key, fields, id=identity)


async def garble_the_last(world: Spoiler, match_id: str) -> None:
    """Append an entry with invalid bytes."""
    await world.client.xadd(stream_key(match_id), {b"e": b"\xff\xff"}, id=f"{await world.log.head(match_id) + 1}-0")


async def append_nothing(world: Spoiler, match_id: str) -> None:
    """Append an entry without an event."""
    await world.client.xadd(stream_key(match_id), {b"x": b"y"}, id=f"{await world.log.head(match_id) + 1}-0")


async def append_between(world: Spoiler, match_id: str) -> None:
    """Append with an id between two sequences."""
    await world.client.xadd(stream_key(match_id), {b"e": b"?"}, id=f"{await world.log.head(match_id)}-1")


async def append_far_ahead(world: Spoiler, match_id: str) -> None:
    """Append with the highest sequence of a stream."""
    await world.client.xadd(stream_key(match_id), {b"e": b"?"}, id=f"{2**64 - 1}-0")


async def append_last_of_all(world: Spoiler, match_id: str) -> None:
    """Append with the highest possible id."""
    await world.client.xadd(stream_key(match_id), {b"e": b"?"}, id=f"{2**64 - 1}-{2**64 - 1}")


NOTHING_LEFT = (delete, scribble_and_delete, trim, misuse, misuse_and_scribble, garble_the_first)
EVIDENCE_LEFT = (dig, dig_at_the_end, garble_the_last, append_far_ahead)
NO_EVIDENCE = (append_nothing, append_between, append_last_of_all)
SPOILS = (scribble, *NOTHING_LEFT, *EVIDENCE_LEFT, *NO_EVIDENCE)


@pytest.mark.parametrize(
    ("spoil", "restarts"),
    # A process that has folded event 1 never reads it again.
    [(spoil, restarts) for spoil in SPOILS for restarts in (False, True) if restarts or spoil is not garble_the_first],
)
def test_one_broken_match_costs_nobody_else_anything(valkey: Server, spoil: Callable[..., Any], restarts: bool) -> None:
    """Lists and the lobby show the other matches, turns end in time, and an operator can end the broken match."""

    async def scenario(world: Spoiler) -> None:
        broken, _ = await world.started(turn_seconds=30)
        sound, _ = await world.started(turn_seconds=30)
        sweeper = world.service.sweeper()
        await sweeper.beat()
        await spoil(world, broken)
        if restarts:
            async with world.restarted():
                await go_on(world, broken, sound)
        else:
            await go_on(world, broken, sound)

    async def go_on(world: Spoiler, broken: str, sound: str) -> None:
        listed = await lists(world.person("stranger"))
        assert listed[sound].state == match_pb2.MATCH_STATE_RUNNING
        operator = world.person("operator", Role.OPERATOR)
        assert {broken, sound} == set(await lists(operator))
        lobby = world.lobby(world.person("stranger"))
        assert sound in {match.match_id for match in (await lobby.until("snapshot")).matches}
        lobby.leave()
        before, behind = await world.log.head(sound), await world.log.head(broken)
        await world.sweep_on(30)
        assert before < await world.log.head(sound)
        assert (spoil is scribble) == (behind < await world.log.head(broken))
        listed = await lists(operator)
        assert (spoil is not scribble, False) == (listed[broken].is_lost, listed[sound].is_lost)
        asked = {"match_id": broken, "request_id": "end-it-1"}
        ended = await operator.call("AbortMatch", **asked)
        assert (spoil in NOTHING_LEFT) == ended.is_gone
        listed = await lists(operator)
        if ended.is_gone:
            assert broken not in listed
            await assert_gone_for_good(world, broken)
            return
        assert ended == await operator.call("AbortMatch", **asked)
        (sealed,) = ended.made.events
        assert sealed.event == (await world.stored(broken))[ended.made.last - 1]
        aborted = listed[broken].aborted
        assert (ABORT_REASON_LOG_LOST if spoil in EVIDENCE_LEFT else ABORT_REASON_BY_OPERATOR) == aborted.reason
        if spoil in EVIDENCE_LEFT:
            lost = Event.FromString(sealed.event).sealed.aborted.lost
            assert behind == lost.sequence
        if spoil is dig:
            assert 3 == ended.made.last
        assert (await world.folded(broken)).match.sealed is not None

    run(valkey, scenario)


def test_who_knows_nothing_of_a_match_still_ends_it_as_one_whose_log_is_lost(valkey: Server) -> None:
    """The lobby entry is evidence before the first sweep: the seal names the lost event."""

    async def scenario(world: Spoiler) -> None:
        broken, _ = await world.started()
        behind = await world.log.head(broken)
        await dig_at_the_end(world, broken)
        async with world.restarted():
            ended = await world.person("operator", Role.OPERATOR).call("AbortMatch", match_id=broken)
            (sealed,) = ended.made.events
            aborted = Event.FromString(sealed.event).sealed.aborted
            assert (ABORT_REASON_LOG_LOST, behind) == (aborted.reason, aborted.lost.sequence)

    run(valkey, scenario)


def test_what_is_no_match_in_the_lobby_costs_nobody_anything(valkey: Server) -> None:
    """Malformed fields in any part of the lobby do not disturb lists, openings or turns."""

    async def scenario(world: Spoiler) -> None:
        sound, _ = await world.started(turn_seconds=30)
        for partition in (0, 200):
            for field in (b"", b"\xff", b"x" * 200, b"../../elsewhere", b"a" * 24):
                await world.client.hset(lobby_key(partition), field, b"?")
        async with world.restarted():
            stranger = world.person("stranger")
            assert {sound} == set(await lists(stranger))
            lobby = world.lobby(stranger)
            assert [sound] == [match.match_id for match in (await lobby.until("snapshot")).matches]
            lobby.leave()
            assert (await stranger.open()).match_id
            before = await world.log.head(sound)
            await world.sweep_on(30)
            assert before < await world.log.head(sound)

    run(valkey, scenario)


def test_a_log_that_goes_together_with_its_place_in_the_lobby_is_lost(act: Callable[..., None]) -> None:
    """For example after a failover to a replica that had neither: this is a lost log, not an internal error."""

    async def scenario(world: Spoiler) -> None:
        opened = await world.person("opener").open()
        ledger = await world.folded(opened.match_id)
        await world.delete(opened.match_id)
        await world.store.unlist(opened.match_id)
        async with world.restarted():
            with pytest.raises(Hole):
                await world.service.lobby.metadata(ledger)

    act(scenario)


def test_strangers_find_no_private_match_whose_log_is_lost(act: Callable[..., None]) -> None:
    """Players, opener and invited players of the match get DATA_LOSS."""

    async def scenario(world: Spoiler) -> None:
        opened = await world.person("opener").open(is_private=True)
        code = {"invitation_code": opened.invitation_code}
        await world.person("p0").call("TakeSeat", match_id=opened.match_id, **code)
        await world.delete(opened.match_id)
        async with world.restarted():
            stranger = world.person("stranger")
            told = await refusal(stranger.look(opened.match_id))
            assert (grpc.StatusCode.NOT_FOUND, "MATCH_NOT_FOUND") == (told.code, told.reason)
            for look in (
                world.person("opener").look(opened.match_id),
                world.person("p0").look(opened.match_id),
                stranger.look(opened.match_id, **code),
            ):
                told = await refusal(look)
                assert DATA_LOSS == (told.code, told.reason)

    act(scenario)


async def assert_gone_for_good(world: Spoiler, match_id: str) -> None:
    """The opening request does not open it again, and strangers get MATCH_NOT_FOUND."""
    told = await refusal(world.person("stranger").look(match_id))
    assert (grpc.StatusCode.NOT_FOUND, "MATCH_NOT_FOUND") == (told.code, told.reason)
    first = Entry(b"another event 1")
    assert isinstance(await world.log.append(match_id, 0, [first], lobby=LobbyEntry(b"?")), Conflict)
    again = await world.person("operator", Role.OPERATOR).call("AbortMatch", match_id=match_id)
    assert again.is_gone


async def lists(person: Person) -> dict[str, Any]:
    """All matches that this person finds, by id."""
    return {match.match_id: match for match in (await person.call("ListMatches")).matches}
