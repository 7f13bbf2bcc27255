"""Where the match of a refused call stands: what goes with its refusal, as far as the caller may see."""

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
    """Who asked for something of which match, and what they showed."""

    caller: Subject
    match_id: str
    position: table_pb2.Position
    """Which may be a head that the service signed."""
    invitation_code: str = ""
    request_id: str = ""


class Locator:
    """Finds where the match of a refused call stands."""

    def __init__(self, sights: Sights, matches: Matches) -> None:
        """Look at these matches."""
        self._sights = sights
        self._matches = matches

    async def located(self, asked: Asked, error: Exception) -> Exception:
        """The error with where the match stands; others stay as they are.

        To whoever may not see the match it is unknown, whatever else was refused before that was found out. If the
        position that came with the call is a head that the service signed, and the log does not hold it, or is not
        there at all, that is what is wrong, whatever else is. That there is no such match, or no such position, is not
        said of such a head while the log cannot be compared with it.
        """
        if isinstance(error, MatchUnknown):
            return await self._gone(asked) or error
        refusal = refusal_of(error)
        if refusal is None or refusal.code not in _ABOUT_THE_MATCH:
            return error
        sight = None
        try:
            sight = await self._sights.now(asked.caller, asked.match_id, asked.invitation_code, asked.request_id)
        except MatchUnknown as unknown:
            return unknown
        except Exception:  # noqa: BLE001, S110 - a log that cannot be read may be one that was lost
            pass
        if (lost := await self._lost(asked, refusal)) is not None:
            return lost
        try:
            sight = sight and await self._sights.delayed(sight)
        except Exception:  # noqa: BLE001 - what was refused stays refused, whether or not its place can be told
            sight = None
        if sight is None:
            return refusal
        refined = _refined(refusal, sight)
        return refined.at(sight.ledger.head, legal_message(sight.ledger, sight.perspective))

    async def _gone(self, asked: Asked) -> Exception | None:
        """That there is nothing left of a match of which the caller sent a head; nothing if there never was one."""
        try:
            is_gone = await self._matches.is_gone(asked.match_id, _kept(asked))
        except StoreUnavailable as unavailable:
            return unavailable
        return _lost(asked.position.sequence) if is_gone else None

    async def _lost(self, asked: Asked, refusal: Refusal) -> Exception | None:
        """That the log lacks the head which was sent; nothing if it does not, or if that changes nothing."""
        try:
            await self._matches.compare(asked.match_id, _kept(asked))
        except TailLost:
            return _lost(asked.position.sequence)
        except StoreUnavailable as unavailable:
            return unavailable if refusal.code is grpc.StatusCode.OUT_OF_RANGE else None
        except Exception:  # noqa: BLE001 - what was refused stays refused, whether or not the log can be read
            return None
        return None


def _kept(asked: Asked) -> Head:
    position = asked.position
    return Head(position.sequence, position.link, position.key_id, position.signature)


def _lost(known: int) -> Refusal:
    # How much is stored is not told: a spectator delay may hide it.
    why = "the log does not hold the head that was sent, which this service signed; nothing is built on it"
    return Refusal("LOG_LOST", why, {"known": known})


def _refined(refusal: Refusal, sight: Sight) -> Refusal:
    """The contract tells more reasons apart than a decision has to."""
    match = sight.ledger.match
    if refusal.reason == "MATCH_SEALED" and match.sealed is not None and match.sealed.aborted is not None:
        return Refusal("MATCH_ABORTED", "the match has ended without a result", {"aborted": match.sealed.aborted})
    if refusal.reason == "NOT_YOUR_TURN" and sight.ledger.seat_of(sight.player) in match.forfeited:
        return Refusal("SEAT_FORFEITED", "the caretaker plays for this seat for good", refusal.facts)
    return refusal
