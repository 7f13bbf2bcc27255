"""Signed heads kept by clients: showing one to a process without memory proves what the store has lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeAlias

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.identity.tokens import OWN_ISSUER, Role, Subject
from rollbook.match.chain import Head, sign_head
from rollbook.match.chain import Position as Place
from rollbook.match.commands import Declined, Why, position_ahead
from rollbook.match.events import LOG_LOST, Sealed
from rollbook.server.failures import MatchUnknown
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.refusals import refusal_of
from rollbook.server.rpc.location import Asked
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import StoreUnavailable
from rollbook.v1.cant_stop_pb2 import CantStopChoice
from rollbook.v1.events_pb2 import ABORT_REASON_LOG_LOST, Event
from rollbook.v1.games_pb2 import Choice
from rollbook.v1.match_pb2 import PlayRequest
from rollbook.v1.table_pb2 import Position, SignedHead
from tests.server.replica.spoiling import Spoiler, kept, run, said
from tests.server.rpc.talking import Person, Refused, refusal, some_choice
from tests.storage.servers import Server, running

Scenario: TypeAlias = Callable[[Spoiler], Awaitable[None]]
DATA_LOSS = (grpc.StatusCode.DATA_LOSS, "LOG_LOST")
A_CHOICE = Choice(cant_stop=CantStopChoice(stop=CantStopChoice.Stop()))


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module."""
    with running(find_server(), tmp_path_factory.mktemp("valkey")) as found:
        yield found


