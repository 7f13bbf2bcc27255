"""Play: several choices in flight on one stream, refusals that keep it open, and errors that end it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from rollbook.identity.tokens import OWN_ISSUER, Role, Subject
from rollbook.rules.catalogue import current
from rollbook.server.configuration.limit_table import Limits
from rollbook.v1 import games_pb2, match_pb2, table_pb2
from rollbook.v1.events_pb2 import Event
from rollbook.v1.refusals_pb2 import RefusalReason
from tests.server.rpc.talking import Person, World, refused, run, some_choice

GAMES = {name: game.seats[1] for name, game in current().items()}


def wrong() -> games_pb2.Choice:
    """A choice that is illegal at the beginning of a turn of Can't Stop."""
    choice = games_pb2.Choice()
    choice.cant_stop.stop.SetInParent()
    return choice


def request(person: Person, position: Any, choice: games_pb2.Choice, **fields: Any) -> match_pb2.PlayRequest:
    """A request with a new id."""
    return match_pb2.PlayRequest(
        **{"request_id": person.request_id(), "position": position, "choice": choice, **fields}
    )


@pytest.mark.parametrize("game", sorted(GAMES))
def test_a_whole_match_of_every_game_is_played_over_streams(game: str) -> None:
    """One stream per seat; the head of every answer is the position for the next choice."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started(game, GAMES[game])
        streams = [person.play() for person in people]
        for number in range(2_000):
            look = await people[0].look(match_id)
            if look.summary.state != match_pb2.MATCH_STATE_RUNNING:
                break
            seat = look.summary.awaited_seat
            mine = await people[seat].look(match_id)
            sent = request(
                people[seat], world.check_head(mine.head), some_choice(mine.legal, number), match_id=match_id
            )
            await streams[seat].write(sent)
            answer = await streams[seat].read()
            assert ("made", sent.request_id) == (answer.WhichOneof("answer"), answer.request_id)
            world.check_made(answer.made)
        assert match_pb2.MATCH_STATE_FINISHED == look.summary.state
        for stream in streams:
            await stream.done_writing()
            assert grpc.StatusCode.OK == await stream.code()

    run(scenario)


def test_a_choice_may_follow_from_one_whose_answer_is_not_there_yet() -> None:
    """The second request has a position without a link; both requests are sent before an answer is read."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, look = await world.awaited(match_id, people)
        head = world.check_head(look.head)
        roll = games_pb2.Choice()
        roll.cant_stop.roll.SetInParent()
        stream = person.play()
        await stream.write(request(person, head, some_choice(look.legal), match_id=match_id))
        await stream.write(request(person, table_pb2.Position(sequence=head.sequence + 1), roll))
        first, second = await stream.read(), await stream.read()
        assert [head.sequence + 1, head.sequence + 2] == [first.made.last, second.made.first]
        await stream.write(request(person, table_pb2.Position(sequence=head.sequence + 1), roll))
        assert reason(await stream.read()) in {"POSITION_BEHIND", "NOT_YOUR_TURN"}
        stream.cancel()

    run(scenario)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_who_wants_outcomes_only_gets_those_of_the_whole_answer_and_no_more(game: str) -> None:
    """A client cannot compute the range and the outcomes itself, among them the cards that its own choice drew."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started(game, GAMES[game])
        streams = [person.play() for person in people]
        told = 0
        for number in range(40):
            summary = (await people[0].look(match_id)).summary
            if summary.state == match_pb2.MATCH_STATE_FINISHED:
                break  # a short game
            seat = summary.awaited_seat
            look = await people[seat].look(match_id)
            sent = request(people[seat], look.summary.position, some_choice(look.legal, number), match_id=match_id)
            sent.outcomes_only = True
            await streams[seat].write(sent)
            brief = (await streams[seat].read()).made
            sent.outcomes_only = False
            await streams[seat].write(sent)
            whole = (await streams[seat].read()).made
            world.check_made(whole)
            chance = [one for one in whole.events if Event.FromString(one.event).WhichOneof("body") == "happened"]
            assert match_pb2.EventsMade(first=whole.first, last=whole.last, events=chance) == brief
            told += len(chance)
        assert told > 5
        for stream in streams:
            stream.cancel()

    run(scenario)


def test_a_choice_may_follow_from_one_whose_answer_had_no_head() -> None:
    """With `outcomes_only` the answer lacks the link that the next choice would name."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, look = await world.awaited(match_id, people)
        stream = person.play()
        begin = request(person, look.summary.position, some_choice(look.legal), match_id=match_id, outcomes_only=True)
        await stream.write(begin)
        made = (await stream.read()).made
        assert not made.HasField("head")
        roll = games_pb2.Choice()
        roll.cant_stop.roll.SetInParent()
        await stream.write(request(person, table_pb2.Position(sequence=made.last), roll, outcomes_only=True))
        assert made.last + 1 == (await stream.read()).made.first
        stream.cancel()

    run(scenario)


