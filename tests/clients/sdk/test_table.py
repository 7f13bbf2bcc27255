"""Tables: identity of the guest, list of games, and services that do not answer."""

from __future__ import annotations

import asyncio
import stat
import time
from pathlib import Path

import pytest

from rollbook.rules.catalogue import current
from rollbook.server.configuration.limit_table import Limits
from rollbook.v1.cant_stop_pb2 import CantStopOptions
from rollbook.v1.match_pb2 import MATCH_STATE_OPEN, MATCH_STATE_RUNNING
from rollbook_clients.sdk import GuestsUnreadable, Malformed, RollbookError, Unreachable, connect
from tests.clients.sdk.tables import (
    address,
    events,
    impatient,
    run,
    running,
    seated,
    service,
    table,
    tables,
)
from tests.ports import free_port
from tests.server.feeds.watching import Theatre


def test_a_table_at_no_service_is_told_soon_and_in_words() -> None:
    """The exception comes soon and explains how to start a service."""

    async def main() -> None:
        where = f"127.0.0.1:{free_port()}"
        with pytest.raises(Unreachable, match=f"no service answers at {where}"):
            async with connect(where, patience=impatient(arrival=0.3, call=3_600.0)):
                pass

    asyncio.run(main())


def test_a_table_that_was_left_says_so() -> None:
    """Calls on a closed table raise RollbookError; they do not hang and are not cancelled."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna") as (anna,):
            match = await anna.open("cant_stop", 2)
            watching = asyncio.create_task(events(match))
            while not theatre.feeds._feeds.watchers:
                await asyncio.wait({watching}, timeout=0.01)
        with pytest.raises(RollbookError, match="left"):
            await watching
        with pytest.raises(RollbookError, match="left"):
            await match.state()

    run(scenario)


def test_a_guest_that_is_kept_is_the_same_one_next_time(tmp_path: Path) -> None:
    """The file, readable only by its owner, keeps name, seats and entropy over a restart of the program."""
    file = tmp_path / "guests.json"

    async def scenario(where: str) -> None:
        async with table(where, "Anna", keep=file) as anna, table(where, "Ben") as ben:
            matches = await seated([anna, ben])
            await matches[1].ready()
        assert stat.S_IRUSR | stat.S_IWUSR == stat.S_IMODE(file.stat().st_mode)
        async with table(where, "", keep=file) as again:
            assert "Anna" == again.name
            assert [matches[0].id] == [summary.match_id async for summary in again.matches(mine=True)]
            made = await again.match(matches[0].id).ready()
            assert ["ready", "started"] == [event.kind for event in made.events[:2]]

    with service(tmp_path / "data") as one:
        asyncio.run(scenario(one.address))


def test_a_guest_whose_service_was_made_anew_becomes_a_new_one(tmp_path: Path) -> None:
    """The old token belongs to another service; the SDK replaces it, and the user deletes no file."""
    file = tmp_path / "guests.json"

    async def once(where: str) -> str:
        async with table(where, "Anna", keep=file) as anna:
            return anna.token

    port = free_port()
    with service(tmp_path / "first", port) as one:
        first = asyncio.run(once(one.address))
    with service(tmp_path / "second", port) as two:
        assert first != asyncio.run(once(two.address))


def test_a_file_that_holds_no_guests_is_refused(tmp_path: Path) -> None:
    """The file may hold other data of the user and must not be overwritten."""
    file = tmp_path / "notes.txt"
    file.write_text("milk, eggs")
    with pytest.raises(GuestsUnreadable, match="this is no file of guests"):
        connect(keep=file)
    assert "milk, eggs" == file.read_text()


def test_a_guest_is_renewed_before_the_token_expires() -> None:
    """A guest who plays longer than a token lives stays the same guest, and no call is refused meanwhile."""

    async def scenario(theatre: Theatre) -> None:
        theatre.clock.ms = int(time.time() * 1_000)
        async with table(address(theatre), "Anna") as anna:
            match = await anna.open("cant_stop", 2)
            await match.join()
            token = anna.token
            state = await match.state()
            # By the service's clock the token never expires, so only early renewal replaces it.
            theatre.clock.ms += 1_000
            while token == anna.token:
                state = await match.state()
            assert state.perspective.HasField("seat")

    run(scenario, limits=Limits(requests_at_once=10**6, guest_token_seconds=3))


def test_what_can_be_played_is_listed_and_options_are_named_as_listed() -> None:
    """Every option that `games` lists can be given by its name and value, or as the game's message."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna") as (anna,):
            games = {ruleset.game: ruleset for ruleset in await anna.games()}
            assert set(current()) == set(games)
            for game, ruleset in games.items():
                options = {option.name: _value(option.default_value) for option in ruleset.options}
                state = await (await anna.open(game, ruleset.most_seats, options)).state()
                assert (game, ruleset.most_seats) == (state.summary.game, len(state.summary.seats))
            five = await anna.open("cant_stop", 2, CantStopOptions(columns_to_win=5))
            assert 5 == (await five.state()).summary.options.cant_stop.columns_to_win

    run(scenario)


