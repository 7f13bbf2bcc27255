"""The terminal is closed, or a signal ends the program; in real pseudo-terminals."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.clients.terminal.pseudo import Pseudo, pseudo
from tests.clients.terminal.test_pseudo_terminal import serve
from tests.server.serving import Service, started

LEAVES_THE_SCREEN = b"\x1b[?1049l"
NO_MOUSE = b"\x1b[?1003l"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service that a test may kill."""
    with started(serve(tmp_path / "service", "127.0.0.1:0")) as one:
        yield one


def in_the_lobby(stack: ExitStack, service: Service, home: Path, *, is_told: bool = True) -> Pseudo:
    """Open a terminal that shows the lobby of the service."""
    words = ["play", "--service", service.address, "--name", "Anna"]
    terminal = stack.enter_context(pseudo(words, home, is_told=is_told))
    terminal.until("you are Anna")
    return terminal


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "not told"])
@pytest.mark.parametrize("is_away", [True, False], ids=["service away", "service there"])
def test_a_terminal_that_goes_away_ends_the_program(
    service: Service, tmp_path: Path, *, is_told: bool, is_away: bool
) -> None:
    """After a closed window or a lost ssh connection no program stays behind and reads from a closed input."""
    with ExitStack() as stack:
        terminal = in_the_lobby(stack, service, tmp_path / "Anna", is_told=is_told)
        if is_away:
            service.process.kill()
            terminal.until("Connection lost")
        terminal.hang_up()
        assert 128 + signal.SIGHUP == terminal.process.wait(30)


def test_whoever_ends_it_gets_the_terminal_back(service: Service, tmp_path: Path) -> None:
    """SIGTERM leaves full screen and mouse mode, restores the keys, and sets the exit code."""
    with ExitStack() as stack:
        terminal = in_the_lobby(stack, service, tmp_path / "Anna")
        assert terminal.modes_before != terminal.modes
        terminal.process.send_signal(signal.SIGTERM)
        assert 128 + signal.SIGTERM == terminal.ended()
        assert terminal.modes_before == terminal.modes
        assert {LEAVES_THE_SCREEN, NO_MOUSE} <= set(re.findall(rb"\x1b\[\?\d+l", terminal.raw))


def test_a_terminal_that_reads_no_more_does_not_hold_it_back(service: Service, tmp_path: Path) -> None:
    """A stalled ssh connection reads no output; SIGTERM still ends the program."""
    with ExitStack() as stack:
        terminal = in_the_lobby(stack, service, tmp_path / "Anna")
        terminal.stall()
        terminal.process.send_signal(signal.SIGTERM)
        assert 128 + signal.SIGTERM == terminal.process.wait(30)


def test_ctrl_c_is_a_good_end(service: Service, tmp_path: Path) -> None:
    """Ctrl-C works on every screen and ends with exit code 0."""
    with ExitStack() as stack:
        terminal = in_the_lobby(stack, service, tmp_path / "Anna")
        terminal.press("\x03")
        assert 0 == terminal.ended()