def reason(answer: match_pb2.PlayResponse) -> str:
    """The reason of a refusal."""
    assert "refused" == answer.WhichOneof("answer")
    return RefusalReason.Name(answer.refused.detail.reason).removeprefix("REFUSAL_REASON_")


def test_what_is_behind_a_refusal_is_skipped_until_its_sender_knows() -> None:
    """The stream continues, and the refusal has the match's position and the legal choices."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, look = await world.awaited(match_id, people)
        head = world.check_head(look.head)
        stream = person.play()
        await stream.write(request(person, head, wrong(), match_id=match_id))
        await stream.write(request(person, head, some_choice(look.legal)))
        await stream.write(request(person, head, some_choice(look.legal)))
        told = await stream.read()
        assert "OTHER_CHOICE_AWAITED" == reason(told)
        assert grpc.StatusCode.FAILED_PRECONDITION.value[0] == told.refused.status_code
        assert (head, look.legal) == (told.refused.detail.position, told.refused.detail.legal)
        assert ["SKIPPED", "SKIPPED"] == [reason(await stream.read()), reason(await stream.read())]
        await stream.write(request(person, head, some_choice(look.legal), refusals_seen=9))
        assert "REFUSALS_SEEN_WRONG" == reason(await stream.read())
        await stream.write(request(person, table_pb2.Position(sequence=head.sequence), wrong(), refusals_seen=2))
        assert "POSITION_MALFORMED" == reason(await stream.read())
        await stream.write(request(person, head, wrong(), refusals_seen=3, match_id="another"))
        assert "OTHER_MATCH_IN_PLAY" == reason(await stream.read())
        await stream.write(request(person, head, wrong(), refusals_seen=4, request_id="x" * 99))
        malformed = await stream.read()
        assert ("REQUEST_ID_MALFORMED", "x" * 64) == (reason(malformed), malformed.request_id)
        sent = request(person, head, some_choice(look.legal), refusals_seen=5)
        await stream.write(sent)
        made = (await stream.read()).made
        assert head.sequence + 1 == made.first
        await stream.write(sent)
        assert made == (await stream.read()).made
        await stream.done_writing()
        assert grpc.aio.EOF == await stream.read()

    run(scenario)


def test_a_request_is_read_once_the_one_before_is_answered() -> None:
    """A client that sends ten thousand choices fills the connection's flow control, not the service's memory."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, look = await world.awaited(match_id, people)
        head = world.check_head(look.head)
        caller = Subject(OWN_ISSUER, person.sub, Role.PLAYER, (), person.sub, int(world.clock.seconds()) + 60)
        read = answered = 0

        async def requests() -> AsyncIterator[match_pb2.PlayRequest]:
            nonlocal read
            while read < 3:
                assert read == answered
                read += 1
                yield request(person, head, wrong(), match_id=match_id, refusals_seen=answered)

        async for answer in world.service.plays.play(caller, requests(), lambda: False):
            answered += 1
            assert "OTHER_CHOICE_AWAITED" == reason(answer)
        assert 3 == answered

    run(scenario)


def test_what_concerns_the_stream_ends_it_with_a_status() -> None:
    """A missing token, no match id, an unknown match, a token that expires meanwhile."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, look = await world.awaited(match_id, people)
        head = world.check_head(look.head)

        async def ended(stream: Any, *requests: match_pb2.PlayRequest) -> str:
            for sent in requests:
                await stream.write(sent)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stream.read()
            return refused(caught.value).reason

        assert "TOKEN_MISSING" == await ended(world.nobody().play())
        assert "OTHER_MATCH_IN_PLAY" == await ended(person.play(), request(person, head, wrong()))
        assert "MATCH_NOT_FOUND" == await ended(person.play(), request(person, head, wrong(), match_id="a" * 24))
        stream = person.play()
        await stream.write(request(person, head, wrong(), match_id=match_id))
        await stream.read()
        world.clock.ms += 10**9 + 1_000
        assert "TOKEN_EXPIRED" == await ended(stream, request(person, head, wrong()))

    run(scenario)


def test_a_subject_has_so_many_streams_and_gets_them_back() -> None:
    """One more is refused; an ended stream makes room."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, look = await world.awaited(match_id, people)
        head = world.check_head(look.head)
        sent = request(person, head, wrong(), match_id=match_id)
        first = person.play()
        await first.write(sent)
        await first.read()
        second = person.play()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await second.read()
        assert "TOO_MANY_WATCHES" == refused(caught.value).reason
        await first.done_writing()
        assert grpc.StatusCode.OK == await first.code()
        third = person.play()
        await third.write(sent)
        assert "OTHER_CHOICE_AWAITED" == reason(await third.read())
        third.cancel()

    run(scenario, limits=Limits(plays_per_subject=1))
