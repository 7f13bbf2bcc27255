"""How this person likes the terminal: a few settings that are kept for next time."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Final

from rollbook.files import write_file

PACES: Final = (0.0, 0.5, 1.0, 1.5, 2.0)
"""Seconds that each move of others stands before the next one is shown."""
USUAL_PACE: Final = 1.0


class Preferences:
    """Kept in a file if there is one, else for as long as the program runs."""

    def __init__(self, file: Path | None = None) -> None:
        """As they were left; a file that cannot be read is as good as none."""
        self._file = file
        kept = _kept(file)
        pace, bell = kept.get("pace"), kept.get("bell")
        self.pace = float(pace) if isinstance(pace, int | float) and 0 <= pace <= PACES[-1] else USUAL_PACE
        self.bell = bell if isinstance(bell, bool) else True
        """Whether the terminal rings when the own turn comes."""

    def change_pace(self) -> None:
        """The next slower one, behind the slowest the fastest."""
        self.pace = next((pace for pace in PACES if pace > self.pace), PACES[0])
        self._keep()

    def switch_bell(self) -> None:
        """On or off."""
        self.bell = not self.bell
        self._keep()

    def _keep(self) -> None:
        # Whoever has no place to keep them sets them again next time.
        if self._file is not None:
            with suppress(OSError):
                write_file(self._file, json.dumps({"pace": self.pace, "bell": self.bell}).encode(), 0o600)


def _kept(file: Path | None) -> dict[str, object]:
    try:
        kept = json.loads(file.read_text(encoding="utf-8")) if file is not None else {}
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}
