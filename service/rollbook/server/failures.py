"""What keeps a match from being looked at or played: there is none, its log is lost, or a request id was used twice."""

from __future__ import annotations

from typing import Final

from rollbook.match.chain import Head
from rollbook.match.codec.moves import Unreadable
from rollbook.match.fold import Misplaced
from rollbook.rules.refusals import RefusedByRules
from rollbook.storage.port import Hole


class MatchUnknown(Exception):
    """There is no such match."""


class RulesetUnknown(Unreadable):
    """The match is of a ruleset that this server does not have, as in the middle of a rolling upgrade."""


class RequestReused(Exception):
    """The request id has been used for something else."""


class TailLost(Exception):
    """The stored log is shorter than, or other than, what this service has told; nothing is built on it."""

    def __init__(self, match_id: str, known: int, stored: int, kept: Head | None = None) -> None:
        """Keep both heads, and the signed one that a client kept, if it was a client that knew."""
        super().__init__(match_id, known, stored)
        self.match_id = match_id
        self.known = known
        self.stored = stored
        self.kept = kept


LOST: Final = (TailLost, Hole, Misplaced, RefusedByRules)
"""What reading a log comes to that is gone, has a hole, or does not hold together."""

BROKEN: Final = (*LOST, Unreadable)
"""The same, and what a log comes to that is in words of another version."""