@pytest.fixture(params=["memory", "valkey"])
def act(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Run a scenario on each kind of store in turn."""
    server = None if request.param == "memory" else request.getfixturevalue("valkey")

    def acted(scenario: Scenario, **how: Any) -> None:
        run(server, scenario, **how)

    return acted


async def played(world: Spoiler, choices: int = 3, **terms: Any) -> tuple[str, list[Person], SignedHead]:
    """A match with some choices, and the head that its players keep."""
    match_id, people = await world.started(**terms)
    for _ in range(choices):
        person, look = await world.awaited(match_id, people)
        await person.choose(match_id, some_choice(look.legal), world.check_head(look.head))
    return match_id, people, (await people[0].look(match_id)).head


async def ask(world: Spoiler, route: str, match_id: str, position: Position) -> Refused:
    """The refusal of a call with this position."""
    player = world.person("p0")
    if route == "WatchMatch":
        return await refusal(world.watch(player, match_id, position=position).next())
    if route == "Play":
        stream = player.play()
        await stream.write(
            PlayRequest(match_id=match_id, request_id=player.request_id(), position=position, choice=A_CHOICE)
        )
        return await refusal(stream.read())
    fields: dict[str, Any] = {"choice": A_CHOICE} if route == "Choose" else {}
    if route == "AbortMatch":
        player = world.person("boss", Role.OPERATOR)
    return await refusal(player.call(route, match_id=match_id, position=position, **fields))


ROUTES = ("Choose", "Play", "TakeSeat", "LeaveSeat", "Ready", "Resign", "AbortMatch", "WatchMatch")


async def assert_sealed(world: Spoiler, match_id: str, at: int, head: SignedHead) -> None:
    """The log is sealed once, at this event, with the shown head as evidence."""
    ledger = await world.folded(match_id)
    evidence = Head(head.sequence, head.link, head.key_id, head.signature)
    assert Sealed(None, LOG_LOST, ledger.secret, evidence) == ledger.match.sealed
    assert at == ledger.head.sequence == await world.log.head(match_id)
    aborted = Event.FromString((await world.stored(match_id))[-1]).sealed.aborted
    assert (ABORT_REASON_LOG_LOST, head.signature) == (aborted.reason, aborted.lost.signature)
    assert [] == await StoredLobby(world.log, world.store, world.store).list_matches()


@pytest.mark.parametrize("route", ROUTES)
def test_a_match_of_which_nothing_is_left_is_lost_to_whoever_kept_a_head_of_it(
    act: Callable[..., None], route: str
) -> None:
    """For example after restoring a backup older than the match; without a valid head the match is unknown."""

    async def scenario(world: Spoiler) -> None:
        match_id, _, head = await played(world)
        await world.delete(match_id)
        await world.store.unlist(match_id)
        async with world.restarted():
            told = await ask(world, route, match_id, kept(head))
            assert DATA_LOSS == (told.code, told.reason)
            assert str(head.sequence) == told.facts["known"]
            forged = Position(sequence=head.sequence, link=head.link, key_id=head.key_id, signature=bytes(64))
            assert "MATCH_NOT_FOUND" == (await ask(world, route, match_id, forged)).reason
            assert "MATCH_NOT_FOUND" == (await ask(world, route, match_id, Position())).reason

    act(scenario)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("left", ["nobody seated", "in play"])
def test_a_head_that_a_client_kept_proves_a_lost_tail_to_a_process_that_knows_nothing(
    act: Callable[..., None], route: str, left: str
) -> None:
    """Every route that takes a position accepts it, even if other parts of the request are wrong.

    The match is sealed once, with that head.
    """

    async def scenario(world: Spoiler) -> None:
        match_id, _, head = await played(world)
        keep = 1 if left == "nobody seated" else head.sequence - 2
        await world.cut(match_id, keep)
        for number in range(2):
            async with world.restarted():
                told = await ask(world, route, match_id, kept(head))
                assert DATA_LOSS == (told.code, told.reason)
                assert str(head.sequence) == told.facts["known"]
                assert number or world.lost_tails == 1
                await assert_sealed(world, match_id, keep + 1, head)

    act(scenario)


def test_a_head_on_a_log_that_went_on_otherwise_proves_it_too(act: Callable[..., None]) -> None:
    """The head proves the loss even if the log is longer and only this client remembers the lost event."""

    async def scenario(world: Spoiler) -> None:
        match_id, people, head = await played(world, 2)
        before = len(await world.stored(match_id))
        person, look = await world.awaited(match_id, people)
        told = (await person.choose(match_id, some_choice(look.legal), world.check_head(look.head))).made.head
        await world.cut(match_id, before)
        async with world.restarted():
            again = [world.person("p0"), world.person("p1")]
            for number in (1, 0, 0, 0):
                person, look = await world.awaited(match_id, again)
                await person.choose(match_id, some_choice(look.legal, number), world.check_head(look.head))
            now = len(await world.stored(match_id))
            assert told.sequence < now
            assert 0 == world.lost_tails
            refused = await ask(world, "WatchMatch", match_id, kept(told))
            assert DATA_LOSS == (refused.code, refused.reason)
            await assert_sealed(world, match_id, now + 1, told)
        assert head.sequence == before

    act(scenario)


def forged(head: SignedHead, how: str) -> Position:
    """A position that proves nothing."""
    position = kept(head)
    match how:
        case "none":
            position.signature = b""
        case "short":
            position.signature = head.signature[:63]
        case "another key":
            other = Ed25519PrivateKey.generate()
            position.signature = sign_head(other, head.match_id, head.sequence, head.link)
        case "another key's name":
            position.key_id = "0" * 16
        case "an unknown key's name":
            position.key_id = "f" * 16
        case "further on":
            position.sequence += 1
        case "another link":
            position.link = bytes(32)
        case _:
            raise AssertionError(how)
    return position


FORGERIES = (
    "none", "short", "another key", "another key's name", "an unknown key's name", "further on", "another link"
)  # fmt: skip


@pytest.mark.parametrize("how", FORGERIES)
def test_a_signature_that_does_not_hold_is_taken_for_none(act: Callable[..., None], how: str) -> None:
    """The client is refused as ahead, as without a signature, and nothing is written."""

    async def scenario(world: Spoiler) -> None:
        match_id, _, head = await played(world)
        await world.cut(match_id, head.sequence - 2)
        async with world.restarted():
            position = forged(head, how)
            bare = Position(sequence=position.sequence, link=position.link)
            for route in ("WatchMatch", "TakeSeat"):
                told = await ask(world, route, match_id, position)
                assert said(await ask(world, route, match_id, bare)) == said(told)
            told = await ask(world, "WatchMatch", match_id, position)
            assert (grpc.StatusCode.OUT_OF_RANGE, "POSITION_AHEAD") == (told.code, told.reason)
            assert head.sequence - 2 == await world.log.head(match_id)
            assert 0 == world.lost_tails

    act(scenario)


def test_nothing_is_said_of_a_head_while_the_log_cannot_be_compared_with_it(valkey: Server) -> None:
    """The store fails right after the call was refused, so the position cannot be judged."""

    async def scenario(world: Spoiler) -> None:
        match_id, _, head = await played(world)
        located = world.service._locator.locate
        subject = Subject(OWN_ISSUER, "p0", Role.PLAYER, (), "", 0)
        ahead = position_ahead(Place(head.sequence, head.link), head.sequence - 1)
        other_turn = Declined(Why.NOT_YOUR_TURN, "somebody else is awaited")
        with valkey.client() as client:
            client.execute_command("ACL", "SETUSER", "default", "-xinfo")
            try:
                asked = Asked(subject, match_id, kept(head))
                for refused in (ahead, MatchUnknown(match_id)):
                    assert isinstance(await located(asked, refused), StoreUnavailable)
                    unsigned = Asked(subject, match_id, Position(sequence=head.sequence, link=head.link))
                    assert said_of(refused) == said_of(await located(unsigned, refused))
                assert "NOT_YOUR_TURN" == said_of(await located(asked, other_turn))
            finally:
                client.execute_command("ACL", "SETUSER", "default", "+xinfo")

    run(valkey, scenario)


def said_of(error: Exception) -> str:
    """The reason that a client is given."""
    refusal = refusal_of(error)
    assert refusal is not None
    return refusal.reason


def test_a_head_of_another_match_proves_nothing(act: Callable[..., None]) -> None:
    """A signature names its match."""

    async def scenario(world: Spoiler) -> None:
        _, _, head = await played(world, 6)
        other, _, _ = await played(world, 0)
        async with world.restarted():
            told = await ask(world, "WatchMatch", other, kept(head))
            assert "POSITION_AHEAD" == told.reason
            assert (await world.folded(other)).match.sealed is None

    act(scenario)


def test_a_head_that_the_log_holds_changes_nothing(act: Callable[..., None]) -> None:
    """A client that sends signed positions gets the same answers as one that does not."""

    async def scenario(world: Spoiler) -> None:
        match_id, people, head = await played(world)
        person, look = await world.awaited(match_id, people)
        await person.choose(match_id, some_choice(look.legal), kept(look.head))
        async with world.restarted():
            watch = world.watch(world.person("w"), match_id, position=kept(head))
            await watch.until("caught_up")
            assert (await world.stored(match_id))[head.sequence :] == watch.told
            watch.leave()
            late = await ask(world, "Choose", match_id, kept(head))
            assert late.reason in {"POSITION_BEHIND", "NOT_YOUR_TURN"}
            assert 0 == world.lost_tails

    act(scenario)


def test_a_delayed_viewer_with_a_players_head_is_told_what_it_is_told_without(act: Callable[..., None]) -> None:
    """A player's head must not reveal later events to a delayed viewer: the answers are equal, byte for byte."""

    async def scenario(world: Spoiler) -> None:
        match_id, _, _ = await played(world, spectator_delay_seconds=60)
        world.clock.ms += 60_000
        _, look = await world.awaited(match_id, [world.person("p0"), world.person("p1")])
        seat = look.summary.awaited_seat
        player = world.person(f"p{seat}")
        head = (await player.choose(match_id, some_choice(look.legal), world.check_head(look.head))).made.head
        stranger = world.person("stranger")
        async with world.restarted():
            stranger = world.person("stranger")
            answers = [
                await refusal(world.watch(stranger, match_id, position=position).next())
                for position in (kept(head), Position(sequence=head.sequence, link=head.link))
            ]
            assert said(answers[1]) == said(answers[0])
            assert ("POSITION_AHEAD", head.sequence > answers[0].detail.position.sequence) == (answers[0].reason, True)
            assert 0 == world.lost_tails

    act(scenario)


def test_a_stranger_learns_of_no_private_match_by_a_head(act: Callable[..., None]) -> None:
    """The match stays unknown and unsealed for strangers; a viewer who may see it can prove the loss."""

    async def scenario(world: Spoiler) -> None:
        match_id, _, head = await played(world, is_private=True)
        await world.cut(match_id, head.sequence - 1)
        async with world.restarted():
            stranger = world.person("stranger")
            for call in (
                world.watch(stranger, match_id, position=kept(head)).next(),
                stranger.call("TakeSeat", match_id=match_id, position=kept(head)),
            ):
                assert "MATCH_NOT_FOUND" == (await refusal(call)).reason
            assert 0 == world.lost_tails
            assert head.sequence - 1 == await world.log.head(match_id)
            told = await ask(world, "WatchMatch", match_id, kept(head))
            assert DATA_LOSS == (told.code, told.reason)

    act(scenario)


def test_a_match_that_ended_on_another_log_is_told_as_lost_and_not_sealed_twice(act: Callable[..., None]) -> None:
    """A sealed log cannot be sealed again; the client still gets DATA_LOSS."""

    async def scenario(world: Spoiler) -> None:
        match_id, _, head = await played(world)
        await world.cut(match_id, head.sequence - 1)
        async with world.restarted():
            await world.abort(match_id)
            ended = await world.stored(match_id)
            for route in ("WatchMatch", "Choose"):
                told = await ask(world, route, match_id, kept(head))
                assert DATA_LOSS == (told.code, told.reason)
            assert 1 == world.lost_tails
            assert ended == await world.stored(match_id)

    act(scenario)
