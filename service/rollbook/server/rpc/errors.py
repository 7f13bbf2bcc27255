"""Every refusal as a client gets it, with the code that the contract gives its reason; all handlers pass one place.

A handler raises what it meets; the interceptor turns it into a status with ErrorInfo and RefusalDetail. What no client
can cause is logged here and told as INTERNAL without a word more. A cancelled call stays cancelled.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import grpc
import structlog
from google.protobuf.any_pb2 import Any as Packed
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from rollbook.identity.refusals import NameRefused, TokenRefused
from rollbook.match.chain import Position
from rollbook.match.codec.moves import Unreadable
from rollbook.match.commands import Declined
from rollbook.match.fold import Misplaced
from rollbook.rules.refusals import Fact, Refused
from rollbook.server.failures import LogLost, MatchUnknown, RequestReused, RulesetUnknown
from rollbook.server.rpc.interceptor import Behaviour, Layer, within
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import Hole, OutcomeUnknown, StoreUnavailable
from rollbook.v1.games_pb2 import LegalChoices
from rollbook.v1.match_pb2 import PlayResponse
from rollbook.v1.refusals_pb2 import RefusalDetail, RefusalReason, status_code

DOMAIN: Final = "rollbook"
DETAILS: Final = "grpc-status-details-bin"
MOST_DETAIL_BYTES: Final = 4_095
MOST_FACTS: Final = 16
LONGEST_FACT_NAME: Final = 32
LONGEST_FACT: Final = 200
LONGEST_SENTENCE: Final = 500

_PREFIX: Final = "REFUSAL_REASON_"
_log = structlog.get_logger()


@dataclass(slots=True, eq=False)
class Refusal(Exception):
    """What a client is told: the reason by its name, a sentence, the facts, and where the match stands."""

    reason: str
    """As RefusalReason names it, without the prefix."""
    why: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
    position: Position | None = None
    legal: LegalChoices | None = None

    def __post_init__(self) -> None:
        """Refuse a reason that no client could look up."""
        RefusalReason.Value(_PREFIX + self.reason)

    def __str__(self) -> str:
        """Say why."""
        return self.why

    @property
    def code(self) -> grpc.StatusCode:
        """The status code of the reason."""
        return CODES[self.reason]

    def at(self, position: Position, legal: LegalChoices | None) -> Refusal:
        """The same refusal, with what its caller may know of the match."""
        return replace(self, position=position, legal=legal)


# Reasons


def refusal_of(error: BaseException) -> Refusal | None:
    """What a client is told of this; nothing if no client can have caused it."""
    match error:
        case Refusal():
            return error
        case Declined() | Refused():
            return Refusal(error.reason.name, error.why, error.facts)
        case TokenRefused():
            return Refusal(f"TOKEN_{error.reason.name}", error.why)
        case NameRefused():
            return Refusal("NAME_REFUSED", error.why, {"why": error.reason.value})
        case _:
            return _of_the_store(error)


def _of_the_store(error: BaseException) -> Refusal | None:  # noqa: PLR0911 - one for each kind
    match error:
        case MatchUnknown():
            return Refusal("MATCH_NOT_FOUND", "there is no such match for this caller")
        case RequestReused():
            return Refusal("REQUEST_ID_REUSED", "the request id has been used for something else")
        case LogLost():
            facts = {"known": error.known, "stored": error.stored}
            return Refusal("LOG_LOST", "the stored log is not what has been told; nothing is built on it", facts)
        case Misplaced() | Hole():
            return Refusal("LOG_LOST", "the stored log does not hold together; nothing is built on it")
        case ArchiveUnavailable():
            return Refusal("ARCHIVE_UNAVAILABLE", "the match lies in the archive, which cannot be read now")
        case StoreUnavailable():
            return Refusal("STORE_UNAVAILABLE", f"{error.cause}, and this changed nothing: try again later")
        case OutcomeUnknown():
            why = "the store does not answer, and this may have happened or not: the same request again is safe"
            return Refusal("STORE_UNAVAILABLE", why)
        case RulesetUnknown():
            return Refusal("RULESET_UNKNOWN", str(error))
        case Unreadable():
            return Refusal("EVENT_BODY_UNKNOWN", "the log has an event that this server cannot read")
    return None


CODES: Final[Mapping[str, grpc.StatusCode]] = {
    value.name.removeprefix(_PREFIX): grpc.StatusCode[value.GetOptions().Extensions[status_code]]
    for value in RefusalReason.DESCRIPTOR.values
    if value.number
}
"""The status code of every reason, as the contract gives it."""

# Messages


def detail_of(refusal: Refusal) -> RefusalDetail:
    """What a program may want to know."""
    detail = RefusalDetail(reason=RefusalReason.Value(_PREFIX + refusal.reason), facts=_facts(refusal.facts))
    if refusal.position is not None:
        detail.position.sequence = refusal.position.sequence
        detail.position.link = refusal.position.link
    if refusal.legal is not None:
        detail.legal.CopyFrom(refusal.legal)
    return detail


def status_of(refusal: Refusal) -> Status:
    """The whole status, below the size at which gRPC drops it: first the legal choices go, then the facts."""
    detail = detail_of(refusal)
    status = _status(refusal, detail)
    if status.ByteSize() > MOST_DETAIL_BYTES and detail.HasField("legal"):
        _leave_out_legal(detail)
        status = _status(refusal, detail)
    while status.ByteSize() > MOST_DETAIL_BYTES and detail.facts:
        del detail.facts[max(detail.facts)]
        status = _status(refusal, detail)
    return status


def play_refusal(refusal: Refusal) -> PlayResponse.Refused:
    """The same as a message of Play, within the same bounds."""
    number: int = refusal.code.value[0]
    detail = detail_of(refusal)
    if _status(refusal, detail).ByteSize() > MOST_DETAIL_BYTES and detail.HasField("legal"):
        _leave_out_legal(detail)
    return PlayResponse.Refused(status_code=number, message=refusal.why[:LONGEST_SENTENCE], detail=detail)


def _leave_out_legal(detail: RefusalDetail) -> None:
    detail.ClearField("legal")
    detail.legal_left_out = True


def _status(refusal: Refusal, detail: RefusalDetail) -> Status:
    info = ErrorInfo(reason=_PREFIX + refusal.reason, domain=DOMAIN, metadata=dict(detail.facts))
    details = [Packed(), Packed()]
    for packed, message in zip(details, (info, detail), strict=True):
        packed.Pack(message)
    return Status(code=refusal.code.value[0], message=refusal.why[:LONGEST_SENTENCE], details=details)


def _facts(facts: Mapping[str, Fact]) -> dict[str, str]:
    said = {name[:LONGEST_FACT_NAME]: _said(fact)[:LONGEST_FACT] for name, fact in facts.items() if fact is not None}
    return dict(list(said.items())[:MOST_FACTS])


def _said(fact: Fact) -> str:
    if isinstance(fact, tuple):
        return ",".join(map(str, fact))
    return str(fact).lower() if isinstance(fact, bool) else str(fact)


# The one place that all handlers pass

Context = grpc.aio.ServicerContext[Any, Any]
Count = Callable[[str], None]


async def refuse(context: Context, error: Exception, count: Count) -> None:
    """End the call with what the error comes to."""
    refusal = refusal_of(error)
    if refusal is None:
        _log.error("a call failed in a way that no client can cause", exc_info=error)
        await context.abort(grpc.StatusCode.INTERNAL, "something is wrong with the service")
    else:
        count(refusal.reason)
        metadata = ((DETAILS, status_of(refusal).SerializeToString(deterministic=True)),)
        await context.abort(refusal.code, refusal.why[:LONGEST_SENTENCE], metadata)


class Refusing(Layer):
    """Turns whatever a handler of ours raises into a refusal."""

    def __init__(self, count: Count) -> None:
        """Let `count` hear the reason of every call that is refused."""
        self._count = count

    def around(self, method: str, behaviour: Behaviour, *, streams_requests: bool) -> Behaviour:
        """A guard around the behaviour of a method of ours."""
        del streams_requests
        if not method.startswith("/rollbook.v1."):
            return behaviour
        return within(self._refusing, behaviour)

    @asynccontextmanager
    async def _refusing(self, request: Any, context: Context) -> AsyncIterator[Any]:
        try:
            yield request
        except grpc.aio.AbortError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, its client gets an answer
            await refuse(context, error, self._count)
