"""Picks dice for a turn of Würfelzoo, and says at every moment what they would do."""

from __future__ import annotations

from string import ascii_lowercase
from typing import Final

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click, Key
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from rollbook.rules.wuerfelzoo import AXES
from rollbook.v1.games_pb2 import Choice
from rollbook.v1.wuerfelzoo_pb2 import WuerfelzooTurnChoices, WuerfelzooView
from rollbook_clients.terminal.blocks import as_text, flow
from rollbook_clients.terminal.boards.wuerfelzoo import COLOURS, LARGE_TO_SMALL, face_name
from rollbook_clients.terminal.language import Words
from rollbook_clients.terminal.picking import Picked, picked
from rollbook_clients.terminal.widgets.menu import Menu

LAY, REROLL, ALL = range(3)
KEYS: Final = "123"

DIE: Final = "die"
"""Marks the cells of a die with its number. An action there would make it a link, in colours of its own."""


class OwnDice(Static):
    """The dice of a picker, which can be clicked."""

    class Clicked(Message):
        """A die was clicked."""

        def __init__(self, number: int) -> None:
            """Carry which."""
            super().__init__()
            self.number = number

    def on_click(self, event: Click) -> None:
        """Tell whose dice these are."""
        if DIE in event.style.meta:
            self.post_message(self.Clicked(event.style.meta[DIE]))


class Picker(Vertical, can_focus=True):
    """The own dice, each with a letter, and below them what can be done with those that are picked."""

    def __init__(self, words: Words) -> None:
        """Offer nothing yet."""
        super().__init__(id="picker")
        self._words = words
        self._dice: list[tuple[int, str]] = []
        """Every own die and what it shows, in the order of their letters."""
        self._picked: set[int] = set()
        self._offered = WuerfelzooTurnChoices()
        self._shown = OwnDice(id="dice")
        self._actions = OptionList(id="actions")
        self._actions.can_focus = False

    def compose(self) -> ComposeResult:
        """Dice above, actions below."""
        yield self._shown
        yield self._actions

    def offer(self, view: WuerfelzooView, seat: int, offered: WuerfelzooTurnChoices) -> None:
        """Offer the dice of this seat, none picked."""
        in_front = [(die.die, face_name(die.face)) for die in view.dice[seat].dice]
        self._dice = sorted(in_front, key=lambda die: (LARGE_TO_SMALL.index(die[1]), AXES[die[0]], die[0]))
        self._offered = offered
        self._picked = set()
        self._draw()

    def on_key(self, event: Key) -> None:
        """Letters pick dice, numbers and Enter act."""
        key = event.character or ""
        if key in ascii_lowercase[: len(self._dice)] and key:
            event.stop()
            self._pick(ascii_lowercase.index(key))
        elif event.key == "enter" or (key and key in KEYS):
            event.stop()
            self._act(LAY if event.key == "enter" else KEYS.index(key))

    def on_resize(self) -> None:
        """Lay the dice out anew."""
        self._draw()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """The mouse acts as well."""
        event.stop()
        self._act(event.option_index)

    def on_own_dice_clicked(self, event: OwnDice.Clicked) -> None:
        """The mouse picks as well."""
        event.stop()
        if event.number < len(self._dice):
            self._pick(event.number)

    def _pick(self, number: int) -> None:
        """Pick a die, or leave it again."""
        self._picked ^= {self._dice[number][0]}
        self._draw()

    def _act(self, what: int) -> None:
        now = self._now()
        if what == ALL:
            every = {die for die, _ in self._dice}
            self._picked = set() if self._picked == every else every
        choice = {LAY: now.play, REROLL: now.reroll}.get(what)
        if choice is not None:
            self._send(choice)
        else:
            self._draw()

    def _send(self, choice: Choice) -> None:
        self._dice = []
        self.post_message(Menu.Chosen(choice))

    def _now(self) -> Picked:
        return picked(self._picked, self._offered, self._words)

    def _draw(self) -> None:
        if not self._dice or not self.size.width:
            return
        chips = [self._chip(number) for number in range(len(self._dice))]
        self._shown.update(as_text(flow([[chip] for chip in chips], self.size.width - 2)))
        words, now = self._words, self._now()
        reroll = words("picking.reroll.none")
        if now.reroll is not None:
            reroll = words("picking.reroll", dice=words.count("die", len(self._picked)))
        lay = Text.assemble(("1 ", "bold"), words("picking.lay"), ("  " + now.play_note, "dim"))
        self._actions.clear_options()
        self._actions.add_options(
            [
                Option(lay, disabled=now.play is None),
                Option(Text.assemble(("2 ", "bold"), reroll), disabled=now.reroll is None),
                Option(Text.assemble(("3 ", "bold"), words("picking.all"))),
            ]
        )

    def _chip(self, number: int) -> Text:
        die, face = self._dice[number]
        is_picked = die in self._picked
        style = f"bold {COLOURS[face]}{' reverse' if is_picked else ''}"
        chip = Text.assemble((f"{ascii_lowercase[number]}", "bold"), ("[" if is_picked else " ", style))
        chip.append(self._words(f"short.{face}"), style)
        chip.append("]" if is_picked else " ", style)
        chip.stylize(Style(meta={DIE: number}))
        return chip
