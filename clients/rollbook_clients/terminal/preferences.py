"""Settings of the terminal that are saved for the next start."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from rollbook.files import write_file

PACES: Final = (0.0, 0.5, 1.0, 1.5, 2.0)
"""Seconds for which each move of another player is shown before the next one."""
USUAL_PACE: Final = 1.0


class Preferences:
    """Settings saved in a file; without a file they last as long as the program."""

    def __init__(self, file: Path | None = None) -> None:
        """Load the saved settings; uses the defaults if the file cannot be read."""
        self._file = file
        kept = _read_kept(file)
        pace, bell = kept.get("pace"), kept.get("bell")
        self.pace = float(pace) if isinstance(pace, int | float) and 0 <= pace <= PACES[-1] else USUAL_PACE
        self.bell = bell if isinstance(bell, bool) else True
        """Whether the terminal rings when the user's turn comes."""

    def change_pace(self) -> None:
        """Select the next slower pace; the fastest after the slowest."""
        self.pace = next((pace for pace in PACES if pace > self.pace), PACES[0])
        self._keep()

    def switch_bell(self) -> None:
        """Toggle the bell."""
        self.bell = not self.bell
        self._keep()

    def _keep(self) -> None:
        # A failed write is ignored: the settings then last only until the program ends.
        if self._file is not None:
            with suppress(OSError):
                write_file(self._file, json.dumps({"pace": self.pace, "bell": self.bell}).encode(), 0o600)


def _read_kept(file: Path | None) -> dict[str, object]:
    try:
        kept = json.loads(file.read_text(encoding="utf-8")) if file is not None else {}
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}
