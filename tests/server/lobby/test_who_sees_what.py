"""What each caller may see of a match: private matches, judges, delayed strangers, clocks and names."""

from __future__ import annotations

from typing import Any

import pytest

from rollbook.identity.tokens import Role
from rollbook.match.dice import Dice
from rollbook.v1 import match_pb2, table_pb2
from rollbook.v1.games_pb2 import Choice
from tests.server.rpc.talking import World, refusal, run, some_choice

NEVER = "a" * 24


def test_a_private_match_does_not_exist_for_strangers() -> None:
    """The invitation code opens it. Its opener, a judge of it and an operator see it, but need the code to sit down."""

    async def scenario(world: World) -> None:
        opener, stranger = world.person("opener"), world.person("stranger")
        opened = await opener.open(is_private=True)
        match_id, code = opened.match_id, opened.invitation_code
        assert 24 == len(code)
        for call in (
            stranger.look(match_id),
            stranger.look(match_id, invitation_code="wrong"),
            stranger.call("TakeSeat", match_id=match_id),
            stranger.call("TakeSeat", match_id=match_id, invitation_code="wrong"),
            stranger.call("Choose", match_id=match_id),
            world.person("judge", Role.JUDGE, (NEVER,)).look(match_id),
        ):
            told = await refusal(call)
            unknown = await refusal(stranger.look(NEVER))
            assert (unknown.code, unknown.detail, unknown.message) == (told.code, told.detail, told.message)
        assert match_id == (await stranger.look(match_id, invitation_code=code)).summary.match_id
        for insider in (opener, world.person("judge", Role.JUDGE, (match_id,)), world.person("boss", Role.OPERATOR)):
            assert (await insider.look(match_id)).summary.is_private
        assert "INVITATION_WRONG" == (await refusal(opener.call("TakeSeat", match_id=match_id))).reason
        await stranger.call("TakeSeat", match_id=match_id, invitation_code=code)
        assert 1 == len((await stranger.call("ListMatches")).matches)
        assert 0 == len((await world.person("other").call("ListMatches")).matches)
        assert code.encode() not in b"".join((await world.store.lobby()).values())

    run(scenario)


def test_a_judge_sees_hands_and_a_stranger_does_not() -> None:
    """Each seat sees its own hand; only the awaited seat gets legal choices."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started("allie_gator")
        judge = world.person("judge", Role.JUDGE, (match_id,))
        views = [(await who.look(match_id)) for who in (*people, judge, world.person("stranger"))]
        assert [2, 2, 3, 1] == [look.perspective.kind for look in views]
        assert 4 == len({look.view.SerializeToString(deterministic=True) for look in views})
        assert 1 == len({look.head.signature for look in views})
        assert 1 == sum(look.HasField("legal") for look in views)

    run(scenario)


def test_a_delayed_stranger_sees_the_match_as_it_was() -> None:
    """On every route, from the closing of its seats on; players see the present, and at the end all callers do."""

    async def scenario(world: World) -> None:
        start = world.clock.ms
        stranger = world.person("stranger")
        match_id, people = await world.seated(spectator_delay_seconds=60)
        closed = await people[0].look(match_id)
        assert match_pb2.MATCH_STATE_GETTING_READY == closed.summary.state
        await world.get_ready(match_id, people)
        seen = await stranger.look(match_id)
        assert (closed.summary, closed.head) == (seen.summary, seen.head)
        assert [closed.summary] == list((await stranger.call("ListMatches")).matches)
        (listed,) = (await people[0].call("ListMatches")).matches
        assert match_pb2.MATCH_STATE_RUNNING == listed.state
        world.clock.ms = start + 60_000
        before = await stranger.look(match_id)
        person, look = await world.awaited(match_id, people)
        await person.choose(match_id, some_choice(look.legal), world.check_head(look.head))
        assert before == await stranger.look(match_id)
        assert look.head == before.head
        told = await refusal(stranger.call("Resign", match_id=match_id))
        assert before.head.sequence == told.detail.position.sequence
        assert before.summary == (await stranger.call("ListMatches")).matches[0]
        await people[0].call("Resign", match_id=match_id)
        assert match_pb2.MATCH_STATE_FINISHED == (await stranger.look(match_id)).summary.state

    run(scenario)


def test_before_its_seats_are_closed_a_match_with_a_delay_is_seen_as_it_is() -> None:
    """Seats, leaving and abort are visible at once, so that players can find a seat."""

    async def scenario(world: World) -> None:
        player, stranger = world.person("p0"), world.person("stranger")
        match_id = (await player.open(spectator_delay_seconds=60)).match_id
        for method in ("TakeSeat", "LeaveSeat", "TakeSeat"):
            await player.call(method, match_id=match_id)
            look = await player.look(match_id)
            assert look.head == (await stranger.look(match_id)).head
            assert [look.summary] == list((await stranger.call("ListMatches")).matches)

    run(scenario)


def test_clocks_are_shown_while_a_match_with_a_clock_runs() -> None:
    """The summary has the rest of the turn and of every reserve, by the store's clock."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started(turn_seconds=10, reserve_seconds=20)
        world.clock.ms += 12_000
        clocks = (await people[0].look(match_id)).clocks
        seat = (await people[0].look(match_id)).summary.awaited_seat
        assert (seat, 0, 18_000) == (clocks.seat, clocks.turn_left_ms, clocks.reserve_left_ms[seat])

    run(scenario)


