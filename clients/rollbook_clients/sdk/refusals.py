"""What can go wrong, as exceptions: refused, out of reach, or not to be trusted. Nobody meets a bare gRPC error.

RollbookError
├── Refused              the service said no, for a reason; nothing has changed
│   ├── Malformed        the same call never succeeds
│   ├── IllegalChoice    the rules do not allow this choice now; `legal` has those that they do
│   ├── NotNow           not allowed as things stand
│   ├── MovedOn          somebody was faster, or a clock ran out: look again, choose anew
│   ├── NotFound         for this caller there is no such match
│   ├── NotAllowed       the caller may not do this
│   ├── Unauthenticated  the token does not hold
│   ├── LimitReached     too much, too many, too fast
│   └── PositionUnknown  the log has no such position
├── Unreachable          no answer in spite of patience
│   └── OutcomeUnknown   what was asked may have happened or not
└── Untrustworthy        the evidence is in `head` and `found`
    ├── LogLost          the service no longer has what it vouched for
    └── LogBroken        what the service sends does not hold together
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
    """Whatever this package raises of its own."""


class Refused(RollbookError):
    """The service said no. Nothing has changed.

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
        """The name of a RefusalReason without its prefix: stable, for programs. Empty if it did not come with one."""
        self.why = why
        """A sentence for people."""
        self.facts: Mapping[str, str] = dict(facts or {})
        """The values that explain it."""
        self.position = position
        """Where the log stands, as far as the caller may know."""
        self.legal = legal
        """What the caller may choose there, if it is its turn."""

    def __str__(self) -> str:
        return f"{self.reason}: {self.why}" if self.reason else self.why


class Malformed(Refused):
    """It cannot be read, or never be meant: the same call never succeeds."""


class IllegalChoice(Refused):
    """The rules do not allow this choice now; `legal` has those that they do."""


Illegal = IllegalChoice


class NotNow(Refused):
    """The state of the match does not allow it now."""


class MovedOn(Refused):
    """The match is not where the choice saw it any more: catch up, and choose anew."""


class NotFound(Refused):
    """For this caller there is no such match."""


class NotAllowed(Refused):
    """The caller may not do this: no seat, another seat, another role."""


class Unauthenticated(Refused):
    """The token does not hold."""


class LimitReached(Refused):
    """Too much, too many, or too fast."""


class PositionUnknown(Refused):
    """The log has no such position, or another event there."""


class Unreachable(RollbookError):
    """The service did not answer, for as long as patience went."""


class OutcomeUnknown(Unreachable):
    """No answer came, and what was asked may have happened or not; the next write in the match settles it."""

    def __init__(self, why: str, request_id: str) -> None:
        super().__init__(why)
        self.request_id = request_id


class Untrustworthy(RollbookError):
    """The service is not to be believed about a match, or has lost it; keep the evidence."""

    def __init__(self, match_id: str, why: str, head: WitnessedHead | None, found: bytes = b"") -> None:
        super().__init__(f"match {match_id}: {why}")
        self.match_id = match_id
        self.head = head
        """The last head that the service signed and this client checked; none if it saw none."""
        self.found = found
        """The bytes that contradict, if there are any: an event, or a signed head."""


class LogLost(Untrustworthy):
    """The service does not have any more what it once showed."""


class LogBroken(Untrustworthy):
    """Events with a gap, a double or a wrong link between them, or a head with a signature that does not hold."""


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
"""The numbers of the reasons why the rules do not allow what they can read."""


def refusal_of(error: grpc.aio.AioRpcError) -> Refused:
    """The refusal that a status tells of; of any other status one without a reason."""
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
    """A reason's name; a newer service may have one that is not known here.

    >>> _name(149), _name(9_999)
    ('NOT_YOUR_TURN', '9999')
    """
    known = RefusalReason.DESCRIPTOR.values_by_number.get(reason)
    return known.name.removeprefix(_PREFIX) if known else str(reason)
