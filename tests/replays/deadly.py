"""Replays that kill the process that reads them; auditors load them if this repository is on their path."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True)
class Deadly:
    """A replay that counts its readers and then harms the current one."""

    mark: Path
    deed: str
    good: Path
    """A good replay file, read where the harm is over."""

    @property
    def name(self) -> str:
        """The kind of harm."""
        return self.deed

    @property
    def readers(self) -> int:
        """The number of processes that have begun to read it."""
        return self.mark.stat().st_size

    def read(self) -> bytes:
        """Count the reader and do the harm."""
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
