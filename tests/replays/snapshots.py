"""The boards in `tests/replays/boards/`, to be looked at: `python -m tests.replays.snapshots` remakes them.

For every game the table half-way and at the end, as everybody saw it.
"""

from __future__ import annotations

from pathlib import Path

from rollbook.rules.catalogue import current
from rollbook.rules.game import Watcher
from rollbook_replays.history import look
from rollbook_replays.narration import draw_board
from tests.replays.replaying import recorded

FOLDER = Path(__file__).parent / "boards"


def snapshot(game: str) -> str:
    """Both boards of one match."""
    seen = look(recorded(game, current()[game].seats[-1]), Watcher.PUBLIC)
    boards = []
    for at in (seen.count // 2, seen.count):
        drawn = "".join(draw_board(seen.at(at), seen.eyes))
        boards.append(f"After event {at}\n\n{drawn}")
    return "\n\n".join(boards)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in current():
        (FOLDER / f"{name}.txt").write_text(snapshot(name), encoding="utf-8", newline="\n")
