"""Screens as text, kept in `snapshots/` and compared by the suite.

`python -m tests.clients.terminal.pictures` makes them again; review the difference before you commit it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from textual.app import App

from rollbook_clients.terminal.app import Terminal
from rollbook_clients.terminal.film import Film
from rollbook_clients.terminal.screens.replay import ReplayScreen
from rollbook_clients.terminal.texts import words_in
from tests.clients.terminal.staging import simulated
from tests.remaking import asked_folder

SNAPSHOTS: Final = Path(__file__).parent / "snapshots"
NARROW: Final = (80, 24)
WIDE: Final = (140, 45)

Picture = Callable[[], str]


def screen_lines(app: App[Any]) -> str:
    """The screen of an app that runs without a terminal."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def a_replay(game: str, seats: int, keys: str, language: str, size: tuple[int, int]) -> Picture:
    """The screen of a replay after some keys."""

    async def shown() -> str:
        words = words_in(language)
        app = Terminal(ReplayScreen(Film(simulated(game, seats)), words), words)
        async with app.run_test(size=size) as pilot:
            await pilot.press(*keys.split())
            await pilot.pause()
            return screen_lines(app)

    return lambda: asyncio.run(shown())


PICTURES: Final[Mapping[str, Picture]] = {
    "replay-cant_stop": a_replay("cant_stop", 3, "down down down right", "en", NARROW),
    "replay-raffzahn-wide": a_replay("raffzahn", 4, "end up up v v", "de", WIDE),
    "replay-wuerfelzoo": a_replay("wuerfelzoo", 4, "end up up", "de", NARROW),
    "replay-allie_gator-wide": a_replay("allie_gator", 5, "g 2 0 enter v v v", "en", WIDE),
    "help-replay": a_replay("allie_gator", 2, "question_mark", "de", NARROW),
}


def main() -> None:
    """Write all pictures again."""
    folder = asked_folder(SNAPSHOTS)
    for old in folder.glob("*.txt"):
        old.unlink()
    for name, picture in PICTURES.items():
        (folder / f"{name}.txt").write_text(f"{picture()}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
