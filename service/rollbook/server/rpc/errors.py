"""Refusals as sent to clients: a status with ErrorInfo and RefusalDetail, or a message of Play.

Any other exception is logged here and sent as INTERNAL, without details.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import grpc
import structlog
from google.protobuf.any_pb2 import Any as Packed
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from rollbook.rules.refusals import Fact
from rollbook.server.lobby.match_access import Context
from rollbook.server.refusals import PREFIX, Refusal, refusal_of
from rollbook.v1.match_pb2 import PlayResponse
from rollbook.v1.refusals_pb2 import RefusalDetail, RefusalReason

DOMAIN: Final = "rollbook"
DETAILS: Final = "grpc-status-details-bin"
MOST_DETAIL_BYTES: Final = 4_095
MOST_FACTS: Final = 16
LONGEST_FACT_NAME: Final = 32
LONGEST_FACT: Final = 200
LONGEST_SENTENCE: Final = 500

_log = structlog.get_logger()


# Messages


def detail_of(refusal: Refusal) -> RefusalDetail:
    """The machine-readable part of a refusal."""
    detail = RefusalDetail(reason=RefusalReason.Value(PREFIX + refusal.reason), facts=_facts(refusal.facts))
    if refusal.position is not None:
        detail.position.sequence = refusal.position.sequence
        detail.position.link = refusal.position.link
    if refusal.legal is not None:
        detail.legal.CopyFrom(refusal.legal)
    return detail


def status_of(refusal: Refusal) -> Status:
    """The status of a refusal, below the size at which gRPC drops it: legal choices are left out first, then facts."""
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
    """The refusal as a message of Play, within the same limits."""
    number: int = refusal.code.value[0]
    detail = detail_of(refusal)
    if _status(refusal, detail).ByteSize() > MOST_DETAIL_BYTES and detail.HasField("legal"):
        _leave_out_legal(detail)
    return PlayResponse.Refused(status_code=number, message=refusal.why[:LONGEST_SENTENCE], detail=detail)


def _leave_out_legal(detail: RefusalDetail) -> None:
    detail.ClearField("legal")
    detail.legal_left_out = True


def _status(refusal: Refusal, detail: RefusalDetail) -> Status:
    info = ErrorInfo(reason=PREFIX + refusal.reason, domain=DOMAIN, metadata=dict(detail.facts))
    details = [Packed(), Packed()]
    for packed, message in zip(details, (info, detail), strict=True):
        packed.Pack(message)
    return Status(code=refusal.code.value[0], message=refusal.why[:LONGEST_SENTENCE], details=details)


def _facts(facts: Mapping[str, Fact]) -> dict[str, str]:
    said = {
        name[:LONGEST_FACT_NAME]: _fact_text(fact)[:LONGEST_FACT] for name, fact in facts.items() if fact is not None
    }
    return dict(list(said.items())[:MOST_FACTS])


def _fact_text(fact: Fact) -> str:
    if isinstance(fact, tuple):
        return ",".join(map(str, fact))
    return str(fact).lower() if isinstance(fact, bool) else str(fact)


# The end of a call

Count = Callable[[str], None]


async def refuse(context: Context, error: Exception, count: Count) -> None:
    """End the call with the status for this error."""
    refusal = refusal_of(error)
    if refusal is None:
        _log.error("a call failed in a way that no client can cause", exc_info=error)
        await context.abort(grpc.StatusCode.INTERNAL, "something is wrong with the service")
    else:
        count(refusal.reason)
        metadata = ((DETAILS, status_of(refusal).SerializeToString(deterministic=True)),)
        await context.abort(refusal.code, refusal.why[:LONGEST_SENTENCE], metadata)