def test_names_are_shown_but_stand_in_no_event() -> None:
    """The name at a seat may differ from the token's name; it disappears when the player leaves."""

    async def scenario(world: World) -> None:
        one = world.person("one")
        match_id = (await one.open(seats=2)).match_id
        await one.call("TakeSeat", match_id=match_id, name="Zoe\u0308", request_id="sit-down-1")
        assert "Zoë" == (await one.look(match_id)).summary.seats[0].name
        other = await refusal(one.call("TakeSeat", match_id=match_id, name="Other", request_id="sit-down-1"))
        assert "REQUEST_ID_REUSED" == other.reason
        found = await one.call("ListMatches", player="Zoe\u0308")
        assert [match_id] == [match.match_id for match in found.matches]
        stored = b"".join(entry.event + entry.private for entry in await world.log.read(match_id))
        assert "Zoë".encode() not in stored
        await one.call("LeaveSeat", match_id=match_id)
        assert "" == (await one.look(match_id)).summary.seats[0].name

    run(scenario)


def test_two_processes_do_not_lose_each_others_names() -> None:
    """A name written through one process survives when another process writes the lobby entry."""

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        match_id = (await opener.open(seats=3)).match_id
        await opener.call("TakeSeat", match_id=match_id)
        async with world.serving(world.process()):
            await world.person("second").call("TakeSeat", match_id=match_id)
        await opener.call("LeaveSeat", match_id=match_id)
        async with world.serving(world.process()):
            summary = (await world.person("third").look(match_id)).summary
        assert ["", "Second", ""] == [seat.name for seat in summary.seats]

    run(scenario)


def test_a_position_that_a_delayed_viewer_cannot_know_is_ahead() -> None:
    """Otherwise guesses would reveal how far the match has gone."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started(spectator_delay_seconds=60)
        head = (await people[0].look(match_id)).head
        stranger = world.person("stranger")
        known = await refusal(stranger.call("TakeSeat", match_id=match_id))
        assert "SEATS_CLOSED" == known.reason
        assert head.sequence > known.detail.position.sequence == len(people) + 1
        position = table_pb2.Position(sequence=head.sequence, link=head.link)
        assert known.reason == (await refusal(stranger.call("TakeSeat", match_id=match_id, position=position))).reason
        open_one = (await people[0].open(spectator_delay_seconds=60)).match_id
        ahead = await refusal(stranger.call("TakeSeat", match_id=open_one, position=position))
        assert ("POSITION_AHEAD", {"head": "1"}) == (ahead.reason, ahead.facts)
        await stranger.call("TakeSeat", match_id=open_one)

    run(scenario)


def test_what_lies_in_hands_changes_no_byte_that_a_stranger_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    """In two matches the same public events happen, but two cards in the players' hands are exchanged.

    They are exchanged below the draw, so key, commitment and everything else are those of the same match.
    """
    dealt = Dice.values
    exchanged: dict[Any, Any] = {}
    chosen: list[Choice] = []

    def values(dice: Dice, number: int, awaited: Any) -> Any:
        drawn = dealt(dice, number, awaited)
        return tuple(exchanged.get(value, value) for value in drawn) if awaited.name == "draw" else drawn

    monkeypatch.setattr(Dice, "values", values)

    async def told(world: World) -> tuple[list[bytes], list[bytes]]:
        match_id, people = await world.started("allie_gator")
        stranger = world.person("stranger")
        seen: list[bytes] = []
        for number in range(3):
            person, look = await world.awaited(match_id, people)
            position = world.check_head(look.head)
            looks = [await stranger.look(match_id), await stranger.call("ListMatches")]
            refusals = [
                await refusal(stranger.call(method, match_id=match_id, **fields))
                for method, fields in (
                    ("Choose", {"position": position}),
                    ("TakeSeat", {}),
                    ("Resign", {"position": position}),
                    ("AbortMatch", {}),
                )
            ]
            seen += [message.SerializeToString(deterministic=True) for message in looks]
            seen += [told.detail.SerializeToString(deterministic=True) + told.message.encode() for told in refusals]
            if not number:
                hands = [(await person.look(match_id)).view.SerializeToString() for person in people]
            if len(chosen) == number:
                legal = [choice for choice in look.legal.allie_gator.choices if not names(choice, *exchanged)]
                chosen.append(Choice(allie_gator=legal[0]))
            await person.choose(match_id, chosen[number], position)
        return seen, hands

    results = []

    async def scenario(world: World) -> None:
        results.append(await told(world))

    for exchange in ({51: 51, 65: 65}, {51: 65, 65: 51}):
        exchanged = exchange
        run(scenario)
    (one, hands), (other, other_hands) = results
    assert hands[0] != other_hands[0]
    assert hands[1] != other_hands[1]
    assert one == other


def names(choice: Any, *cards: int) -> bool:
    """Whether the choice names one of these cards."""
    chosen = getattr(choice, choice.WhichOneof("kind"))
    return any(value in cards for _, value in chosen.ListFields() if isinstance(value, int))
