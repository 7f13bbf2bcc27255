"""Playing now in real terminals: by a flag and by a key, and again after a match."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rollbook_clients.sdk import connect
from tests.clients.terminal.pseudo import pseudo
from tests.clients.terminal.test_pseudo_terminal import serve
from tests.server.serving import started

DOWN = "\x1b[B"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a service listens."""
    with started(serve(tmp_path_factory.mktemp("service"), "127.0.0.1:0")) as one:
        yield one.address


def test_two_people_meet_by_flag_and_by_key_and_play_the_next_match(address: str, tmp_path: Path) -> None:
    """One starts with --now, the other presses p; after a resignation both press n and meet again."""
    words = ["play", "--service", address, "--pace", "0"]
    with ExitStack() as stack:
        flags = ["--name", "Anna", "--now", "Can't Stop", "--people"]
        anna = stack.enter_context(pseudo([*words, *flags], tmp_path / "Anna"))
        anna.until("Waiting for players: 1")
        ben = stack.enter_context(pseudo([*words, "--name", "Ben"], tmp_path / "Ben"))
        ben.until("Can't Stop")
        ben.press("p")
        ben.until("Can't Stop · 1 waiting")
        ben.press(DOWN)
        ben.press("\r")
        for terminal in (anna, ben):
            terminal.until(lambda text: "Anna's turn" in text or "Ben's turn" in text or "Your turn" in text)
        ben.resign()
        for terminal in (anna, ben):
            terminal.until("n play")
            terminal.press("n")
        for terminal in (anna, ben):
            terminal.until(lambda text: "'s turn" in text or "Your turn" in text)


def test_who_waits_alone_reads_when_bots_join_and_plays_them(address: str, tmp_path: Path) -> None:
    """The countdown is in the status line; then the match begins."""
    words = ["play", "--service", address, "--pace", "0", "--name", "Carla", "--now", "allie_gator"]
    with pseudo(words, tmp_path / "Carla") as carla:
        carla.until("bots join in 0:")
        carla.until(lambda text: "'s turn" in text or "Your turn" in text)


def test_who_was_ready_gets_another_table_when_the_other_one_was_not(address: str, tmp_path: Path) -> None:
    """By itself, with the reason on the screen; the next person who seeks sits there."""

    async def come(name: str) -> str:
        async with connect(address, name=name) as table:
            return (await table.sit_now("wuerfelzoo")).id

    words = ["play", "--service", address, "--pace", "0", "--name", "Gerd", "--now", "wuerfelzoo", "--people"]
    with pseudo(words, tmp_path / "Gerd") as gerd:
        gerd.until("Waiting for players: 1 seat")
        before = asyncio.run(come("Hans"))
        gerd.until("Hans did not answer.")
        gerd.until(lambda text: "Waiting for players: 1" in text and before not in text)
        assert asyncio.run(come("Ina")) in gerd.text


def test_a_player_reads_who_is_away(address: str, tmp_path: Path) -> None:
    """Beside the name of the one whose terminal has gone; not any more once that one is back."""
    words = ["play", "--service", address, "--pace", "0", "--now", "cant_stop", "--people"]
    with pseudo([*words, "--name", "Dora"], tmp_path / "Dora") as dora:
        with pseudo([*words, "--name", "Emil"], tmp_path / "Emil") as emil:
            for terminal in (dora, emil):
                terminal.until(lambda text: "'s turn" in text or "Your turn" in text)
            assert "away" not in dora.text
            emil.hang_up()
        dora.until("Emil away")
        with pseudo(["play", "--service", address, "--name", "Emil"], tmp_path / "Emil") as emil:
            emil.until("My matches")
            emil.press("\r")
            dora.until(lambda text: "Emil away" not in text)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--now", "chess"], "there is no game 'chess'"),
        (["--slow"], "--slow and --people go with --now"),
        (["host:1/aaaaaaaaaaaaaaaaaaaaaaaa", "--now", "cant_stop"], "--now takes no LINK"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(flags: list[str], said: str, tmp_path: Path) -> None:
    """With the reason, before anything is drawn."""
    with pseudo(["play", *flags], tmp_path) as terminal:
        terminal.until(said)
        assert 64 == terminal.ended()
