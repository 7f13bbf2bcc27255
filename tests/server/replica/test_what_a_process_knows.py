"""A choice is decided on what the process remembers, and that it may be behind others is never told to anybody."""

from __future__ import annotations

from typing import Any

from rollbook.match.chain import Entry
from tests.server.rpc.talking import Person, World, refusal, run, some_choice
from tests.storage.memory import MemoryLog


class Counting:
    """A log that counts how often it is read."""

    def __init__(self) -> None:
        """Nobody has read yet."""
        self.inner = MemoryLog()
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        """Everything else is as it is."""
        return getattr(self.inner, name)

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """Read, and count."""
        self.reads += 1
        return await self.inner.read(match_id, after, limit)


async def chosen(world: World, match_id: str, people: list[Person]) -> Any:
    """One choice by whoever is awaited: the position that it answered, and what it made."""
    person, match = await world.awaited(match_id, people)
    answer = await person.choose(match_id, some_choice(match.legal), match.summary.position)
    return match.summary.position, answer.made


def elsewhere(world: World, people: list[Person]) -> list[Person]:
    """The same people, calling the process that is served last."""
    return [world.person(person.sub) for person in people]


def test_a_choice_reads_nothing_from_the_store() -> None:
    """One append is all that it has to wait for: what it is decided on was read or written before."""
    log = Counting()

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        for _ in range(3):
            person, match = await world.awaited(match_id, people)
            before = log.reads
            await person.choose(match_id, some_choice(match.legal), match.summary.position)
            assert before == log.reads

    run(scenario, log=log)


def test_a_refusal_through_a_process_that_is_behind_speaks_of_the_match_as_it_is() -> None:
    """A position that others have gone beyond is not ahead, and a choice that is right now is taken."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        await chosen(world, match_id, people)
        async with world.serving(world.process()):
            others = elsewhere(world, people)
            between, _ = await chosen(world, match_id, others)
            between, made = await chosen(world, match_id, others)
            person, match = await world.awaited(match_id, others)
            here = people[int(person.sub[1:])]
            declined = await refusal(here.choose(match_id, some_choice(match.legal), between))
            assert ("POSITION_BEHIND", made.last) == (declined.reason, declined.detail.position.sequence)
            await chosen(world, match_id, others)
            person, match = await world.awaited(match_id, others)
            here = people[int(person.sub[1:])]
            answer = await here.choose(match_id, some_choice(match.legal), match.summary.position)
            assert match.summary.position.sequence + 1 == answer.made.first

    run(scenario)


def test_a_choice_that_was_made_through_another_process_is_answered_again() -> None:
    """Whoever repeats it meets a process that has never heard of it."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, match = await world.awaited(match_id, people)
        asked = {"choice": some_choice(match.legal), "position": match.summary.position, "request_id": "only-once"}
        async with world.serving(world.process()):
            (there,) = elsewhere(world, [person])
            first = await there.choose(match_id, **asked)
        assert first == await person.choose(match_id, **asked)

    run(scenario)


def test_a_private_match_hides_from_whoever_has_left_it_through_another_process() -> None:
    """This process still has them on their seat; that they are not on it any more must not tell them of the match."""

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        opened = await opener.open(seats=3, is_private=True)
        guest, other = world.person("guest"), world.person("other")
        await guest.call("TakeSeat", match_id=opened.match_id, invitation_code=opened.invitation_code)
        position = (await guest.look(opened.match_id)).summary.position
        async with world.serving(world.process()):
            (there,) = elsewhere(world, [guest])
            await there.call("LeaveSeat", match_id=opened.match_id)
        unknown = await refusal(guest.call("Choose", match_id=opened.match_id, position=position))
        stranger = await refusal(other.call("Choose", match_id=opened.match_id, position=position))
        assert "MATCH_NOT_FOUND" == unknown.reason
        assert (unknown.code, unknown.message, unknown.detail) == (stranger.code, stranger.message, stranger.detail)

    run(scenario)


def test_who_left_a_private_match_gets_the_answer_again_at_another_process() -> None:
    """Without the invitation: whoever repeats a request that was carried out is no stranger to the match."""

    async def scenario(world: World) -> None:
        opened = await world.person("opener").open(is_private=True)
        where = {"match_id": opened.match_id}
        code = {"invitation_code": opened.invitation_code}
        (guest,) = people = [world.person("guest")]
        await guest.call("TakeSeat", **where, **code)
        left = await guest.call("LeaveSeat", **where, request_id="get-up-01")
        async with world.serving(world.process()):
            (again,) = elsewhere(world, people)
            # This process knows the match, for somebody who may see it.
            await world.person("opener").look(opened.match_id)
            assert left == await again.call("LeaveSeat", **where, request_id="get-up-01")
            told = await refusal(again.call("LeaveSeat", **where, request_id="get-up-02"))
            assert "MATCH_NOT_FOUND" == told.reason

    run(scenario)
