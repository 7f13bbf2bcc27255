"""People of few thoughts at pseudo-terminals: each looks at the screen and presses keys, until the match is over."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from time import monotonic, sleep

from rollbook_replays.games.wuerfelzoo.animals import SIGNS
from tests.clients.terminal.pseudo import Pseudo

MATCH_SECONDS = 110.0
"""Nobody waits longer for a match on a busy machine; less than a test may take, so that its screens are shown."""
POLL_SECONDS = 0.01
STILL_SECONDS = 0.03
"""A screen that has not changed for so long is drawn to its end, most likely."""
LOST_KEY_SECONDS = 3.0
MENU_ROW = 15
"""Menus are below the board."""

Strategy = Callable[["Person", str], None]


class Person:
    """Somebody at a terminal, with the game's strategy."""

    def __init__(self, terminal: Pseudo, strategy: Strategy) -> None:
        """Begin to look."""
        self.terminal = terminal
        self._strategy = strategy
        self._answered = ""
        """The screen that was answered last: the same one is not answered twice."""
        self._seen = ""
        self._since = 0.0
        """What is on the screen, and since when."""

    @property
    def is_done(self) -> bool:
        """Whether the places are on the screen."""
        return "Watch the replay" in self.terminal.text

    def look(self) -> None:
        """Press what the strategy says, if there is anything new to answer."""
        text = self.terminal.text
        if text != self._seen:
            self._seen, self._since = text, monotonic()
        is_still = monotonic() - self._since > STILL_SECONDS
        if "Your turn" in text and is_still and text != self._answered:
            self._answered = text
            self._strategy(self, text)
        elif monotonic() - self._since > LOST_KEY_SECONDS:
            # It was not ready yet for what was pressed.
            self._answered = ""

    def press(self, key: str) -> None:
        """One key."""
        self.terminal.press(key)


def menu(text: str) -> dict[str, str]:
    """What stands behind the numbers of the menu."""
    rows = text.splitlines()[MENU_ROW:]
    # A line that goes on with how many of a species is no entry.
    return {
        found[1]: found[2] for row in rows if (found := re.match(r"[\s\u203a]{0,2}([1-9]) (?!\u00d7 )(.{2,40})", row))
    }


def first(person: Person, text: str) -> None:
    """Whatever is offered first."""
    if "1" in menu(text):
        person.press("1")


def stops_with_all_runners(person: Person, text: str) -> None:
    """Can't Stop: whatever comes first, but stop where all runners are on the board."""
    offered = menu(text)
    stop = next((key for key, said in offered.items() if said.startswith("Stop")), None)
    if stop is not None and "● ● ●" in text:
        person.press(stop)
    else:
        first(person, text)


def lays_soon(person: Person, text: str) -> None:
    """Würfelzoo: the first species that can be laid, else all dice again; abilities as they come. One key a look."""
    offered = menu(text)
    if not offered.get("1", "").startswith("Lay"):
        first(person, text)
        return
    note = "\n".join(text.splitlines()[MENU_ROW:])
    wanted = re.search(r"(?:Pick dice to lay:|It takes) (\d+)\S* \u00d7 (\w+)", note)
    if wanted:
        # A picked die stands in brackets. The note below may be a moment older than the dice.
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
    """Allie Gator: the last entry, to take all the penalty cards that there are."""
    if offered := menu(text):
        person.press(max(offered))


STRATEGIES: dict[str, tuple[Strategy, ...]] = {
    "cant_stop": (stops_with_all_runners, stops_with_all_runners),
    "raffzahn": (first, first, first),
    "wuerfelzoo": (lays_soon, lays_soon),
    "allie_gator": (first, snaps),
}
"""By seat; as many as the game needs."""


def play_out(persons: Sequence[Person]) -> None:
    """Until everybody sees the end."""
    deadline = monotonic() + MATCH_SECONDS
    while not all(person.is_done for person in persons):
        for person in persons:
            person.look()
        assert monotonic() < deadline, "\n\n".join(person.terminal.text for person in persons)
        assert all(person.terminal.process.poll() is None for person in persons), persons[0].terminal.text
        sleep(POLL_SECONDS)
