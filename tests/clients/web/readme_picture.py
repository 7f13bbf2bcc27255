"""`python -m tests.clients.web.readme_picture` draws the README's picture: a moment of a golden match."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rollbook.replay_file.container import read
from rollbook.rules.game import Watcher
from rollbook_clients.terminal.film import Film
from rollbook_clients.web.words import words_in
from rollbook_replays.games import presentation

ROOT: Final = Path(__file__).parents[3]
GOLDEN: Final = ROOT / "replays" / "golden" / "cant_stop-1-3-seats.rollbook"
PICTURE: Final = ROOT / "clients" / "rollbook_clients" / "web" / "table.svg"
MOMENT: Final = 120


def drawn() -> str:
    """Return the picture as SVG."""
    film = Film(read(GOLDEN.read_bytes()).replay)
    shown = presentation(film.game.name)
    assert shown.picture is not None
    return shown.picture(film.view(MOMENT, Watcher.PUBLIC), words_in("en").also(shown.texts)).standalone() + "\n"


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(drawn(), encoding="utf-8")


if __name__ == "__main__":
    main()
