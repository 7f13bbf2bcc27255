"""The ReplayService: exports matches as replay files, and audits such files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Final

from rollbook.identity.service_keys import SigningKey
from rollbook.identity.tokens import Role, Subject
from rollbook.match.chain import HeadKeys
from rollbook.replay_file.container import LARGEST_FILE, without_names
from rollbook.replay_file.key_lines import keys_of_service, write_keys
from rollbook.rules.game import Watcher
from rollbook.server.access.limits import EVENTS_A_POINT, SENT_EVENTS_A_POINT, STREAM_POINTS, Held, owe, turn
from rollbook.server.addresses import Addresses
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.lobby.match_access import Callers, Context, Sight, Sights
from rollbook.server.out.replay_export import sealed_replay, seen_replay, written
from rollbook.server.refusals import Refusal
from rollbook.server.replica.replicas import Replicas
from rollbook.server.rpc.auditors import Auditors, NotInstalled
from rollbook.storage.archive.log import ArchivedLog, whole_log
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.v1 import replay_pb2 as proto
from rollbook.v1.replay_pb2_grpc import ReplayServiceServicer

PART_BYTES: Final = 64 << 10
UPLOAD_SECONDS: Final = 60
IDLE_SECONDS: Final = 5
"""The longest pause between two parts of a file."""


class ReplayServicer(ReplayServiceServicer):
    """GetReplay and AuditReplay. `layers.Refusing` turns exceptions of handlers into refusals."""

    def __init__(  # noqa: PLR0913 - a part for each kind of call
        self,
        *,
        log: ArchivedLog,
        callers: Callers,
        sights: Sights,
        replicas: Replicas,
        head_keys: HeadKeys,
        replay_key: SigningKey,
        name: str,
        limits: Limits,
        addresses: Addresses,
        count_audit: Callable[[str], None],
    ) -> None:
        """Export the matches of this log; the files give `name` as the name of the keys."""
        self._archived = log
        self._callers = callers
        self._sights = sights
        self._replicas = replicas
        self._head_keys = head_keys
        self._replay_key = replay_key
        self._count_audit = count_audit
        keys = keys_of_service(head_keys.published.values(), replay_key.published.values(), name)
        self._auditors = Auditors(write_keys(keys))
        self._sending = Held(limits.replays_per_subject, limits.replays, "too many replays are on their way")
        self._addresses = addresses
        self._auditing_there = Held(limits.audits_per_address, limits.audits, "too many replays come from one address")
        self._auditing = Held(limits.audits_per_subject, limits.audits, "too many replays are being audited")

    async def close(self) -> None:
        """Wait for the running audits."""
        await self._auditors.close()

    async def GetReplay(  # noqa: N802 - named by the contract
        self, request: proto.GetReplayRequest, context: Context
    ) -> AsyncIterator[proto.GetReplayResponse]:
        """A match as a file, in parts."""
        caller = self._callers.of(context, STREAM_POINTS)
        with self._sending.by(caller.key, for_many=caller.role is Role.GATEWAY):
            data = await self._file(caller, request)
            for start in range(0, len(data), PART_BYTES):
                yield proto.GetReplayResponse(part=data[start : start + PART_BYTES])

    async def AuditReplay(  # noqa: N802 - named by the contract
        self, request_iterator: AsyncIterator[proto.AuditReplayRequest], context: Context
    ) -> proto.AuditReplayResponse:
        """Audit an uploaded file."""
        caller = self._callers.of(context)
        with self._auditing.by(caller.key), self._auditing_there.by(self._addresses.of(context)):
            try:
                self._auditors.check_installed()
            except NotInstalled:
                why = "this service has no auditor; `rollbook audit` takes the file at home"
                raise Refusal("AUDIT_NOT_INSTALLED", why) from None
            audited = await self._auditors.audit(await _receive_upload(request_iterator))
        self._count_audit(proto.Verdict.Name(audited.verdict).removeprefix("VERDICT_").lower())
        return audited

    async def _file(self, caller: Subject, request: proto.GetReplayRequest) -> bytes:
        match_id = request.match_id
        sight = await self._sights.now(caller, match_id, request.invitation_code)
        if request.public_only:
            sight = replace(sight, perspective=Watcher.PUBLIC)
        async with turn(sight.ledger.head.sequence / EVENTS_A_POINT):
            if sight.ledger.match.sealed is None:
                return await self._seen(await self._sights.delay(sight), request)
            return await self._sealed(sight, request)

    async def _sealed(self, sight: Sight, request: proto.GetReplayRequest) -> bytes:
        """The file of a finished match."""
        match_id = sight.match_id
        owe(sight.ledger.head.sequence / SENT_EVENTS_A_POINT)
        # The store first: it has the match until it is archived, and the archive may be unavailable.
        entries = await whole_log(self._archived.store, match_id)
        if len(entries) < sight.ledger.head.sequence:
            archived = await self._archived.file(match_id)
            if archived is None:
                raise ArchiveUnavailable("the match was archived, and the archive does not have it")
            return await asyncio.to_thread(without_names, archived) if request.without_names else archived
        replay = sealed_replay(match_id, entries, _names(sight, request), self._head_keys)
        return await written(replay, self._replay_key.private)

    async def _seen(self, sight: Sight, request: proto.GetReplayRequest) -> bytes:
        """The file of a match in progress, with the events that the caller may see."""
        match_id, last = sight.match_id, sight.ledger.head.sequence
        owe(last / SENT_EVENTS_A_POINT)
        with self._replicas.use(match_id) as replica:
            names = _names(sight, request)
            replay = await seen_replay(match_id, replica.past(last), sight.perspective, names, self._head_keys)
        return await written(replay, self._replay_key.private)


def _names(sight: Sight, request: proto.GetReplayRequest) -> list[str]:
    return [] if request.without_names else [seat.name for seat in sight.summary.seats]


async def _receive_upload(requests: AsyncIterator[proto.AuditReplayRequest]) -> bytes:
    """The uploaded file; raises Refusal if it is too large or too slow."""
    data = bytearray()
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            async for request in _without_pause(requests):
                data += request.part
                if len(data) > LARGEST_FILE:
                    raise Refusal(
                        "REPLAY_TOO_LARGE",
                        f"a replay file has at most {LARGEST_FILE} bytes; `rollbook audit` takes it at home",
                        {"limit": LARGEST_FILE},
                    )
    except TimeoutError:
        late = f"within {UPLOAD_SECONDS} s, or stood still for {IDLE_SECONDS} s"
        why = f"the file did not come {late}; `rollbook audit` takes it at home"
        raise Refusal("REPLAY_TOO_LARGE", why, {"limit": LARGEST_FILE}) from None
    return bytes(data)


async def _without_pause(requests: AsyncIterator[proto.AuditReplayRequest]) -> AsyncIterator[proto.AuditReplayRequest]:
    """The requests; raises TimeoutError if one takes longer than IDLE_SECONDS."""
    waiting = aiter(requests)
    while True:
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                request = await anext(waiting)
        except StopAsyncIteration:
            return
        yield request
