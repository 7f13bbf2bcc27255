"""An archive in memory, shared by all processes of a simulation."""

from __future__ import annotations

import hashlib


class MemoryArchive:
    """Keeps every file in a dictionary."""

    def __init__(self) -> None:
        """Begin empty."""
        self.files: dict[str, bytes] = {}
        self._mark = ""

    @property
    def where(self) -> str:
        """A name for the place of the archive."""
        return "memory"

    async def put(self, match_id: str, data: bytes) -> None:
        """Keep the file of a match."""
        self.files[match_id] = data

    async def get(self, match_id: str) -> bytes | None:
        """The file of a match, or None."""
        return self.files.get(match_id)

    async def versions(self) -> dict[str, str]:
        """The hash of every file by match id."""
        return {match_id: hashlib.sha256(data).hexdigest() for match_id, data in self.files.items()}

    async def mark(self, claim: str = "") -> str:
        """The mark of this archive; the first claim sets it."""
        self._mark = self._mark or claim
        return self._mark
