"""A rematch is an offer: the other players see it, answer it, and meanwhile their seats are kept."""

from __future__ import annotations

import asyncio
import os
import random
from typing import Any

import grpc
import pytest

from rollbook.match.chain import entropy_commitment
from rollbook.server.app import Parts
from rollbook.server.given import Given
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.match_pb2 import MATCH_STATE_ABORTED, MATCH_STATE_OPEN
from tests.server.feeds.watching import Theatre, Watch
from tests.server.rpc.talking import PATIENCE_SECONDS, Person, entropy, refusal, refused

Answer = MatchFrame.Rematch
ASKED, ACCEPTED, DECLINED = Answer.ANSWER_ASKED, Answer.ANSWER_ACCEPTED, Answer.ANSWER_DECLINED
HOUSE, LAPSED = Answer.ANSWER_HOUSE, Answer.ANSWER_LAPSED


class Hall(Theatre):
    """A service with feeds and a house."""

    def process(self, keys: dict[str, Any] | None = None) -> Parts:
        """A process of the service over the same log."""
        given = self.given(keys)
        fields = {name: getattr(given, name) for name in Given.__slots__}
        return Parts(Given(**{**fields, "invite": lambda _match_id, _bot: None}))

    async def finished(self, seats: int = 2, **fields: Any) -> tuple[str, list[Person]]:
        """A match with a result."""
        match_id, people = await self.started(seats=seats, **fields)
        for person in people[1:]:
            await person.call("Resign", match_id=match_id)
        return match_id, people

    async def offered(self, watch: Watch, *answers: int) -> Answer:
        """Read on to these answers."""
        while True:
            found: MatchFrame.Rematch = await watch.until("rematch")
            if list(found.answers) == list(answers):
                return found


def run(scenario: Any) -> None:
    """Run the scenario in a served hall."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), Hall().serving() as hall:
            await scenario(hall)

    asyncio.run(main())


@pytest.mark.parametrize("is_private", [False, True])
def test_every_other_player_receives_the_offer_and_the_answers(is_private: bool) -> None:
    """On the feed of the match before, which stays open for seats only; another process opened it."""

    async def scenario(hall: Hall) -> None:
        before, (one, two, three) = await hall.finished(3, is_private=is_private)
        watches = [hall.watch(person, before, linger_seconds=60) for person in (two, three)]
        for watch in watches:
            await watch.until("revealed")
        async with Hall(log=hall.log).serving() as other:
            opener = other.person(one.sub)
            match_id = (await opener.call("OpenMatch", rematch_of=before)).match_id
            await opener.call("TakeSeat", match_id=match_id)
            found = [await hall.offered(watch, ACCEPTED, ASKED, ASKED) for watch in watches]
            assert {(match_id, MATCH_STATE_OPEN, hall.clock.ms + 300_000)} == {
                (each.match_id, each.state, each.kept_until_ms) for each in found
            }
            late = hall.watch(two, before, linger_seconds=60)
            await hall.offered(late, ACCEPTED, ASKED, ASKED)
            late.leave()
        for _ in range(2):
            await two.call("DeclineRematch", match_id=match_id)
        await hall.offered(watches[1], ACCEPTED, DECLINED, ASKED)
        await three.call("TakeSeat", match_id=match_id)
        await hall.offered(watches[0], ACCEPTED, DECLINED, ACCEPTED)
        hall.clock.ms += 300_000
        await one.call("AbortMatch", match_id=match_id)
        while (await watches[0].until("rematch")).state != MATCH_STATE_ABORTED:
            pass
        again = (await three.call("OpenMatch", rematch_of=before)).match_id
        assert again == (await hall.offered(watches[0], ASKED, ASKED, ASKED)).match_id != match_id
        spectator = hall.watch(hall.person("spectator"), before, linger_seconds=60) if not is_private else None
        if spectator is not None:
            assert ["revealed", "ended"] == (await spectator.rest())[-2:]
        short = hall.watch(two, before, linger_seconds=1)
        assert ["revealed", "rematch", "ended"] == (await short.rest())[-3:]
        await hall.feeds.drain()
        assert "ended" == (await watches[0].rest())[-1]

    run(scenario)


def test_kept_seats_stay_free_of_bots_and_strangers() -> None:
    """As many as persons are asked; a declined seat is free at once, and others after five minutes."""

    async def scenario(hall: Hall) -> None:
        before, (one, two, _) = await hall.finished(3)
        match_id = (await one.call("OpenMatch", rematch_of=before)).match_id
        where, stranger = {"match_id": match_id}, hall.person("stranger")
        await one.call("TakeSeat", **where)
        hall.clock.ms += 60_000
        for call in (stranger.call("TakeSeat", **where), one.call("AddBot", **where)):
            kept = await refusal(call)
            assert ("SEATS_KEPT", {"retry_after_ms": "240000"}) == (kept.reason, kept.facts)
        assert "NOT_SEATED" == (await refusal(stranger.call("DeclineRematch", **where))).reason
        assert "NOT_SEATED" == (await refusal(one.call("DeclineRematch", match_id=before))).reason
        await two.call("DeclineRematch", **where)
        assert 1 == (await one.call("AddBot", **where)).seat
        assert "SEATS_KEPT" == (await refusal(stranger.call("TakeSeat", **where))).reason
        # A player who has declined may still come while a seat is free, and one who leaves is waited for again.
        await one.call("FreeSeat", **where, seat=1)
        await two.call("TakeSeat", **where)
        assert "SEATS_KEPT" == (await refusal(stranger.call("TakeSeat", **where))).reason
        await one.call("LeaveSeat", **where)
        assert "SEATS_KEPT" == (await refusal(stranger.call("TakeSeat", **where))).reason
        hall.clock.ms += 240_000
        await stranger.call("TakeSeat", **where)

    run(scenario)


def test_in_a_hundred_races_no_bot_and_no_stranger_gets_a_kept_seat() -> None:
    """Strangers, bots and the players themselves at once, at two processes; the players always sit at the end."""
    seed = int(os.environ.get("ROLLBOOK_TEST_SEED") or random.randrange(1 << 32))
    print(f"ROLLBOOK_TEST_SEED={seed}")
    chance = random.Random(seed)

    async def scenario(hall: Hall) -> None:
        before, (one, two) = await hall.finished()
        stranger = hall.person("stranger")
        other = hall.process()
        for _ in range(100):
            async with asyncio.TaskGroup() as group:
                match_id = (await one.call("OpenMatch", rematch_of=before)).match_id
                calls = [one.call("TakeSeat", match_id=match_id), two.call("TakeSeat", match_id=match_id)]
                intruders = [stranger.call("TakeSeat", match_id=match_id), one.call("AddBot", match_id=match_id)]
                mixed = [*calls, *intruders]
                chance.shuffle(mixed)
                tasks = [group.create_task(settled(call)) for call in mixed]
            reasons = sorted(task.result() for task in tasks)
            assert reasons.count("") == 2, (seed, reasons)
            assert set(reasons) <= {"", "SEATS_KEPT", "SEATS_CLOSED", "PERSON_NEEDED"}
            ledger = await other.replicas.ledger(match_id)
            assert [False, False] == ledger.house
            await hall.abort(match_id)
            before, (one, two) = await hall.finished()

    run(scenario)


async def settled(call: Any) -> str:
    """The reason of the refusal; empty for an answer."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return refused(error).reason
    return ""


