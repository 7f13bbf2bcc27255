"""Playing through the SDK: seats, readiness, choices, and the content of refusals."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from random import Random

import pytest

from rollbook.server.feeds import feed as feeds
from rollbook.v1.cant_stop_pb2 import CantStopChoice
from rollbook.v1.match_pb2 import MATCH_STATE_ABORTED, MATCH_STATE_FINISHED
from rollbook_clients.sdk import (
    Illegal,
    Malformed,
    MovedOn,
    NotAllowed,
    NotFound,
    NotNow,
    Refused,
)
from rollbook_replays.audit.verdicts import Verdict
from tests.clients.sdk.tables import (
    GAMES,
    SEED,
    events,
    pick,
    play,
    run,
    running,
    service,
    tables,
    turn,
)
from tests.server.feeds.watching import Theatre


@pytest.mark.parametrize("game", GAMES)
def test_whole_matches_of_every_game_are_played_through_the_sdk_alone(game: str, tmp_path: Path) -> None:
    """A spectator watches; the log has the players' choices, and all of them saw the same events."""

    async def scenario(where: str) -> None:
        random = Random(SEED)
        print(f"ROLLBOOK_SEED={SEED}")
        async with tables(where, "Anna", "Ben", "Cora", "Dora") as (anna, ben, cora, dora):
            matches = await running([anna, ben, cora], game)
            watching = asyncio.create_task(events(dora.match(matches[0].id)))
            played = await asyncio.gather(*(play(match, random) for match in matches))
            seen = await watching
            state = await matches[0].state()
            audited = await matches[0].verify()
        assert Verdict.EXACT == audited.verdict
        assert MATCH_STATE_FINISHED == state.summary.state
        assert ["Anna", "Ben", "Cora"] == [seat.name for seat in state.summary.seats]
        assert all(seat.brings_entropy for seat in state.summary.seats)
        assert list(range(1, len(seen) + 1)) == [event.sequence for event in seen]
        for seat, mine in enumerate(played):
            chosen = [event.sequence for event in seen if (event.kind, event.seat) == ("chosen", seat)]
            assert chosen == [made.events[0].sequence for made in mine]

    with service(tmp_path) as one:
        asyncio.run(scenario(one.address))


def test_a_refusal_says_why_and_where_and_what_would_be_legal() -> None:
    """A program can continue from it: it has reason, facts, position, and on the player's turn the legal choices."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            matches = await running(players)
            match, moment = await turn(matches)
            with pytest.raises(Illegal) as caught:
                await match.choose(CantStopChoice(roll=CantStopChoice.Roll()))
            refused = caught.value
            assert ("OTHER_CHOICE_AWAITED", moment.position) == (refused.reason, refused.position)
            assert moment.legal is not None
            assert moment.legal == refused.legal
            assert refused.why
            with pytest.raises(Malformed) as malformed:
                await match.choose(CantStopChoice(advance=CantStopChoice.Advance(columns=[13, 2])))
            assert "COLUMN_UNKNOWN" == malformed.value.reason
            assert malformed.value.facts
            (other,) = [each for each in matches if each is not match]
            await other.state()
            with pytest.raises(NotNow) as waiting:
                await other.choose(CantStopChoice(roll=CantStopChoice.Roll()))
            assert ("NOT_YOUR_TURN", None) == (waiting.value.reason, waiting.value.legal)

    run(scenario)


def test_every_kind_of_refusal_is_an_exception_of_its_own() -> None:
    """Callers never compare status codes: each kind has an exception, and all are subclasses of Refused."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as (anna, ben):
            match = await anna.open("cant_stop", 2)
            with pytest.raises(NotFound, match="MATCH_NOT_FOUND"):
                await anna.match("a" * 24).state()
            with pytest.raises(NotAllowed, match="NOT_SEATED"):
                await ben.match(match.id).ready()
            with pytest.raises(Malformed, match="POSITION_MISSING"):
                await ben.match(match.id).choose(CantStopChoice(roll=CantStopChoice.Roll()))
            with pytest.raises(Malformed, match="SEATS_OUT_OF_RANGE"):
                await anna.open("cant_stop", 9)
            await match.join()
            with pytest.raises(Refused, match="ALREADY_SEATED"):
                await match.join(seat=1)
            await ben.match(match.id).join()
            with pytest.raises(NotNow, match="SEATS_CLOSED"):
                await match.leave()

    run(scenario)


