"""Simulated players at pseudo-terminals: each looks at the screen and presses keys until the match is over."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from time import monotonic, sleep

from rollbook_replays.games.wuerfelzoo.animals import SIGNS
from tests.clients.terminal.pseudo import Pseudo

MATCH_SECONDS = 110.0
"""Longest wait for a match on a busy machine; shorter than the timeout of a test, so that a failure prints the screens.
"""
POLL_SECONDS = 0.01
STILL_SECONDS = 0.03
"""A screen that has not changed for this many seconds is most likely complete."""
LOST_KEY_SECONDS = 3.0
MENU_ROW = 15
"""Menus are below the board."""

Strategy = Callable[["Person", str], None]


class Person:
    """A player at a terminal who follows a strategy of the game."""

    def __init__(self, terminal: Pseudo, strategy: Strategy) -> None:
        """Start with an unknown screen."""
        self.terminal = terminal
        self._strategy = strategy
        self._answered = ""
        """The screen that was answered last; the same screen is answered only once."""
        self._seen = ""
        self._since = 0.0
        """The current screen, and the time since when it is unchanged."""

    @property
    def is_done(self) -> bool:
        """Whether the screen shows the places."""
        return "Watch the replay" in self.terminal.text

    def look(self) -> None:
        """Press the keys of the strategy if the screen has changed."""
        text = self.terminal.text
        if text != self._seen:
            self._seen, self._since = text, monotonic()
        is_still = monotonic() - self._since > STILL_SECONDS
        if "Your turn" in text and is_still and text != self._answered:
            self._answered = text
            self._strategy(self, text)
        elif monotonic() - self._since > LOST_KEY_SECONDS:
            # The program was not ready for the last key.
            self._answered = ""

    def press(self, key: str) -> None:
        """Press one key."""
        self.terminal.press(key)


def menu(text: str) -> dict[str, str]:
    """The entries of the menu by their numbers."""
    rows = text.splitlines()[MENU_ROW:]
    # A line that continues the counts of a species is no entry.
    return {
        found[1]: found[2] for row in rows if (found := re.match(r"[\s\u203a]{0,2}([1-9]) (?!\u00d7 )(.{2,40})", row))
    }


def first(person: Person, text: str) -> None:
    """Choose the first entry."""
    if "1" in menu(text):
        person.press("1")


def stops_with_all_runners(person: Person, text: str) -> None:
    """Can't Stop: choose the first entry, but stop once all runners are on the board."""
    offered = menu(text)
    stop = next((key for key, said in offered.items() if said.startswith("Stop")), None)
    if stop is not None and "● ● ●" in text:
        person.press(stop)
    else:
        first(person, text)


def lays_soon(person: Person, text: str) -> None:
    """Würfelzoo: lay the first species, else throw all dice again; use abilities as they come. One key per look."""
    offered = menu(text)
    if not offered.get("1", "").startswith("Lay"):
        first(person, text)
        return
    note = "\n".join(text.splitlines()[MENU_ROW:])
    wanted = re.search(r"(?:Pick dice to lay:|It takes) (\d+)\S* \u00d7 (\w+)", note)
    if wanted:
        # A picked die is shown in brackets. The note below may be older than the dice for a moment.
        picked = re.findall(r"\b([a-z])\[", text)
        others = re.findall(rf"\b([a-z]) {SIGNS[wanted[2]]}", text)
        if len(picked) < int(wanted[1]):
            person.press("".join(others[:1]))
        elif len(picked) > int(wanted[1]):
            person.press(picked[0])
    elif "You have nothing" not in note:
        person.press("1")
    elif re.search(r"\b[a-z]\[", text):
        person.press("2")
    else:
        person.press(next(key for key, entry in offered.items() if entry.startswith("Pick all")))


def snaps(person: Person, text: str) -> None:
    """Allie Gator: choose the last entry, which takes all penalty cards."""
    if offered := menu(text):
        person.press(max(offered))


STRATEGIES: dict[str, tuple[Strategy, ...]] = {
    "cant_stop": (stops_with_all_runners, stops_with_all_runners),
    "raffzahn": (first, first, first),
    "wuerfelzoo": (lays_soon, lays_soon),
    "allie_gator": (first, snaps),
}
"""One strategy per seat; as many as the game needs."""


def play_out(persons: Sequence[Person]) -> None:
    """Run all players until each sees the end."""
    deadline = monotonic() + MATCH_SECONDS
    while not all(person.is_done for person in persons):
        for person in persons:
            person.look()
        assert monotonic() < deadline, "\n\n".join(person.terminal.text for person in persons)
        assert all(person.terminal.process.poll() is None for person in persons), persons[0].terminal.text
        sleep(POLL_SECONDS)
