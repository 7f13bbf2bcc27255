"""`rollbook matches` and related commands as users run them, at a service in its own process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollbook_clients.commands.matches import matches as matches_command
from rollbook_clients.sdk import connect
from rollbook_clients.terminal.invitation import LONGEST, Invitation, read
from tests.cli.json_output import objects
from tests.clients.sdk.tables import QUICK, seated, service, tables

PATIENCE_SECONDS = 100


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service for all tests of this module."""
    with service(tmp_path_factory.mktemp("service")) as one:
        yield one.address


async def rollbook(home: Path, *words: str) -> tuple[int, list[str], str]:
    """Run a command with this home; returns exit code, output lines and errors."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "rollbook", *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PATH": "", "PYTHONUTF8": "1"},
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode().splitlines(), err.decode()


def test_matches_are_found_by_state_and_by_player(address: str, tmp_path: Path) -> None:
    """Each row has an id that other commands take; finished matches have their result."""

    async def scenario() -> None:
        at = ("--service", address)
        async with tables(address, "Anna", "Ben") as players:
            matches = await seated(players)
            await asyncio.gather(*(match.ready() for match in matches))
            opened = await players[0].open("raffzahn", seats=3)
            code, lines, _ = await rollbook(tmp_path, "matches", "--state", "running", *at)
            assert (0, [f"{matches[0].id}  cant_stop    running        Anna, Ben"]) == (code, lines)
            code, lines, _ = await rollbook(tmp_path, "matches", "--state", "open", "--ids", *at)
            assert (0, [opened.id]) == (code, lines)
            await matches[0].resign()
            code, lines, _ = await rollbook(tmp_path, "matches", "--player", "Ben", "--json", *at)
            (facts,) = objects(matches_command, "\n".join(lines))
            named = {"match": matches[0].id, "game": "cant_stop", "state": "finished", "is_private": False}
            seats = {
                "names": ["Anna", "Ben"],
                "taken": [0, 1],
                "out": [0],
                "places": [2, 1],
                "bots": {},
                "waits_for_you": None,
            }
            assert named | seats == {name: value for name, value in facts.items() if not name.endswith("_ms")}
            assert 0 < facts["opened_ms"] <= facts["changed_ms"]
            assert 64 == (await rollbook(tmp_path, "matches", "--json", "--ids", *at))[0]
            code, lines, _ = await rollbook(tmp_path, "matches", "--player", "Ben", *at)
            assert (0, [f"{matches[0].id}  cant_stop    finished       1. Ben, 2. Anna (out)"]) == (code, lines)
            code, lines, err = await rollbook(tmp_path, "matches", "--game", "can_stop", *at)
            assert (64, [], True) == (
                code,
                lines,
                "there is no game 'can_stop'; there are allie_gator, cant_stop, " in err,
            )
            code, lines, err = await rollbook(tmp_path, "matches", "--game", "wuerfelzoo", *at)
            assert (3, [], True) == (code, lines, "no matching match" in err)

    asyncio.run(scenario())


def test_my_matches_are_those_of_the_guest_of_this_computer(address: str, tmp_path: Path) -> None:
    """`--wait` ends when it is the user's turn or they have to get ready; without a match it ends at once."""

    async def scenario() -> None:
        at = ("--service", address)
        code, _, err = await rollbook(tmp_path, "matches", "--wait", *at)
        assert (3, True) == (code, "you sit in no match" in err)
        guests = tmp_path / "state" / "rollbook" / "guests.json"
        async with connect(address, keep=guests, name="Me", patience=QUICK) as me, tables(address, "Ben") as (ben,):
            mine = await me.open("cant_stop")
            await mine.join()
            waiting = asyncio.create_task(rollbook(tmp_path, "matches", "--wait", *at))
            _, lines, _ = await rollbook(tmp_path, "matches", "--mine", *at)
            assert [f"{mine.id}  cant_stop    open           Me, (free)"] == lines
            _, lines, _ = await rollbook(tmp_path, "matches", "--mine", "--json", *at)
            (facts,) = objects(matches_command, "\n".join(lines))
            assert (["Me", ""], [0], False) == (facts["names"], facts["taken"], facts["waits_for_you"])
            assert not waiting.done()
            await ben.match(mine.id).join()
            code, lines, _ = await waiting
            assert (0, [f"{mine.id}  cant_stop    getting ready  Me, Ben  (waits for you)"]) == (code, lines)
            _, lines, _ = await rollbook(tmp_path, "matches", "--wait", "--json", *at)
            assert [(mine.id, True)] == [(each["match"], each["waits_for_you"]) for each in map(json.loads, lines)]
            code, lines, _ = await rollbook(tmp_path, "device", *at)
            assert 0 == code
            assert lines[0].startswith(f"rollbook play --service {address} --code ")
            async with connect(address, code=lines[0].split()[-1], patience=QUICK) as second:
                assert "Me" == second.name

    asyncio.run(scenario())


def test_an_invitation_is_one_short_line() -> None:
    """It has address, match and code; other words are refused with an example."""
    invitation = Invitation("games.example.org:50051", "a" * 24, "b" * 24)
    assert len(str(invitation)) <= LONGEST
    assert invitation == read(str(invitation)) == read(str(invitation).removeprefix("rollbook play "))
    for wrong in ("", "localhost:50051", "localhost:50051/match", f"localhost:50051/{'a' * 24}/code"):
        with pytest.raises(ValueError, match="HOST:PORT/MATCH"):
            read(wrong)