def test_a_choice_answers_what_was_shown_and_nothing_newer() -> None:
    """A choice for an old position is refused after the match has gone on."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            matches = await running(players)
            match, moment = await turn(matches)
            assert moment.legal is not None
            first = await match.choose(next(iter(moment.legal)))
            assert first.position == match.position == first.head.position
            with pytest.raises(MovedOn) as caught:
                await match.choose(next(iter(moment.legal)), at=moment.position)
            assert ("POSITION_BEHIND", first.position) == (caught.value.reason, caught.value.position)

    run(scenario)


def test_a_seat_is_taken_by_number_under_a_name_and_left_again() -> None:
    """Callers need no request ids, commitments or codes."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as (anna, ben):
            match = await anna.open("cant_stop", 3, is_private=True)
            assert match.invitation_code
            bens = ben.match(match.id, match.invitation_code)
            assert (2, False) == ((seat := await bens.join(2, name="Benjamin")).number, seat.closed_seats)
            assert ["", "", "Benjamin"] == [each.name for each in (await match.state()).summary.seats]
            left = await bens.leave()
            assert ["seat_left"] == [event.kind for event in left.events]
            with pytest.raises(NotFound):
                await ben.match("a" * 24, match.invitation_code).join()

    run(scenario)


def test_whoever_opened_a_match_withdraws_it_before_its_seats_are_taken() -> None:
    """All watchers receive the end; callers other than the opener are refused."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as (anna, ben):
            match = await anna.open("cant_stop", 3)
            bens = ben.match(match.id)
            await bens.join()
            with pytest.raises(NotAllowed, match="ROLE_MISSING"):
                await bens.withdraw()
            withdrawn = await match.withdraw()
            assert ["sealed"] == [event.kind for event in withdrawn.events]
            with pytest.raises(NotNow, match="MATCH_ABORTED"):
                await bens.ready()
            assert MATCH_STATE_ABORTED == (await bens.state()).summary.state

    run(scenario)


def test_resigning_ends_a_match_of_two() -> None:
    """The other player is first, and `play` ends for both."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            matches = await running(players)
            made = await matches[1].resign()
            assert ["resigned", "sealed"] == [made.events[0].kind, made.events[-1].kind]
            moments = [moment async for moment in matches[0].play()]
            assert moments[-1].sealed is not None
            assert [1, 2] == list(moments[-1].sealed.places.places)

    run(scenario)


def test_what_a_player_sees_is_legal_and_only_on_its_turn() -> None:
    """Both players' moments are compared: at each position at most one of them has legal choices."""

    async def scenario(theatre: Theatre) -> None:
        random = Random(SEED)
        async with tables(theatre, "Anna", "Ben") as players:
            matches = await running(players, "allie_gator")
            turns: dict[int, set[int]] = {}

            async def one(seat: int) -> None:
                async for moment in matches[seat].play():
                    if moment.legal:
                        turns.setdefault(moment.position.sequence, set()).add(seat)
                        await matches[seat].choose(pick(moment.legal, random))

            await asyncio.gather(one(0), one(1))
        assert turns
        assert all(1 == len(seats) for seats in turns.values())

    run(scenario)


def test_a_moment_comes_again_while_it_is_still_the_seats_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a player would wait for ever after a choice failed while the feed went on."""
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.02)

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            matches = await running(players)
            match, moment = await turn(matches)
            again = []
            async with aclosing(match.play()) as moments:
                async for each in moments:
                    again.append(each.position)
                    if len(again) == 3:
                        break
            assert [moment.position] * 3 == again

    run(scenario)
