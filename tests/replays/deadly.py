"""Replays that end whoever reads them, each in its own way. Auditors know them if this repository is on their path."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True)
class Deadly:
    """It leaves a mark whenever somebody begins to read it."""

    mark: Path
    deed: str
    good: Path
    """What it is where it does nothing."""

    @property
    def name(self) -> str:
        """What it does."""
        return self.deed

    @property
    def readers(self) -> int:
        """How many have begun to read it."""
        return self.mark.stat().st_size

    def read(self) -> bytes:
        """Do it."""
        with self.mark.open("ab") as mark:
            mark.write(b".")
        if self.deed == "kills" or (self.deed == "kills once" and self.readers == 1):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.deed == "eats":
            return bytes(2 << 30)
        if self.deed == "never ends":
            begin, _ = os.pipe()
            return os.read(begin, 1)
        return self.good.read_bytes()
