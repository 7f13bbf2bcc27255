"""What a player acts with: a menu, pieces to pick, or a word on whom one waits for."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key
from textual.widgets import ContentSwitcher, Static

from rollbook_clients.terminal.widgets.menu import Menu
from rollbook_clients.terminal.widgets.picker import Picker
from rollbook_replays.games.presentation import Menu as Offered
from rollbook_replays.games.presentation import Picking, Presentation
from rollbook_replays.games.words import Words


class Control(Vertical):
    """Shows one of the three, below a message if there is one, and above what a choice means if there is room."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="control")
        self.menu = Menu(words)
        self.picker = Picker(words)
        self._message = Static(id="message", markup=False)
        self._said = ""
        self._waiting = Static(id="waiting", markup=False)
        self._about = Static(id="about", markup=False)
        self._switcher = ContentSwitcher(initial="waiting")

    def compose(self) -> ComposeResult:
        """Message above, the rest below."""
        yield self._message
        with self._switcher:
            yield self._waiting
            yield self.menu
            yield self.picker
        yield self._about

    def offer(self, offered: Offered, shown: Presentation | None = None) -> None:
        """Offer what is legal, and take the keys."""
        if isinstance(offered, Picking):
            self._switcher.current = "picker"
            self.picker.offer(offered, {} if shown is None else shown.palette)
            self.picker.focus()
        else:
            self._switcher.current = "menu"
            self.menu.offer(offered)
            self.menu.focus()

    def hear(self, event: Key) -> None:
        """Take a key that nothing else had the focus for, as after a click beside everything."""
        if self._switcher.current == "picker":
            self.picker.focus()
            self.picker.on_key(event)
        elif self._switcher.current == "menu":
            self.menu.focus()
            self.menu.on_key(event)

    def point(self, spot: str) -> None:
        """Somebody clicked there on the board."""
        if self._switcher.current == "picker":
            self.picker.point(spot)
        elif self._switcher.current == "menu":
            self.menu.point(spot)

    def wait(self, said: str) -> None:
        """Offer nothing but say why."""
        self._waiting.update(said)
        self._switcher.current = "waiting"
        self._about.display = False

    def say(self, message: str) -> None:
        """Say something above; empty says nothing any more."""
        self._said = message
        self._message.update(message)
        self._message.display = bool(message)

    def on_menu_considered(self, event: Menu.Considered) -> None:
        """Say below what it means, unless that would take room from the choices."""
        wide = max(1, self.size.width - 6)
        lines = [*self._said.splitlines(), *event.about.splitlines()]
        entries = self.menu.option_count if self._switcher.current == "menu" else self.picker.rows
        self._about.update(event.about)
        self._about.display = (
            bool(event.about) and entries + sum(-(-len(line) // wide) for line in lines) <= self.size.height
        )
