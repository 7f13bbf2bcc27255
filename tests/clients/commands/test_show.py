"""`rollbook show` and `rollbook replay` of a file, an id and an invitation, at a service in its own process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.commands.test_matches import rollbook
from tests.clients.sdk.tables import seated, service, tables
from tests.clients.terminal.pseudo import pseudo

NEVER = "a" * 24


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service for all tests of this module."""
    with service(tmp_path_factory.mktemp("service")) as one:
        yield one.address


async def finished(address: str) -> str:
    """Play a match to its end; returns its id."""
    async with tables(address, "Anna", "Ben") as players:
        matches = await seated(players)
        await asyncio.gather(*(match.ready() for match in matches))
        await matches[0].resign()
        return matches[0].id


def test_a_match_is_shown_from_a_file_by_its_id_and_by_an_invitation(address: str, tmp_path: Path) -> None:
    """The output is the same each time; an invitation names its service."""

    async def scenario() -> None:
        match_id = await finished(address)
        await rollbook(tmp_path, "export", match_id, "--out", str(tmp_path), "--service", address)
        code, from_file, _ = await rollbook(tmp_path, "show", str(tmp_path / f"{match_id}.rollbook"))
        assert (0, True) == (code, "Anna" in "\n".join(from_file))
        for words in (
            [match_id, "--service", address],
            [f"{address}/{match_id}"],
            [f"rollbook play {address}/{match_id}"],
        ):
            assert (0, from_file, "") == await rollbook(tmp_path, "show", *words), words

    asyncio.run(scenario())


def test_a_private_match_is_shown_to_who_has_its_invitation(address: str, tmp_path: Path) -> None:
    """With the code the command shows what the public may see; without it the match is unknown."""

    async def scenario() -> None:
        async with tables(address, "Anna", "Ben") as players:
            (match, other) = await seated(players, is_private=True)
            await asyncio.gather(match.ready(), other.ready())
            invitation = f"{address}/{match.id}"
            code, lines, _ = await rollbook(tmp_path, "show", f"{invitation}/{match.invitation_code}")
            assert (0, "As everybody saw it:") == (code, lines[0])
            code, lines, err = await rollbook(tmp_path, "show", invitation)
            assert (3, [], True) == (code, lines, match.id in err)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("source", "code", "why"),
    [
        ("no-such.rollbook", 3, "no-such.rollbook: no such file, and neither the id of a match nor an invitation"),
        (NEVER, 3, f"{NEVER}: "),
        (f"127.0.0.1:1/{NEVER}", 3, "no service answers"),
        (".", 3, ".: "),
    ],
)
def test_what_cannot_be_shown_is_refused_with_a_reason(
    address: str, tmp_path: Path, source: str, code: int, why: str
) -> None:
    """A missing file, an unknown match, a missing service, and a folder."""

    async def scenario() -> None:
        shown, lines, err = await rollbook(tmp_path, "show", source, "--service", address)
        assert (code, [], True) == (shown, lines, why in err)

    asyncio.run(scenario())


def test_a_replay_is_looked_at_by_an_invitation(address: str, tmp_path: Path) -> None:
    """The terminal calls the service of the invitation; malformed words are refused before any call."""
    match_id = asyncio.run(finished(address))
    with pseudo(["replay", f"{address}/{match_id}"], tmp_path) as terminal:
        terminal.until("everything open")
        terminal.press("q")
        assert 0 == terminal.ended()
    with pseudo(["replay", "nonsense"], tmp_path) as terminal:
        assert 3 == terminal.ended()
        assert "nonsense: no such file, and neither the id" in terminal.text
