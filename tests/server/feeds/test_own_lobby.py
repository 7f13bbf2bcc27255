"""The lobby feed with the own matches of its caller: private ones and rematches come live, to their players only."""

from __future__ import annotations

from typing import Any

import pytest

from rollbook.identity.tokens import Role
from rollbook.server import app
from rollbook.v1.match_pb2 import MATCH_STATE_ABORTED, MATCH_STATE_FINISHED, MATCH_STATE_OPEN, MATCH_STATE_RUNNING
from tests.server.feeds.watching import Theatre, Watch, run

pytestmark = pytest.mark.usefixtures("quick_looks")


@pytest.fixture
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The board looks often."""
    monkeypatch.setattr(app, "LOBBY_SECONDS", 0.02)


async def changed(feed: Watch, match_id: str, **wanted: Any) -> Any:
    """Read on to a change of this match with these fields."""
    while True:
        found = await feed.until("changed")
        fields = {name: getattr(found.match, name) for name in wanted if name != "is_gone"}
        if found.match.match_id == match_id and {**fields, "is_gone": found.is_gone} == {"is_gone": False, **wanted}:
            return found.match


def sent(feed: Watch) -> bytes:
    """All bytes that a feed has sent."""
    return b"".join(frame.SerializeToString() for frame in feed.frames)


async def barrier(world: Theatre, *feeds: Watch) -> None:
    """Read on until a public match that is opened now has arrived, so that all that came before it has been sent."""
    match_id = (await world.person("opener").open()).match_id
    for feed in feeds:
        await changed(feed, match_id, state=MATCH_STATE_OPEN)
    await world.abort(match_id)


def test_private_matches_come_to_their_players_and_to_no_byte_of_others() -> None:
    """Also their end; a player who leaves the seat receives that the match is gone, and nothing more of it."""

    async def scenario(world: Theatre) -> None:
        greta, ben = world.person("greta"), world.person("ben")
        stranger, operator = world.person("stranger"), world.person("operator", Role.OPERATOR)
        own = world.lobby(greta, mine=True)
        others = [world.lobby(stranger, mine=True), world.lobby(operator, mine=True), world.lobby(greta)]
        for feed in (own, *others):
            assert not (await feed.until("snapshot")).matches
        opened = await greta.open(is_private=True)
        where = {"match_id": opened.match_id, "invitation_code": opened.invitation_code}
        await greta.call("TakeSeat", **where)
        seen = await changed(own, opened.match_id, state=MATCH_STATE_OPEN, is_private=True)
        assert [True, False] == [seat.taken for seat in seen.seats]
        await greta.call("LeaveSeat", match_id=opened.match_id)
        await changed(own, opened.match_id, is_gone=True)
        await ben.call("TakeSeat", **where, name="Benedikt")
        await barrier(world, own, *others)
        assert b"Benedikt" not in sent(own)
        await greta.call("TakeSeat", **where, name="Margarethe")
        await changed(own, opened.match_id)
        for feed in (world.lobby(ben, mine=True), own):
            summaries = (await feed.until("snapshot")).matches if feed is not own else [seen]
            assert [opened.match_id] == [summary.match_id for summary in summaries]
        await world.abort(opened.match_id)
        await changed(own, opened.match_id, state=MATCH_STATE_ABORTED, is_gone=True)
        match_id, (one, *_) = await world.started(is_private=True)
        late = world.lobby(one, mine=True)
        assert [(match_id, MATCH_STATE_RUNNING)] == [
            (match.match_id, match.state) for match in (await late.until("snapshot")).matches
        ]
        await one.call("Resign", match_id=match_id)
        ended = await changed(late, match_id, state=MATCH_STATE_FINISHED, is_gone=True)
        assert list(ended.places.places)
        await barrier(world, *others)
        for feed in others:
            for hidden in (opened.match_id, match_id, "Margarethe", "Benedikt"):
                assert hidden.encode() not in sent(feed)

    run(scenario)


@pytest.mark.parametrize("is_private", [False, True])
def test_a_rematch_appears_at_once_to_those_whom_it_asks_and_to_no_byte_of_others(is_private: bool) -> None:
    """It asks until the caller has declined, sits, or five minutes are over; another process takes the answer."""

    async def scenario(world: Theatre) -> None:
        match_id, people = await world.started(seats=4, is_private=is_private)
        for person in people[1:]:
            await person.call("Resign", match_id=match_id)
        asked = [world.lobby(person, mine=True) for person in people[1:]]
        stranger, public = world.lobby(world.person("stranger"), mine=True), world.lobby(people[1])
        for feed in (*asked, stranger, public):
            await feed.until("snapshot")
        rematch = (await people[0].call("OpenMatch", rematch_of=match_id)).match_id
        await people[0].call("TakeSeat", match_id=rematch)
        for feed in asked:
            await changed(feed, rematch, asks_you=True, is_private=is_private)
        async with Theatre(log=world.log).serving() as other:
            await other.person(people[1].sub).call("DeclineRematch", match_id=rematch)
            await changed(asked[0], rematch, asks_you=is_private, is_gone=is_private)
        await people[2].call("TakeSeat", match_id=rematch)
        await changed(asked[1], rematch, asks_you=False)
        late = world.lobby(people[3], mine=True)
        assert [True] == [match.asks_you for match in (await late.until("snapshot")).matches]
        world.clock.ms += 300_000
        await changed(asked[2], rematch, asks_you=is_private, is_gone=is_private)
        await barrier(world, stranger, public)
        for feed in (stranger, public):
            assert (rematch.encode() in sent(feed)) is not is_private
            changes = [frame.changed.match for frame in feed.frames if frame.WhichOneof("frame") == "changed"]
            assert not any(match.asks_you for match in changes)

    run(scenario)
