"""Exceptions of reading or playing a match: it does not exist, its log is lost, or a request id was used twice."""

from __future__ import annotations

from typing import Final

from rollbook.match.chain import Head
from rollbook.match.codec.moves import Unreadable
from rollbook.match.fold import Misplaced
from rollbook.rules.refusals import RefusedByRules
from rollbook.storage.port import Hole


class MatchUnknown(Exception):
    """No match has this id."""


class RulesetUnknown(Unreadable):
    """This server does not have the match's ruleset, for example in the middle of a rolling upgrade."""


class RequestReused(Exception):
    """The request id was used before for a different request."""


class TailLost(Exception):
    """The stored log is shorter than, or differs from, what this service has sent; nothing is appended to it."""

    def __init__(self, match_id: str, known: int, stored: int, kept: Head | None = None) -> None:
        """Keep both sequences, and in `kept` the signed head of a client if the client supplied the evidence."""
        super().__init__(match_id, known, stored)
        self.match_id = match_id
        self.known = known
        self.stored = stored
        self.kept = kept


LOST: Final = (TailLost, Hole, Misplaced, RefusedByRules)
"""Raised by reading a log that is missing, has a hole, or is inconsistent."""

BROKEN: Final = (*LOST, Unreadable)
"""The exceptions in `LOST`, and the one for a log with events of another version."""
