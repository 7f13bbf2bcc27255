"""Mistakes that new players found: hints for impossible actions, and clocks that run while the service is away."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from textual.pilot import Pilot

from rollbook.v1.match_pb2 import MATCH_STATE_OPEN, MATCH_STATE_RUNNING, MatchState, MatchSummary
from rollbook_clients.terminal.screens.lobby import LobbyScreen
from rollbook_clients.terminal.texts import words_in
from tests.clients.terminal.pseudo import Pseudo
from tests.clients.terminal.test_afterwards import at_table, with_clock
from tests.clients.terminal.test_layout import NoLobby, NoMatch, keys_below, raffzahn, until
from tests.clients.terminal.test_pseudo_terminal import on_turn, serve
from tests.clients.terminal.test_screens import on_screen
from tests.ports import free_port
from tests.server.serving import started

CLOCK = re.compile(r"\d:\d\d")


class OneMatch(NoLobby):
    """A service that lists one match, in which this user has a seat or not."""

    def __init__(self, summary: MatchSummary, *, is_own: bool) -> None:
        """`is_own`: whether the user has a seat in the match."""
        self._summary = summary
        self._is_own = is_own

    async def matches(self, *, mine: bool) -> AsyncIterator[MatchSummary]:
        """Yield the match."""
        if self._is_own or not mine:
            yield self._summary

    def match(self, _match_id: str) -> NoMatch:
        """Return a match whose state the service refuses."""
        return NoMatch()


@pytest.mark.parametrize(
    ("state", "is_own", "enters"),
    [
        (MATCH_STATE_OPEN, False, "sit_down"),
        (MATCH_STATE_RUNNING, False, "watch"),
        (MATCH_STATE_RUNNING, True, "go_back"),
    ],
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_the_lobby_names_what_enter_does(
    state: MatchState.ValueType, enters: str, language: str, *, is_own: bool
) -> None:
    """Enter offers a seat where one is free, the own table where the user sits, and watching elsewhere."""
    words = words_in(language)
    table = OneMatch(raffzahn(state), is_own=is_own)
    screen = LobbyScreen(cast("Any", table), words, cast("Any", SimpleNamespace(name="Anna")))
    screen._public = (raffzahn(state),)

    async def does(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: keys_below(screen).strip().startswith(f"⏎ {words(f'hint.{enters}')}"))
        said = [words(f"hint.{name}") in keys_below(screen) for name in ("sit_down", "go_back")]
        assert said == [enters == "sit_down", enters == "go_back"]
        assert keys_below(screen).strip().endswith(f"esc {words('hint.leave')}")

    on_screen(screen, does)


def test_no_clock_runs_on_while_the_service_is_away(tmp_path: Path) -> None:
    """Table and lobby hide the clock until the service sends it again."""
    address = f"127.0.0.1:{free_port()}"
    data = tmp_path / "data"

    def clock(terminal: Pseudo) -> list[str]:
        return CLOCK.findall("\n".join(terminal.lines[1:4]))

    with ExitStack() as stack:
        service = stack.enter_context(started(serve(data, address)))
        service.line("listening")
        terminals = at_table(stack, address, with_clock(address, "cant_stop", 600), tmp_path)
        mine = on_turn(terminals)
        mine.press("\x1b")
        mine.until("your seat is still yours")
        mine.press("\x1b[B\r")
        mine.until("► Can't Stop")
        for terminal in terminals:
            terminal.until(lambda _, terminal=terminal: clock(terminal) != [])  # type: ignore[misc]  # mypy knows no defaults here
        service.process.kill()
        for terminal in terminals:
            terminal.until("Connection lost")
            terminal.until(lambda _, terminal=terminal: clock(terminal) == [])  # type: ignore[misc]  # mypy knows no defaults here
        stack.enter_context(started(serve(data, address))).line("listening")
        for terminal in terminals:
            terminal.until(lambda text: "Connection lost" not in text)
            terminal.until(lambda _, terminal=terminal: clock(terminal) != [])  # type: ignore[misc]  # mypy knows no defaults here
