"""The boards in `snapshots/`: `python -m tests.replays.games.snapshots` makes them again.

Boards for a small and a large screen from a seat's perspective, and for every game a page with the public table in the
middle and at the end. Review the difference before you commit it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from rollbook.rules.catalogue import current
from rollbook.rules.game import Watcher
from rollbook.rules.options import OptionValue
from rollbook_replays.games import presentation
from rollbook_replays.games.blocks import Room
from rollbook_replays.history import look
from rollbook_replays.narration import draw_board
from rollbook_replays.text import plain
from tests.remaking import asked_folder
from tests.replays.games.stage import match_at, seated
from tests.replays.replaying import recorded

FOLDER: Final = Path(__file__).parent / "snapshots"
SMALL: Final = Room(80, 14)
LARGE: Final = Room(96, 22)


def board(  # noqa: PLR0917 - what is on a picture
    game: str, seats: int, part: float, seat: int, language: str, room: Room, **options: OptionValue
) -> str:
    """Return a board after a part of a match, from the perspective of a seat."""
    match = match_at(part, game, seats, options)
    return plain(presentation(game).board(match.game.view(match.state, seat), seated(match, seat, language), room))


def page(game: str) -> str:
    """Return the boards of a match as `rollbook show` draws them."""
    seen = look(recorded(game, current()[game].seats[-1]), Watcher.PUBLIC)
    boards = [
        f"After event {at}\n\n{plain(draw_board(seen.at(at), seen.perspective))}"
        for at in (seen.count // 2, seen.count)
    ]
    return "\n\n".join(boards)


SNAPSHOTS: Final[Mapping[str, Callable[[], str]]] = {
    "cant_stop-three": partial(board, "cant_stop", 3, 0.3, 0, "en", SMALL),
    "cant_stop-four-runners": partial(board, "cant_stop", 4, 0.55, 1, "de", SMALL),
    "raffzahn-three": partial(board, "raffzahn", 3, 0.3, 0, "en", SMALL),
    "raffzahn-six-announced": partial(board, "raffzahn", 6, 0.6, 2, "de", SMALL, announce=True),
    "raffzahn-large": partial(board, "raffzahn", 4, 0.4, 1, "de", LARGE),
    "wuerfelzoo-two": partial(board, "wuerfelzoo", 2, 0.5, 0, "en", SMALL),
    "wuerfelzoo-five": partial(board, "wuerfelzoo", 5, 0.2, 3, "de", SMALL, rounds_to=30),
    "wuerfelzoo-large": partial(board, "wuerfelzoo", 5, 0.2, 3, "en", LARGE),
    "allie_gator-hand": partial(board, "allie_gator", 4, 0.3, 2, "de", SMALL),
    "allie_gator-five": partial(board, "allie_gator", 5, 0.6, 0, "en", SMALL),
    "allie_gator-large": partial(board, "allie_gator", 3, 0.6, 0, "de", LARGE),
    **{f"page-{game}": partial(page, game) for game in current()},
}


if __name__ == "__main__":
    folder = asked_folder(FOLDER)
    for old in folder.glob("*.txt"):
        old.unlink()
    for name, snapshot in SNAPSHOTS.items():
        (folder / f"{name}.txt").write_text(snapshot(), encoding="utf-8", newline="\n")
