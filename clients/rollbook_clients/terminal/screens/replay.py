"""Plays a match from a file, forwards and backwards, from any perspective that the file allows."""

from datetime import UTC, datetime
from typing import ClassVar, Final

from rich.text import Text
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from rollbook.match.events import Sealed
from rollbook.rules.game import Perspective, Watcher
from rollbook_clients.terminal.film import Account, Film
from rollbook_clients.terminal.screens.dialogues import AskLine
from rollbook_clients.terminal.screens.match import MatchScreen, hint, key_name
from rollbook_replays.games import presentation
from rollbook_replays.games.presentation import Sentence, differing
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words

SPEEDS: Final = (0.5, 1, 2, 4, 8, 16, 32)
"""Events per second."""


class ReplayScreen(MatchScreen):
    """Shows the match as it was after one of its events."""

    BINDINGS: ClassVar = [
        ("right,l", "forward", ""),
        ("left,h", "back", ""),
        ("down,n,pagedown", "next_turn", ""),
        ("up,p,pageup", "last_turn", ""),
        ("home", "first", ""),
        ("end", "last", ""),
        ("g", "go_to", ""),
        ("space", "play", ""),
        ("plus,equals_sign", "faster", ""),
        ("minus", "slower", ""),
        ("v", "look", ""),
        ("q", "leave", ""),
    ]

    def __init__(self, film: Film, words: Words) -> None:
        """Start at the first turn, from the perspective that sees most."""
        super().__init__(words, "replay")
        self._film = film
        self.game = film.opened.game
        self.position = film.turns[0] if film.turns else len(film)
        self.perspective: Perspective = film.perspectives[0]
        self._shown = presentation(self.game)
        self._accounts: dict[Perspective, Account] = {}
        self._speed = 1
        self._timer: Timer | None = None
        self._controls = Static(id="control", markup=False)

    @property
    def match_id(self) -> str:
        """The id of the match."""
        return self._film.replay.match_id

    def control(self) -> Widget:
        """The buttons."""
        return self._controls

    def on_mount(self) -> None:
        """Show the first position."""
        self._show()

    # Moving

    def action_forward(self) -> None:
        """Go one event forward."""
        self._go(self.position + 1)

    def action_back(self) -> None:
        """Go one event back."""
        self._go(self.position - 1)

    def action_next_turn(self) -> None:
        """Go to the next turn, or to the end."""
        self._go(next((turn for turn in self._film.turns if turn > self.position), len(self._film)))

    def action_last_turn(self) -> None:
        """Go to the beginning of this turn; if already there, to the previous turn."""
        self._go(next((turn for turn in reversed(self._film.turns) if turn < self.position), 1))

    def action_first(self) -> None:
        """Go to event 1."""
        self._go(1)

    def action_last(self) -> None:
        """Go to the last event."""
        self._go(len(self._film))

    def action_go_to(self) -> None:
        """Ask for the number of a turn and go there."""
        question = self.words("replay.go_to", most=len(self._film.turns))
        self.app.push_screen(AskLine(question), self._go_to)

    def _go_to(self, answer: str | None) -> None:
        turns = self._film.turns
        if answer and answer.strip().isdecimal() and turns:
            self._go(turns[min(max(int(answer), 1), len(turns)) - 1])

    def _go(self, position: int) -> None:
        self.position = min(max(position, 1), len(self._film))
        if self.position == len(self._film):
            self._stop()
        self._show()

    # Playing

    def action_play(self) -> None:
        """Start or pause playing."""
        if self._timer is not None:
            self._stop()
        else:
            if self.position == len(self._film):
                self.position = 1
            self._start()
        self._show()

    def action_faster(self) -> None:
        """Play more events per second."""
        self._change_speed(1)

    def action_slower(self) -> None:
        """Play fewer events per second."""
        self._change_speed(-1)

    def _change_speed(self, by: int) -> None:
        self._speed = min(max(self._speed + by, 0), len(SPEEDS) - 1)
        if self._timer is not None:
            self._stop()
            self._start()
        self._show()

    def _start(self) -> None:
        self._timer = self.set_interval(1 / SPEEDS[self._speed], self.action_forward)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    # Looking

    def action_look(self) -> None:
        """Change to the next perspective."""
        eyes = list(self._film.perspectives)
        self.perspective = eyes[(eyes.index(self.perspective) + 1) % len(eyes)]
        self._show()

    @property
    def seating(self) -> Seating:
        """The names of the seats, for the current perspective."""
        own = None if isinstance(self.perspective, Watcher) else self.perspective
        film = self._film
        is_over = isinstance(film.frames[self.position - 1].event, Sealed)
        words = self.words.also(self._shown.texts)
        return Seating(film.replay.names, own, film.options, words, is_over, film.bots(words))

    def _show(self) -> None:
        seating = self.seating
        view, spotlight = self._film.scene(self.position, self.perspective)
        self.board.show(self._shown, view, seating, spotlight)
        self.story.tell(self._tell(seating), self._shown.palette)
        self.title_bar.update(self._title(seating))
        self.status_bar.update(self._status(seating))
        self._controls.update(self._buttons())
        keys = ("?", "rules"), ("^y", "copy"), ("esc", "leave")
        self.hints.update(hint(self.words, ("←→", "forward"), ("↑↓", "turn"), ("v", "look"), *keys))

    def _tell(self, seating: Seating) -> list[Sentence]:
        if self.perspective not in self._accounts:
            self._accounts[self.perspective] = Account(self._film, self.perspective)
        return self._accounts[self.perspective].until(self.position, seating)

    def _title(self, seating: Seating) -> Text:
        words = self.words
        line = Text(f"{self._film.game.title} · {self._film.replay.match_id}", no_wrap=True, overflow="ellipsis")
        if said := differing(self._film.game, seating.options, seating.words):
            line.append(f" · {', '.join(said)}")
        if self._film.dice_fixed:
            line.append(f" · {words('dice.fixed')}", "bold #ffdf5d")
        return line

    def _status(self, seating: Seating) -> Text:
        words, film = self.words, self._film
        time = datetime.fromtimestamp(film.frames[self.position - 1].time_ms / 1_000, UTC)
        turn = words("replay.turn", number=film.turn_at(self.position), most=len(film.turns))
        event = words("replay.event", number=self.position, most=len(film))
        eyes = self._eyes(seating)
        return Text(f"{turn} · {event} · {eyes} · {time:%Y-%m-%d %H:%M:%S} UTC", no_wrap=True, overflow="ellipsis")

    def _eyes(self, seating: Seating) -> str:
        if isinstance(self.perspective, Watcher):
            return self.words(f"eyes.{self.perspective.value}")
        return self.words("eyes.seat", name=seating.name(self.perspective))

    def _buttons(self) -> Text:
        """Buttons for the mouse, one for every key."""
        words = self.words
        speed = words.count("event", SPEEDS[self._speed])
        playing = words("replay.playing" if self._timer is not None else "replay.paused", speed=speed)
        rows = (
            (("space", "play"), ("v", "look")),
            (("+", "faster"), ("-", "slower"), ("g", "go_to")),
            (("←", "back"), ("→", "forward")),
            (("↑", "last_turn"), ("↓", "next_turn")),
            (("home", "first"), ("end", "last")),
        )
        text = Text(f" {playing}\n\n", "bold")
        for row in rows:
            for key, action in row:
                button = Text.assemble((f" {key_name(key, words)} ", "bold reverse"), f" {words(f'hint.{action}')}  ")
                button.apply_meta({"@click": f"screen.{action}"})
                text.append(" ")
                text.append_text(button)
            text.append("\n")
        return text
