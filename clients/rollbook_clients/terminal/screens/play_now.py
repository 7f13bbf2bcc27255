"""The form of "play now": a game, and with whom and how fast to play it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from rollbook.rules.catalogue import current
from rollbook.v1.events_pb2 import ABORT_REASON_NOT_READY
from rollbook.v1.match_pb2 import MATCH_STATE_OPEN, MatchSummary
from rollbook_replays.games.words import Words


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user wants to play now."""

    game: str
    slow: bool = False
    """Whether a turn may take a day."""
    people_only: bool = False


def waiting(matches: Iterable[MatchSummary], game: str) -> int:
    """How many players wait at the tables of PlayNow for this game."""
    tables = (match for match in matches if match.in_pool and match.state == MATCH_STATE_OPEN and match.game == game)
    return sum(seat.taken for match in tables for seat in match.seats)


def unready(summary: MatchSummary, own: int | None) -> list[int]:
    """The seats because of which a table of PlayNow was aborted while this one was ready, which then looks for another.

    Empty for any other match.
    """
    is_unready = summary.in_pool and summary.aborted.reason == ABORT_REASON_NOT_READY
    return list(summary.aborted.seats) if is_unready and own is not None and summary.seats[own].ready else []


class PlayNowForm(ModalScreen[Wish | None]):
    """Enter plays the highlighted game, or switches the highlighted setting."""

    BINDINGS: ClassVar = [("escape", "dismiss", "")]

    def __init__(self, words: Words, matches: Iterable[MatchSummary], before: Wish | None) -> None:
        """`matches` are those of the lobby; `before` is the last wish."""
        super().__init__(classes="dialog")
        self._words = words
        self._games = tuple(current())
        self._waiting = {game: waiting(matches, game) for game in self._games}
        self._wish = before or Wish(self._games[0])
        self._list = OptionList()

    def compose(self) -> ComposeResult:
        """Yield the title, the games and settings, and the keys."""
        with Vertical():
            yield Static(Text(self._words("now.title"), "bold"))
            yield self._list
            yield Static(Text(self._words("now.keys"), "dim"), markup=False)

    def on_mount(self) -> None:
        """Show the lines, with the cursor on the game played last."""
        self._list.styles.height = "auto"
        self._show(self._games.index(self._wish.game))

    def _show(self, at: int) -> None:
        words = self._words
        switches = (("now.people", self._wish.people_only), ("now.slow", self._wish.slow))
        self._list.clear_options()
        self._list.add_options([*map(self._line, self._games), None])
        self._list.add_options(
            Option(Text.assemble(f"{words(name):<40} ", (words("yes" if value else "no"), "bold")))
            for name, value in switches
        )
        self._list.highlighted = at

    def _line(self, game: str) -> Option:
        count, title = self._waiting[game], current()[game].title
        return Option(Text(self._words("now.waiting", title=title, count=count) if count else title))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Play the game, or switch the setting."""
        event.stop()
        at = event.option_index
        if at < len(self._games):
            self.dismiss(replace(self._wish, game=self._games[at]))
            return
        if at == len(self._games):
            self._wish = replace(self._wish, people_only=not self._wish.people_only)
        else:
            self._wish = replace(self._wish, slow=not self._wish.slow)
        self._show(at)
