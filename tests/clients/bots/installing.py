"""Third-party bots, installed in a folder as their own distribution."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

STRANGE_BOTS = textwrap.dedent('''
    """Bots that somebody else has written."""

    import os
    import sys


    class Timid:
        """Stops as soon as it may, or takes the last choice."""

        def __init__(self, seat, *, courage: int = 0, name: str = "", bold: bool = False, share: float = 0.5):
            self.courage = courage

        def choose(self, view, legal):
            return list(legal)[-1]


    class Cheat(Timid):
        """Chooses what is not legal."""

        def choose(self, view, legal):
            return "to win"


    class Breaking(Timid):
        """Fails."""

        def choose(self, view, legal):
            raise RuntimeError("no idea")


    class Quitting(Timid):
        """Wants to end the program."""

        def choose(self, view, legal):
            sys.exit("enough")


    class Nosy(Timid):
        """Fails where it sees a hand that is not its own, or does not see that."""

        def __init__(self, seat):
            self.seat = seat

        def choose(self, view, legal):
            assert [self.seat.number] == [number for number, it in enumerate(view.players) if it.hand is not None]
            return next(iter(legal))


    class Dying(Timid):
        """Takes its process along."""

        def choose(self, view, legal):
            os._exit(9)
''')
ENTRY_POINTS = textwrap.dedent("""
    [rollbook.bots]
    timid = strange_bots:Timid
    cheat = strange_bots:Cheat
    breaking = strange_bots:Breaking
    quitting = strange_bots:Quitting
    nosy = strange_bots:Nosy
    dying = strange_bots:Dying
    missing = strange_bots:Missing
""")


def installed(folder: Path) -> dict[str, str]:
    """Install the bots; returns the environment in which a program finds them."""
    metadata = folder / "strange_bots-1.0.dist-info"
    metadata.mkdir()
    (folder / "strange_bots.py").write_text(STRANGE_BOTS, encoding="utf-8")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: strange-bots\nVersion: 1.0\n", encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": path}
