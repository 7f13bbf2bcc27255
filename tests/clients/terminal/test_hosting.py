"""The opener of a match invites, adds bots, frees seats and withdraws it, at real terminals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.clients.terminal.pseudo import Pseudo, pseudo
from tests.clients.terminal.test_afterwards import copied
from tests.clients.terminal.test_pseudo_terminal import END, HOME, RIGHT, UP, opened, serve
from tests.server.serving import started

WIDE = (140, 45)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running service."""
    with started(serve(tmp_path_factory.mktemp("service"), "127.0.0.1:0")) as one:
        yield one.address


def play(stack: ExitStack, address: str, home: Path, name: str, *words: str) -> Pseudo:
    """Start `rollbook play`, in the lobby or with an invitation."""
    to = words or ("--service", address)
    return stack.enter_context(pseudo(["play", *to, "--name", name, "--pace", "0"], home / name, size=WIDE))


def hosting(stack: ExitStack, address: str, home: Path, name: str) -> Pseudo:
    """Open a match and show its table."""
    host = play(stack, address, home, name)
    opened(host, "cant_stop")
    host.until("1 Add a bot")
    return host


def test_a_bot_sits_down_at_once_and_plays(address: str, tmp_path: Path) -> None:
    """Two keys add a bot and choose its strength; the match begins."""
    with ExitStack() as stack:
        anna = hosting(stack, address, tmp_path, "Anna")
        anna.press("1")
        anna.until("1 Weak")
        anna.press("1")
        anna.until("Uno (bot, weak)")
        anna.until(lambda text: "Your turn" in text or "'s turn" in text)


def test_whoever_follows_the_own_invitation_hears_as_whom_they_sit_there(address: str, tmp_path: Path) -> None:
    """A guest has one seat in a match, and `--name` does not rename that seat."""
    with ExitStack() as stack:
        anna = hosting(stack, address, tmp_path, "Anna")
        anna.press("i")
        anna.until("Copied")
        (line,) = copied(anna)
        words = ["play", line.removeprefix("rollbook play "), "--name", "Eve", "--pace", "0"]
        again = stack.enter_context(pseudo(words, tmp_path / "Anna", size=WIDE))
        again.until("You already sit here as Anna.")


def test_whoever_opened_a_private_match_invites_frees_seats_and_withdraws_it(tmp_path: Path) -> None:
    """A friend joins by the line alone; a service without bots is reported; seated players see the withdrawal."""
    with ExitStack() as stack:
        words = serve(tmp_path / "data", "127.0.0.1:0")
        address = stack.enter_context(started(words, {"ROLLBOOK_LIMITS_HOUSE_SEATS": "0"})).address
        anna, tom = (play(stack, address, tmp_path, name) for name in ("Anna", "Tom"))
        anna.until("Rollbook")
        anna.press("o")
        anna.until("Open the match")
        anna.press(HOME)
        anna.press(RIGHT)
        anna.until("Raffzahn")
        anna.press(END)
        anna.press(UP)
        anna.press(RIGHT)
        anna.until(lambda text: "Private, by invitation" in text and "Yes" in text)
        anna.press(END)
        anna.press("\r")
        anna.until("1 Add a bot")
        anna.press("1")
        anna.until("2 Medium")
        anna.press("2")
        anna.until("no bots")

        for size in ((80, 24), (100, 30), WIDE):
            anna.resize(size)
            anna.until(lambda text: re.search(r"/[a-z2-7]{24}/[a-z2-7]{24}\s*$", text, re.MULTILINE) is not None)
        anna.press("i")
        anna.until("Copied")
        (line,) = copied(anna)
        assert line.startswith(f"rollbook play {address}/")
        assert len(line) <= 120
        tom.until("Rollbook")
        tom.press("c")
        tom.until("Invitation, or the id")
        tom.press(line)
        tom.press("\r")
        tom.until("Others come with the line at the top")
        assert "Add a bot" not in tom.text

        anna.until("2 Free the seat of Tom")
        anna.press("2")
        anna.until("2 Withdraw the match")
        anna.press("2")
        anna.until("It ends for all")
        anna.press("\x1b[B")
        anna.press("\r")
        for terminal in (anna, tom):
            terminal.until("Aborted by its opener")
