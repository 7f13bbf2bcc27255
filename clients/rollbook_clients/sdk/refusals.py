"""The exceptions of this package. Errors of gRPC are always converted into one of them.

RollbookError
├── Refused              the service refused, for a reason; nothing has changed
│   ├── Malformed        the same call never succeeds
│   ├── IllegalChoice    the rules do not allow this choice now; `legal` has the allowed ones
│   ├── NotNow           the state of the match does not allow it
│   ├── MovedOn          another player or a clock was faster: look again, choose again
│   ├── NotFound         there is no such match for this caller
│   ├── NotAllowed       the caller may not do this
│   ├── Unauthenticated  the token is invalid or has expired
│   ├── LimitReached     too much data, too many objects, or too many calls
│   └── PositionUnknown  the log has no such position
├── Unreachable          no reply before the deadline
│   └── OutcomeUnknown   the command may or may not have happened
└── Untrustworthy        the evidence is in `head` and `found`
    ├── LogLost          the service no longer has events that it has signed
    └── LogBroken        data of the service contradicts itself
"""

from collections.abc import Mapping
from typing import Final

import grpc
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status

from rollbook.match.chain import Position
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.v1.refusals_pb2 import RefusalDetail, RefusalReason
from rollbook_clients.sdk.frames import read_position
from rollbook_clients.sdk.legal import Legal

_DETAILS: Final = "grpc-status-details-bin"
_PREFIX: Final = "REFUSAL_REASON_"


class RollbookError(Exception):
    """Base of all exceptions of this package."""


class Refused(RollbookError):
    """The service refused the call. Nothing has changed.

    >>> raise Malformed("SEAT_UNKNOWN", "seat 7 is not at this table", {"seat": "7"})
    Traceback (most recent call last):
    ...
    rollbook_clients.sdk.refusals.Malformed: SEAT_UNKNOWN: seat 7 is not at this table
    """

    def __init__(
        self,
        reason: str,
        why: str,
        facts: Mapping[str, str] | None = None,
        position: Position | None = None,
        legal: Legal | None = None,
    ) -> None:
        super().__init__(reason, why)
        self.reason = reason
        """The name of a RefusalReason without its prefix, stable for programs. Empty if the service sent no reason."""
        self.why = why
        """An explanation for people."""
        self.facts: Mapping[str, str] = dict(facts or {})
        """The values behind the explanation, by name."""
        self.position = position
        """The current position of the log, as far as the caller may know it; None if the service sent none."""
        self.legal = legal
        """What the caller may choose at that position, if it is the caller's turn."""

    def __str__(self) -> str:
        return f"{self.reason}: {self.why}" if self.reason else self.why


class Malformed(Refused):
    """The request cannot be read or is never valid: the same call never succeeds."""


class IllegalChoice(Refused):
    """The rules do not allow this choice now; `legal` has the allowed ones."""


Illegal = IllegalChoice


class NotNow(Refused):
    """The state of the match does not allow it now."""


class MovedOn(Refused):
    """The match has moved on from the position of the choice: get the new state and choose again."""


class NotFound(Refused):
    """There is no such match for this caller."""


class NotAllowed(Refused):
    """The caller may not do this: no seat, another seat, another role."""


class Unauthenticated(Refused):
    """The token is invalid or has expired."""


class LimitReached(Refused):
    """A limit was reached: too much data, too many objects, or too many calls."""


class PositionUnknown(Refused):
    """The log has no such position, or another event there."""


class Unreachable(RollbookError):
    """The service did not reply before the deadline."""


class OutcomeUnknown(Unreachable):
    """No reply arrived, and the command may or may not have happened; the next command in the match settles it."""

    def __init__(self, why: str, request_id: str) -> None:
        super().__init__(why)
        self.request_id = request_id


class Untrustworthy(RollbookError):
    """The service contradicts itself about a match, or has lost it; keep the evidence."""

    def __init__(self, match_id: str, why: str, head: WitnessedHead | None, found: bytes = b"") -> None:
        super().__init__(f"match {match_id}: {why}")
        self.match_id = match_id
        self.head = head
        """The last head that the service signed and this client checked; None if there was none."""
        self.found = found
        """The bytes that contradict the head or the log: an event or a signed head. Empty if there are none."""


class LogLost(Untrustworthy):
    """The service no longer has events that it has shown or signed."""


class LogBroken(Untrustworthy):
    """Events are missing, repeated or wrongly linked, or a head's signature is invalid."""


_KINDS: Final[dict[grpc.StatusCode, type[Refused]]] = {
    grpc.StatusCode.INVALID_ARGUMENT: Malformed,
    grpc.StatusCode.FAILED_PRECONDITION: NotNow,
    grpc.StatusCode.ABORTED: MovedOn,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.PERMISSION_DENIED: NotAllowed,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.RESOURCE_EXHAUSTED: LimitReached,
    grpc.StatusCode.OUT_OF_RANGE: PositionUnknown,
}


_OF_THE_RULES: Final = range(30, 100)
"""Numbers of the reasons for readable choices that the rules do not allow."""


def refusal_of(error: grpc.aio.AioRpcError) -> Refused:
    """Convert an error of gRPC into a refusal; it has no reason if the service sent no detail."""
    kind = _KINDS.get(error.code(), Refused)
    detail = _detail(error)
    why = error.details() or error.code().name
    if detail is None:
        return kind("", why)
    if kind is NotNow and detail.reason in _OF_THE_RULES:
        kind = IllegalChoice
    return kind(
        _name(detail.reason),
        why,
        detail.facts,
        read_position(detail.position) if detail.HasField("position") else None,
        Legal(detail.legal) if detail.HasField("legal") else None,
    )


def _detail(error: grpc.aio.AioRpcError) -> RefusalDetail | None:
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS and isinstance(value, bytes):
            detail = RefusalDetail()
            try:
                packed = Status.FromString(value).details
                if any(each.Unpack(detail) for each in packed):
                    return detail
            except DecodeError:
                return None
    return None


def _name(reason: int) -> str:
    """The name of a reason; its number if only a newer version knows the reason.

    >>> _name(149), _name(9_999)
    ('NOT_YOUR_TURN', '9999')
    """
    known = RefusalReason.DESCRIPTOR.values_by_number.get(reason)
    return known.name.removeprefix(_PREFIX) if known else str(reason)
