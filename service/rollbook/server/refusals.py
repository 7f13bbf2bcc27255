"""Refusals as clients receive them, each with the status code that the contract assigns to its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import grpc

from rollbook.identity.refusals import NameRefused, TokenRefused
from rollbook.match.chain import Position
from rollbook.match.codec.moves import Unreadable
from rollbook.match.commands import Declined
from rollbook.match.fold import Misplaced
from rollbook.rules.refusals import Fact, RefusedByRules
from rollbook.server.failures import MatchUnknown, RequestReused, RulesetUnknown, TailLost
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import (
    MATCHES_LOST,
    REPLICAS_DIFFER,
    STORE_REPLACED,
    AppendUnconfirmed,
    Hole,
    StoreUnavailable,
)
from rollbook.v1.games_pb2 import LegalChoices
from rollbook.v1.refusals_pb2 import RefusalReason, status_code

PREFIX: Final = "REFUSAL_REASON_"
"""The common prefix of the names of all reasons in the contract."""


@dataclass(slots=True, eq=False)
class Refusal(Exception):
    """A refused call: the reason's name, a sentence, the facts, and the match's position and legal choices."""

    reason: str
    """The name in RefusalReason, without the prefix."""
    why: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
    position: Position | None = None
    legal: LegalChoices | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a reason that the contract does not have."""
        RefusalReason.Value(PREFIX + self.reason)

    def __str__(self) -> str:
        """The sentence."""
        return self.why

    @property
    def code(self) -> grpc.StatusCode:
        """The status code of the reason."""
        return CODES[self.reason]

    def at(self, position: Position, legal: LegalChoices | None) -> Refusal:
        """A copy with the position and the legal choices that the caller may see."""
        return replace(self, position=position, legal=legal)


def refusal_of(error: BaseException) -> Refusal | None:
    """The refusal to send for an exception; None if the exception is not a client's fault or a failure of the store."""
    match error:
        case Refusal():
            return error
        case Declined() | RefusedByRules():
            return Refusal(error.reason.name, error.why, error.facts)
        case TokenRefused():
            return Refusal(f"TOKEN_{error.reason.name}", error.why)
        case NameRefused():
            facts: dict[str, str | int] = {"why": error.reason.value}
            return Refusal(
                "NAME_REFUSED", error.why, facts | ({"character": error.character} if error.character else {})
            )
        case _:
            return _of_the_store(error)


def _of_the_store(error: BaseException) -> Refusal | None:  # noqa: PLR0911 - one for each kind
    match error:
        case MatchUnknown():
            return Refusal("MATCH_NOT_FOUND", "no such match, or you may not see it")
        case RequestReused():
            return Refusal("REQUEST_ID_REUSED", "the request id has been used for something else")
        case TailLost():
            facts = {"known": error.known, "stored": error.stored}
            return Refusal("LOG_LOST", "the stored log differs from what was sent; the match does not continue", facts)
        case Misplaced() | Hole():
            return Refusal("LOG_LOST", "the stored log does not hold together; nothing is built on it")
        case ArchiveUnavailable():
            return Refusal("ARCHIVE_UNAVAILABLE", "the match is in the archive, which cannot be read now")
        case StoreUnavailable():
            return _unavailable(error.cause, "this changed nothing: try again later")
        case AppendUnconfirmed():
            return _unavailable(error.cause, "this may have happened or not: the same request again is safe")
        case RulesetUnknown():
            return Refusal("RULESET_UNKNOWN", str(error))
        case Unreadable():
            return Refusal("EVENT_BODY_UNKNOWN", "the log has an event that this server cannot read")
    return None


def _unavailable(cause: str, outcome: str) -> Refusal:
    why = f"{cause}, and {outcome}"
    if cause == STORE_REPLACED:
        return Refusal("STORE_REPLACED", why)
    is_lax = cause in {REPLICAS_DIFFER, MATCHES_LOST}
    return Refusal("NOT_DURABLE" if is_lax else "STORE_UNAVAILABLE", why)


CODES: Final[Mapping[str, grpc.StatusCode]] = {
    value.name.removeprefix(PREFIX): grpc.StatusCode[value.GetOptions().Extensions[status_code]]
    for value in RefusalReason.DESCRIPTOR.values
    if value.number
}
"""The status code of each reason, read from the contract."""
