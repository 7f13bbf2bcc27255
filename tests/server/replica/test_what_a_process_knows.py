"""Choices are decided from a process's memory, and clients never notice that this may be behind other processes."""

from __future__ import annotations

from typing import Any

from rollbook.match.chain import Entry
from tests.server.rpc.talking import Person, World, refusal, run, some_choice
from tests.storage.memory import MemoryLog


class Counting:
    """A log that counts its reads."""

    def __init__(self) -> None:
        """Begin with zero reads."""
        self.inner = MemoryLog()
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else."""
        return getattr(self.inner, name)

    async def read(self, match_id: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """Read, and count."""
        self.reads += 1
        return await self.inner.read(match_id, after, limit)


async def chosen(world: World, match_id: str, people: list[Person]) -> Any:
    """One choice by the awaited player: its position and what it made."""
    person, match = await world.awaited(match_id, people)
    answer = await person.choose(match_id, some_choice(match.legal), match.summary.position)
    return match.summary.position, answer.made


def elsewhere(world: World, people: list[Person]) -> list[Person]:
    """The same people at the process that was served last."""
    return [world.person(person.sub) for person in people]


def test_a_choice_reads_nothing_from_the_store() -> None:
    """A choice waits for a single append; its ledger was read or written before."""
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
    """A position that others have passed is not refused as ahead, and a choice that is legal now is accepted."""

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
    """The retry reaches a process that has not seen the choice."""

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
    """This process still has the guest on the seat; the refusal must not reveal the match."""

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
    """No invitation is needed: repeating a request that was carried out proves access to the match."""

    async def scenario(world: World) -> None:
        opened = await world.person("opener").open(is_private=True)
        where = {"match_id": opened.match_id}
        code = {"invitation_code": opened.invitation_code}
        (guest,) = people = [world.person("guest")]
        await guest.call("TakeSeat", **where, **code)
        left = await guest.call("LeaveSeat", **where, request_id="get-up-01")
        async with world.serving(world.process()):
            (again,) = elsewhere(world, people)
            # The process loads the match for a player who may see it.
            await world.person("opener").look(opened.match_id)
            assert left == await again.call("LeaveSeat", **where, request_id="get-up-01")
            told = await refusal(again.call("LeaveSeat", **where, request_id="get-up-02"))
            assert "MATCH_NOT_FOUND" == told.reason

    run(scenario)
