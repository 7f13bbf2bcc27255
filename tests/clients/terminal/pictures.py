"""Pictures of boards and screens, as text, kept in `snapshots/` and compared by the suite.

`python -m tests.clients.terminal.pictures` makes them anew; read what has changed before it is committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from textual.app import App

from rollbook.rules.game import Perspective
from rollbook.rules.options import OptionValue
from rollbook.v1.games_pb2 import View
from rollbook_clients.terminal import boards
from rollbook_clients.terminal.app import Terminal
from rollbook_clients.terminal.blocks import Room, as_text
from rollbook_clients.terminal.film import Film
from rollbook_clients.terminal.language import Words
from rollbook_clients.terminal.screens.replay import ReplayScreen
from rollbook_clients.terminal.seating import Seating
from tests.clients.terminal.staging import simulated

SNAPSHOTS: Final = Path(__file__).parent / "snapshots"
NARROW: Final = (80, 24)
WIDE: Final = (140, 45)

Picture = Callable[[], str]


def seating_of(film: Film, perspective: Perspective, language: str) -> Seating:
    """Who sits at a match that is shown."""
    own = perspective if isinstance(perspective, int) else None
    options = getattr(film.frames[0].event.opened, film.opened.game)
    return Seating(film.replay.names, own, options, Words(language))


def drawn(view: View, seating: Seating, room: Room) -> str:
    """A board as text."""
    return as_text(boards.draw(view, seating, room)).plain


def screen_lines(app: App[Any]) -> str:
    """What is on the screen of a program that has none."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def a_board(  # noqa: PLR0917 - what is on a picture
    game: str, seats: int, part: float, perspective: Perspective, language: str, room: Room, **options: OptionValue
) -> Picture:
    """A board after a part of a match."""

    def picture() -> str:
        film = Film(simulated(game, seats, options))
        view = film.view(int(len(film) * part), perspective)
        return drawn(view, seating_of(film, perspective, language), room)

    return picture


def a_replay(game: str, seats: int, keys: str, language: str, size: tuple[int, int]) -> Picture:
    """The screen of a replay after some keys."""

    async def shown() -> str:
        words = Words(language)
        app = Terminal(ReplayScreen(Film(simulated(game, seats)), words), words)
        async with app.run_test(size=size) as pilot:
            await pilot.press(*keys.split())
            await pilot.pause()
            return screen_lines(app)

    return lambda: asyncio.run(shown())


SMALL: Final = Room(80, 14)
LARGE: Final = Room(96, 22)

PICTURES: Final[Mapping[str, Picture]] = {
    "board-cant_stop-three": a_board("cant_stop", 3, 0.3, 0, "en", SMALL),
    "board-cant_stop-four-runners": a_board("cant_stop", 4, 0.55, 1, "de", SMALL),
    "board-raffzahn-three": a_board("raffzahn", 3, 0.3, 0, "en", SMALL),
    "board-raffzahn-six-announced": a_board("raffzahn", 6, 0.6, 2, "de", SMALL, announce=True),
    "board-raffzahn-large": a_board("raffzahn", 4, 0.4, 1, "de", LARGE),
    "board-wuerfelzoo-two": a_board("wuerfelzoo", 2, 0.5, 0, "en", SMALL),
    "board-wuerfelzoo-five": a_board("wuerfelzoo", 5, 0.2, 3, "de", SMALL, rounds_to=30),
    "board-wuerfelzoo-large": a_board("wuerfelzoo", 5, 0.2, 3, "en", LARGE),
    "board-allie_gator-hand": a_board("allie_gator", 4, 0.3, 2, "de", SMALL),
    "board-allie_gator-five": a_board("allie_gator", 5, 0.6, 0, "en", SMALL),
    "replay-cant_stop": a_replay("cant_stop", 3, "down down down right", "en", NARROW),
    "replay-raffzahn-wide": a_replay("raffzahn", 4, "end up up v v", "de", WIDE),
    "replay-wuerfelzoo": a_replay("wuerfelzoo", 4, "end up up", "de", NARROW),
    "replay-allie_gator-wide": a_replay("allie_gator", 5, "g 2 0 enter v v v", "en", WIDE),
    "help-replay": a_replay("allie_gator", 2, "question_mark", "de", NARROW),
}


def main() -> None:
    """Make all of them anew."""
    for old in SNAPSHOTS.glob("*.txt"):
        old.unlink()
    for name, picture in PICTURES.items():
        (SNAPSHOTS / f"{name}.txt").write_text(f"{picture()}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