@pytest.mark.parametrize("is_private", [False, True])
def test_a_rematch_stands_in_the_lists_of_those_whom_it_asks(is_private: bool) -> None:
    """Also if it is private, until they have answered; nobody else finds a private one."""

    async def scenario(hall: Hall) -> None:
        before, (one, two, three) = await hall.finished(3, is_private=is_private)
        match_id = (await one.call("OpenMatch", rematch_of=before)).match_id

        async def asks(person: Person) -> list[bool]:
            listed = await person.call("ListMatches", mine=True)
            return [match.asks_you for match in listed.matches if match.match_id == match_id]

        assert [[True]] * 3 == [await asks(person) for person in (one, two, three)]
        await one.call("TakeSeat", match_id=match_id)
        await two.call("DeclineRematch", match_id=match_id)
        assert [[False], [], [True]] == [await asks(person) for person in (one, two, three)]
        stranger = hall.person("stranger")
        assert [] == await asks(stranger)
        ids = [match.match_id for match in (await stranger.call("ListMatches")).matches]
        assert (match_id in ids) is not is_private
        hall.clock.ms += 300_000
        assert [] == await asks(three)

    run(scenario)


def test_who_declined_is_forgotten_after_ten_minutes() -> None:
    """The seat is no longer kept by then, and the player has left like others who did not answer."""

    async def scenario(hall: Hall) -> None:
        before, (one, two) = await hall.finished()
        match_id = (await one.call("OpenMatch", rematch_of=before)).match_id
        await two.call("DeclineRematch", match_id=match_id)
        hall.clock.ms += 599_999
        watch = hall.watch(one, before, linger_seconds=60)
        await hall.offered(watch, LAPSED, DECLINED)
        assert await hall.log.list_declined(match_id)
        hall.clock.ms += 1
        assert not await hall.log.list_declined(match_id)
        await hall.offered(watch, LAPSED, LAPSED)
        watch.leave()

    run(scenario)


def test_the_lobby_entry_of_a_rematch_keeps_whom_it_asks_when_names_are_erased() -> None:
    """`forget` rewrites the entry; what it read is what it writes, and no name of the match before is in it."""

    async def scenario(hall: Hall) -> None:
        before, (one, two) = await hall.finished()
        match_id = (await one.call("OpenMatch", rematch_of=before)).match_id
        await two.call("TakeSeat", match_id=match_id, name="Greta")
        stored = await hall.log.summary(match_id)
        assert stored is not None
        listed = ListedMatch.read(stored)
        assert (listed.write(), 2, 1) == (stored, len(listed.asked), len(set(listed.came) - {b""}))
        listed.summary.seats[0].name = ""
        erased = listed.write()
        assert b"Greta" not in erased
        assert (listed.asked, listed.came) == (ListedMatch.read(erased).asked, ListedMatch.read(erased).came)

    run(scenario)


def test_bots_are_not_asked_and_sit_down_again_only_when_they_are_added() -> None:
    """No seat is kept for them, and others may take it."""

    async def scenario(hall: Hall) -> None:
        one, bot = hall.person("one"), hall.person("house-rita-heuristic")
        before = (await one.open()).match_id
        for seat, person in enumerate((one, bot)):
            commitment = entropy_commitment(entropy(seat))
            await person.call("TakeSeat", match_id=before, seat=seat, entropy_commitment=commitment)
        await hall.get_ready(before, [one, bot])
        await one.call("Resign", match_id=before)
        watch = hall.watch(one, before, linger_seconds=60)
        match_id = (await one.call("OpenMatch", rematch_of=before)).match_id
        await hall.offered(watch, ASKED, HOUSE)
        await one.call("TakeSeat", match_id=match_id)
        await hall.offered(watch, ACCEPTED, HOUSE)
        assert (await one.call("AddBot", match_id=match_id)).closed_seats
        watch.leave()

    run(scenario)
