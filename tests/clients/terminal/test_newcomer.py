"""The path of a new user at real pseudo-terminals, in both languages: from the first bot to the verdict."""

from __future__ import annotations

import re
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from rollbook_clients.terminal.texts import words_in
from tests.clients.terminal.persons import Person, menu
from tests.clients.terminal.pseudo import Pseudo, pseudo
from tests.clients.terminal.test_afterwards import copied, stops, with_clock
from tests.clients.terminal.test_pseudo_terminal import serve
from tests.server.serving import started

DOWN, RETURN, ESCAPE, RESIGN = "\x1b[B", "\r", "\x1b", "\x18"


class Newcomer:
    """A user who reads the screen in their language and presses the key that it names."""

    def __init__(self, terminal: Pseudo, language: str) -> None:
        """`terminal`: the screen to read; `language`: en or de."""
        self.terminal = terminal
        self.words = words_in(language)

    def reads(self, key: str, **facts: object) -> None:
        """Wait until the screen shows this text, or the part that fits into the first line."""
        self.terminal.until(self.words(key, **facts).splitlines()[0][:40].rstrip())

    def answers(self, keys: str, key: str, **facts: object) -> None:
        """Press keys one after the other, then wait for this text."""
        for each in keys.split():
            self.terminal.press({"down": DOWN, "return": RETURN, "escape": ESCAPE, "resign": RESIGN}.get(each, each))
        self.reads(key, **facts)

    def opens(self) -> None:
        """Open a match with the default settings."""
        self.answers("o", "opening.open")
        self.answers("return", "host.bot")

    def leaves(self) -> None:
        """Leave a running match."""
        self.answers("escape", "leave.seat")
        self.answers("down return", "lobby.mine")

    def comes(self, line: str) -> None:
        """Join a match by an invitation."""
        self.answers("c", "lobby.ask_code")
        self.terminal.press(line)
        self.terminal.press(RETURN)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", ["en", pytest.param("de", marks=pytest.mark.slow)])
def test_a_newcomer_plays_invites_loses_on_time_and_verifies(language: str, tmp_path: Path) -> None:
    """A newcomer plays a bot, invites a friend, loses on time, finds the match again, replays and verifies it."""
    with ExitStack() as stack:
        address = stack.enter_context(started(serve(tmp_path / "data", "127.0.0.1:0"))).address
        words = ["play", "--service", address, "--name", "Anna", "--pace", "0", "--language", language]
        anna = Newcomer(stack.enter_context(pseudo(words, tmp_path / "Anna")), language)

        anna.reads("lobby.empty")
        anna.opens()
        anna.answers("1", "host.bot.random")
        anna.answers("1", "turn.own")
        seen = menu(anna.terminal.until(lambda text: "1" in menu(text)))
        anna.terminal.press("1")
        anna.terminal.until(lambda text: menu(text) != seen)
        anna.answers("resign", "table.give_up")
        anna.answers("down return", "end.again")
        anna.answers("escape", "lobby.mine")

        anna.opens()
        anna.answers("i", "copied")
        (line,) = copied(anna.terminal)
        words = [*line.split()[1:], "--name", "Tom", "--pace", "0"]
        tom = Newcomer(stack.enter_context(pseudo(words, tmp_path / "Tom")), "en")
        for person, other in ((anna, "Tom"), (tom, "Anna")):
            turns = person.words("turn.own"), person.words("turn.of", name=other)
            person.terminal.until(lambda text, turns=turns: any(turn in text for turn in turns))  # type: ignore[misc]  # mypy knows no defaults here
            person.leaves()

        match_id = with_clock(address, "cant_stop", 5)
        for person in (anna, tom):
            person.comes(f"rollbook play {address}/{match_id}")
        awake = Person(tom.terminal, stops)

        def is_there(text: str, said: str) -> bool:
            awake.look()
            return said in text

        place = anna.words("place.2")
        for key, facts in (
            ("timeout.own", {"number": 1, "most": 3}),
            ("timeout.out", {"number": 3}),
            ("end.place", {"names": "Tom", "place": anna.words("come.2")}),
        ):
            anna.terminal.until(partial(is_there, said=anna.words(key, **facts)[:20]))

        anna.answers("escape", "lobby.id", match=match_id)
        anna.reads("result.place", place=place, most=2)
        anna.answers("return", "end.replay")
        anna.terminal.press("2")
        event = anna.words("replay.event", number=r"\d+", most=r"\d+")
        anna.terminal.until(lambda text: re.search(event, text) is not None)
        anna.answers("q", "end.verify")
        anna.terminal.press("4")
        anna.terminal.until(anna.words("verdict.exact", events="")[:12])
