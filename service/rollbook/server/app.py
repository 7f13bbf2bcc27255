"""What `rollbook serve` serves: the servicers of matches, feeds, identity and replays, on one service."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from rollbook.identity.issuers import IssuerRefused, read_issuers
from rollbook.identity.service_keys import KeyFileRefused, KeyFileUnreadable
from rollbook.identity.tokens import OWN_ISSUER, Issuer, Role, TrustedIssuer, Verifier
from rollbook.server.archive_index import ArchiveIndex
from rollbook.server.archivist import Archivist
from rollbook.server.finished import Finished
from rollbook.server.house import HouseProcess
from rollbook.server.lifecycle import Assembly, Foundation, Servicer
from rollbook.server.metrics import MeasuredLog
from rollbook.server.rpc.errors import Refusing
from rollbook.server.rpc.feed import FeedServicer
from rollbook.server.rpc.identity import IdentityService, guest_verifier
from rollbook.server.rpc.match import MatchService
from rollbook.server.rpc.replay import ReplayServicer
from rollbook.server.service import Service
from rollbook.server.sweeper import Sweeper
from rollbook.storage.archive.log import ArchivedLog
from rollbook.v1 import feed_pb2, identity_pb2, match_pb2, replay_pb2
from rollbook.v1.feed_pb2_grpc import add_FeedServiceServicer_to_server
from rollbook.v1.identity_pb2_grpc import add_IdentityServiceServicer_to_server
from rollbook.v1.match_pb2_grpc import add_MatchServiceServicer_to_server
from rollbook.v1.replay_pb2_grpc import add_ReplayServiceServicer_to_server


async def assemble(foundation: Foundation) -> Assembly:
    """Everything that the contract has, on this log and these keys."""
    keys = foundation.keys
    own = TrustedIssuer(OWN_ISSUER, keys.token.published, frozenset(Role))
    log = ArchivedLog(foundation.log, None)
    finished = Finished(log, ArchiveIndex(foundation.settings.data / "archive-index.sqlite"))
    service = Service(
        log=MeasuredLog(log, foundation.metrics),
        metrics=foundation.metrics,
        head_key=keys.head.private,
        head_key_id=keys.head.key_id,
        published_head_keys=keys.head.published,
        replay_key=keys.replay,
        service_key=keys.service,
        verifier=Verifier([own, *_trusted(foundation.settings.trust_issuer)], time.time),
        clock_ms=_now_ms,
        guest_issuer=Issuer(keys.token.private) if foundation.settings.guests else None,
        finished=finished,
        guest_verifier=guest_verifier(keys.token.published, time.time),
    )
    matches, feeds, identity = MatchService(service), FeedServicer(service), IdentityService(service)
    replays = ReplayServicer(service, log)
    sweeper = Sweeper(service)
    sweeper.start()
    settings = foundation.settings
    archivist = Archivist(service, log, finished, settings.archive_place, after_seconds=settings.archive_after_seconds)
    await archivist.start()
    demo = settings.demo_seconds
    house = None if demo is None else HouseProcess(Issuer(keys.token.private), keys.service, settings.tls, demo)

    async def close() -> None:
        await sweeper.close()
        await archivist.close()

    return Assembly(
        [
            Servicer(
                match_pb2.DESCRIPTOR.services_by_name["MatchService"].full_name,
                lambda server: add_MatchServiceServicer_to_server(matches, server),
                close=close,
            ),
            Servicer(
                feed_pb2.DESCRIPTOR.services_by_name["FeedService"].full_name,
                lambda server: add_FeedServiceServicer_to_server(feeds, server),
                drain=feeds.drain,
                close=feeds.close,
            ),
            Servicer(
                identity_pb2.DESCRIPTOR.services_by_name["IdentityService"].full_name,
                lambda server: add_IdentityServiceServicer_to_server(identity, server),
            ),
            Servicer(
                replay_pb2.DESCRIPTOR.services_by_name["ReplayService"].full_name,
                lambda server: add_ReplayServiceServicer_to_server(replays, server),
                close=replays.close,
            ),
        ],
        [Refusing(service.metrics.refused)],
        [] if house is None else [house],
    )


def _trusted(paths: Sequence[Path]) -> list[TrustedIssuer]:
    try:
        return read_issuers(paths)
    except IssuerRefused as refused:
        raise KeyFileRefused(str(refused)) from refused
    except OSError as failure:
        raise KeyFileUnreadable(f"{failure.filename}: {failure.strerror}") from failure


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
