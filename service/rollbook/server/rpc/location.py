"""Adds the match's current position and legal choices to a refusal, as far as the caller may see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import grpc

from rollbook.identity.tokens import Subject
from rollbook.match.chain import Head
from rollbook.server.failures import MatchUnknown, TailLost
from rollbook.server.lobby.match_access import Sight, Sights
from rollbook.server.out.projection import legal_message
from rollbook.server.play.matches import Matches
from rollbook.server.refusals import Refusal, refusal_of
from rollbook.storage.port import StoreUnavailable
from rollbook.v1 import table_pb2

_ABOUT_THE_MATCH: Final = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.PERMISSION_DENIED,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """The caller, the match, and the position and invitation that came with a call."""

    caller: Subject
    match_id: str
    position: table_pb2.Position
    """May carry the signature of a head."""
    invitation_code: str = ""
    request_id: str = ""


class Locator:
    """Finds the current position of a refused call's match."""

    def __init__(self, sights: Sights, matches: Matches) -> None:
        self._sights = sights
        self._matches = matches

    async def locate(self, asked: Asked, error: Exception) -> Exception:
        """The refusal with the match's position and legal choices; other errors are returned unchanged.

        A caller who may not see the match always gets MatchUnknown. If the call's position is a head that this service
        signed and the log does not hold it, the refusal is LOG_LOST. While the log cannot be compared with such a head,
        the answer is StoreUnavailable instead of a refusal about the match or the position.
        """
        if isinstance(error, MatchUnknown):
            return await self._find_gone(asked) or error
        refusal = refusal_of(error)
        if refusal is None or refusal.code not in _ABOUT_THE_MATCH:
            return error
        sight = None
        try:
            sight = await self._sights.now(asked.caller, asked.match_id, asked.invitation_code, asked.request_id)
        except MatchUnknown as unknown:
            return unknown
        except Exception:  # noqa: BLE001, S110 - a log that cannot be read may be lost, which is checked next
            pass
        if (lost := await self._find_lost(asked, refusal)) is not None:
            return lost
        try:
            sight = sight and await self._sights.delay(sight)
        except Exception:  # noqa: BLE001 - the refusal goes out without a position
            sight = None
        if sight is None:
            return refusal
        refined = _refine(refusal, sight)
        return refined.at(sight.ledger.head, legal_message(sight.ledger, sight.perspective))

    async def _find_gone(self, asked: Asked) -> Exception | None:
        """LOG_LOST if the caller sent a signed head of a match whose log is gone; None if the match never existed."""
        try:
            is_gone = await self._matches.is_gone(asked.match_id, _kept_head(asked))
        except StoreUnavailable as unavailable:
            return unavailable
        return _log_lost(asked.position.sequence) if is_gone else None

    async def _find_lost(self, asked: Asked, refusal: Refusal) -> Exception | None:
        """LOG_LOST if the log does not hold the head that was sent; None if the refusal is unchanged."""
        try:
            await self._matches.compare(asked.match_id, _kept_head(asked))
        except TailLost:
            return _log_lost(asked.position.sequence)
        except StoreUnavailable as unavailable:
            return unavailable if refusal.code is grpc.StatusCode.OUT_OF_RANGE else None
        except Exception:  # noqa: BLE001 - the refusal goes out unchanged
            return None
        return None


def _kept_head(asked: Asked) -> Head:
    position = asked.position
    return Head(position.sequence, position.link, position.key_id, position.signature)


def _log_lost(known: int) -> Refusal:
    # The stored sequence is left out: a spectator delay may hide it.
    why = "the log does not hold the head that was sent, which this service signed; nothing is built on it"
    return Refusal("LOG_LOST", why, {"known": known})


def _refine(refusal: Refusal, sight: Sight) -> Refusal:
    """Replace a reason by a more specific one that only the contract distinguishes."""
    match = sight.ledger.match
    if refusal.reason == "MATCH_SEALED" and match.sealed is not None and match.sealed.aborted is not None:
        return Refusal("MATCH_ABORTED", "the match has ended without a result", {"aborted": match.sealed.aborted})
    if refusal.reason == "NOT_YOUR_TURN" and sight.ledger.seat_of(sight.player) in match.forfeited:
        return Refusal("SEAT_FORFEITED", "the caretaker plays for this seat for good", refusal.facts)
    return refusal