def _value(text: str) -> object:
    return {"true": True, "false": False}.get(text, int(text) if text.isdecimal() else text)


@pytest.mark.parametrize(
    ("game", "options", "reason"),
    [
        ("chess", {}, "GAME_UNKNOWN"),
        ("cant_stop", {"columns": 3}, "OPTION_UNKNOWN"),
        ("cant_stop", {"columns_to_win": "three"}, "OPTION_VALUE_UNKNOWN"),
        ("cant_stop", {"columns_to_win": 1 << 40}, "OPTION_VALUE_UNKNOWN"),
        ("raffzahn", {"edition": "deluxe"}, "OPTION_VALUE_UNKNOWN"),
        ("raffzahn", CantStopOptions(), "OPTION_UNKNOWN"),
        ("cant_stop", {"columns_to_win": 7}, "OPTION_VALUE_UNKNOWN"),
    ],
)
def test_options_that_cannot_be_are_refused_alike_on_both_sides(game: str, options: object, reason: str) -> None:
    """Options that cannot be encoded raise the same reason as options that the service refuses."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna") as (anna,):
            with pytest.raises(Malformed) as caught:
                await anna.open(game, 3, options)  # type: ignore[arg-type]
            assert reason == caught.value.reason

    run(scenario)


def test_lists_are_paged_through_as_they_are_read() -> None:
    """The listing has more matches than a page; each comes once, filtered as asked."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            opened = [(await person.open("cant_stop", 2)).id for person in (anna, ben) for _ in range(40)]
            started = await running([anna, ben], "allie_gator")
            everything = [summary.match_id async for summary in cora.matches()]
            assert {*opened, started[0].id} == set(everything)
            assert len(everything) == len(opened) + 1
            assert set(opened) == {summary.match_id async for summary in cora.matches(state=MATCH_STATE_OPEN)}
            assert [started[0].id] == [each.match_id async for each in cora.matches(state=MATCH_STATE_RUNNING)]
            assert [started[0].id] == [each.match_id async for each in cora.matches("allie_gator", player="Ben")]
            assert [started[0].id] == [each.match_id async for each in anna.matches(mine=True)]

    run(scenario, limits=Limits(requests_at_once=10**6, open_matches_per_subject=41))


def test_a_rate_limit_is_waited_out() -> None:
    """The SDK waits as long as the refusal demands and repeats the call; the caller does not notice."""

    async def scenario(theatre: Theatre) -> None:
        theatre.service.rates.at_once = 5
        theatre.service.rates.per_second = 50.0

        async def tick() -> None:
            while True:
                await asyncio.sleep(0.05)
                theatre.clock.ms += 10

        ticking = asyncio.create_task(tick())
        async with tables(theatre, "Anna") as (anna,):
            matches = [await anna.open("cant_stop", 2) for _ in range(5)]
            assert 5 == len({match.id for match in matches})
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)

    run(scenario)
