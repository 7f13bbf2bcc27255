"""Actions of a match's opener while seats are free: add bots, free seats, withdraw the match."""

from collections.abc import Callable
from typing import Final

from textual.screen import Screen

from rollbook.v1.match_pb2 import MatchSummary
from rollbook_clients.sdk import Event, Match, RollbookError
from rollbook_clients.terminal.errors import said_of
from rollbook_clients.terminal.screens.dialogues import AskWhether
from rollbook_replays.games.presentation import MenuEntry
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words

STRATEGIES: Final = ("random", "heuristic", "monte_carlo")
"""Strategies of the house's bots, from weak to strong."""


class Hosting:
    """Offers the actions of the opener and carries them out."""

    def __init__(self, screen: Screen[None], match: Match, words: Words, say: Callable[[str], None]) -> None:
        self._screen = screen
        self._match = match
        self._words = words
        self._say = say
        self._bots: set[int] = set()
        """The seats that bots of the house have."""

    def take_event(self, event: Event) -> None:
        """Update the seats of bots if the event is a player joining or leaving."""
        if event.seat is not None and event.kind in {"seat_taken", "seat_left"}:
            self._bots.discard(event.seat)
            if event.message.seat_taken.house:
                self._bots.add(event.seat)

    def entries(self, summary: MatchSummary, seating: Seating) -> tuple[MenuEntry, ...]:
        """The menu; each choice is a verb and its argument."""
        words = self._words
        bots = tuple(MenuEntry(words(f"host.bot.{name}"), choice=f"bot {name}") for name in STRATEGIES)
        taken = [seat for seat, each in enumerate(summary.seats) if each.taken and seat != seating.own]
        return (
            MenuEntry(words("host.bot"), entries=bots, about=words("host.bot.about")),
            *(
                MenuEntry(
                    words("host.free", name=seating.name(seat)), choice=f"free {seat}", about=words("host.free.about")
                )
                for seat in taken
                # The opener cannot remove other players from a public match.
                if summary.is_private or seat in self._bots
            ),
            MenuEntry(words("host.withdraw"), choice="withdraw", about=words("host.withdraw.about")),
        )

    def do(self, choice: str) -> None:
        """Carry out a choice of the menu; asks before withdrawing the match."""
        if choice != "withdraw":
            self._screen.run_worker(self._carry_out(choice))
            return

        def use_answer(meant: bool | None) -> None:  # noqa: FBT001 - the answer of a dialogue
            if meant:
                self._screen.run_worker(self._carry_out(choice))

        self._screen.app.push_screen(AskWhether(self._words("host.withdraw.sure"), self._words), use_answer)

    async def _carry_out(self, choice: str) -> None:
        verb, _, what = choice.partition(" ")
        try:
            match verb:
                case "bot":
                    await self._match.add_bot(what)
                case "free":
                    await self._match.free_seat(int(what))
                case _:
                    await self._match.withdraw()
        except RollbookError as error:
            self._say(said_of(error, self._words))
