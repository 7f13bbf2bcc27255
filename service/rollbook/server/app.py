"""Builds all servicers of `rollbook serve` (matches, feeds, identity, replays, operators) over one log.

Only `Parts` knows every part, and it stays in this module; each object that it builds receives only what it needs.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Final

from rollbook import __version__
from rollbook.files import Step, no_step
from rollbook.identity.issuers import trusted_issuers
from rollbook.identity.names import ReservedNames
from rollbook.identity.tokens import LEEWAY_SECONDS, OWN_ISSUER, Issuer, Role, TrustedIssuer, Verifier
from rollbook.match.chain import HeadKeys
from rollbook.server.access.bans import Bans
from rollbook.server.access.device_codes import DeviceCodes
from rollbook.server.access.house_bots import NAMES
from rollbook.server.access.limits import Budgets, Held, Rates, Strangers
from rollbook.server.access.players import Players
from rollbook.server.access.revocations import Revocations
from rollbook.server.addresses import Addresses
from rollbook.server.feeds.feed import Feeds
from rollbook.server.feeds.lobby_board import Board
from rollbook.server.feeds.seat_feeds import SeatFeeds
from rollbook.server.forgetting.forgetter import Forgetter
from rollbook.server.given import Given, draw_secret
from rollbook.server.health.metrics import MeasuredLog
from rollbook.server.lobby.archive_index import INDEX_NAME, ArchiveIndex
from rollbook.server.lobby.archivist import Archivist
from rollbook.server.lobby.finished_matches import Finished
from rollbook.server.lobby.index_keeper import IndexKeeper
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.lobby.match_access import Callers, Sights, is_gateway
from rollbook.server.lobby.match_listing import Lists
from rollbook.server.lobby.rematches import Rematches
from rollbook.server.out.frames import FrameMessages
from rollbook.server.out.projection import Heads
from rollbook.server.play.accepted_loss import accept_loss
from rollbook.server.play.bots import Bots
from rollbook.server.play.commands import Commands
from rollbook.server.play.holdings import SubjectHoldings
from rollbook.server.play.matches import Matches
from rollbook.server.play.opener import Opener
from rollbook.server.play.play_now import PlayNow
from rollbook.server.play.pool_seats import PoolSeats
from rollbook.server.play.quotas import GuestQuota, Quotas
from rollbook.server.process.house import house_of
from rollbook.server.process.lifecycle import Assembly, Foundation, Servicer
from rollbook.server.process.page_process import page_of
from rollbook.server.replica.lost_logs import LostTails
from rollbook.server.replica.replicas import Replicas
from rollbook.server.rpc.admin import AdminServicer, Condition
from rollbook.server.rpc.feed import FeedServicer
from rollbook.server.rpc.identity import Guests, IdentityServicer, guest_verifier
from rollbook.server.rpc.layers import Refusing
from rollbook.server.rpc.location import Locator
from rollbook.server.rpc.match import MatchServicer, Seats
from rollbook.server.rpc.play import Plays
from rollbook.server.rpc.replay import ReplayServicer
from rollbook.server.timers.pool_tables import PoolTables
from rollbook.server.timers.store_clock import StoreClock, now_ms, steady_ms
from rollbook.server.timers.sweeper import Sweeper
from rollbook.storage.archive.log import ArchivedLog
from rollbook.storage.redis.ban_list import BanList
from rollbook.storage.redis.here import RedisPresence
from rollbook.storage.redis.keys import REVOKED_KEY
from rollbook.storage.redis.master_status import master_statuses
from rollbook.storage.redis.now import RedisPools
from rollbook.storage.redis.roll_call import RollCall
from rollbook.v1.admin_pb2_grpc import add_AdminServiceServicer_to_server
from rollbook.v1.feed_pb2_grpc import add_FeedServiceServicer_to_server
from rollbook.v1.identity_pb2_grpc import add_IdentityServiceServicer_to_server
from rollbook.v1.match_pb2_grpc import add_MatchServiceServicer_to_server
from rollbook.v1.replay_pb2_grpc import add_ReplayServiceServicer_to_server

ARCHIVE: Final = "rollbook.archive"
"""Name of the health check that reports whether finished matches go to the archive."""

LOBBY_SECONDS: Final = 1.0
"""How often the lobby board reads the lobby while it has watchers."""


class Parts:
    """Builds the parts of one service; each part receives only what it needs."""

    def __init__(self, given: Given) -> None:
        self.given = given
        log, store, metrics, limits = given.log, given.store, given.metrics, given.limits
        self.clock = clock_ms = StoreClock(store, given.clock_ms, given.steady_ms or given.clock_ms, metrics)
        self.metrics = metrics
        self.rates = Rates(limits.requests_per_second, limits.requests_at_once)
        self.players = Players(given.service_key)
        archived = None if given.finished is None else given.finished.find
        self.lobby = lobby = StoredLobby(log, store, store, archived, self.players.strength)
        self._lost = LostTails(
            log, store, store, given.head_keys, metrics.lost_tail, summary=lobby.summary, listed=lobby.position
        )
        self.replicas = Replicas(log, store, self._lost)
        self.matches = Matches(log, self.replicas, self._lost, lobby.summary)
        self.strangers = Strangers(given.addresses, limits, clock_ms)
        self.bans = Bans(given.bans, self.players.reference, clock_ms, metrics.loop_failed)
        budgets = Budgets(self.rates, given.addresses, limits, clock_ms)
        self.callers = Callers(given.verifier, budgets, self.strangers, self.bans)
        self.rematches = Rematches(log, store, self.lobby, self.replicas, self.players, clock_ms)
        self.sights = Sights(self.replicas, self.lobby, self.players, self.rematches, clock_ms)
        self.commands = Commands(self.matches, self.replicas, self.sights, self.players, clock_ms)
        self.index = IndexKeeper(log, store, self.lobby)
        self.quotas = Quotas(store, store, self.lobby, self.players, limits)
        self.opener = Opener(
            self.matches,
            log,
            self.players,
            self.quotas,
            limits,
            replicas=self.replicas,
            sights=self.sights,
            clock_ms=clock_ms,
            draw_secret=given.draw_secret,
        )
        self._pool_seats = PoolSeats(
            given.pools, given.periods, self.matches, self.replicas, clock_ms, has_bots=given.invite is not None
        )
        self.bots = Bots(self.commands, self.players, self.quotas, self.rematches, self._pool_seats, given.invite)
        self._heads = Heads(given.head_keys)
        self._locator = Locator(self.sights, self.matches)
        self.plays = Plays(self.sights, self.commands, self._heads, self._locator, self.metrics.count_refusal)

    def match_servicer(self) -> MatchServicer:
        """Build the servicer for matches."""
        given, limits = self.given, self.given.limits
        plays_held = Held(limits.plays_per_subject, limits.plays, "too many streams of Play are open")
        self.metrics.count_plays(lambda: plays_held.held)
        return MatchServicer(
            clock=given.store,
            callers=self.callers,
            sights=self.sights,
            seats=Seats(self.players, self.rematches, self.quotas, given.reserved, self._pool_seats),
            opener=self.opener,
            commands=self.commands,
            bots=self.bots,
            play_now=PlayNow(self._pool_seats, self.opener, given.log, given.store, self.lobby, self.players, limits),
            plays=self.plays,
            plays_held=plays_held,
            lists=self.lists(),
            players=self.players,
            heads=self._heads,
            locator=self._locator,
            acted=given.acted,
        )

    def admin_servicer(self, condition: Condition, revocations: Revocations) -> AdminServicer:
        """Build the servicer for operators."""
        return AdminServicer(
            callers=self.callers,
            sights=self.sights,
            bans=self.bans,
            revocations=revocations,
            holdings=SubjectHoldings(self.lobby, self.matches, self.players, self.quotas, self.clock),
            condition=condition,
            acted=self.given.acted,
            clock_ms=self.clock,
        )

    def lists(self) -> Lists:
        """Build the object that lists matches."""
        given = self.given
        return Lists(
            given.store,
            lobby=self.lobby,
            finished=given.finished,
            sights=self.sights,
            players=self.players,
            rematches=self.rematches,
            service_key=given.service_key,
        )

    def feed_servicer(self, servicer: type[FeedServicer] = FeedServicer) -> FeedServicer:
        """Build the servicer for feeds."""
        given, limits = self.given, self.given.limits
        failed = self.metrics.loop_failed
        seats = SeatFeeds(given.presence, given.pools, given.periods, self.replicas, self.players, failed)
        feeds = Feeds(given.log, self.replicas, self.clock, self.metrics.count_frame, failed, seat_feeds=seats)
        board = self.board(LOBBY_SECONDS)
        self.metrics.count_watchers(lambda: feeds.watchers)
        self.metrics.count_lobby_watchers(lambda: board.watchers)
        served = servicer(
            callers=self.callers,
            sights=self.sights,
            feeds=feeds,
            seat_feeds=seats,
            board=board,
            messages=FrameMessages(self._heads, self.clock),
            rematches=self.rematches,
            watches=Held(limits.watches_per_subject, limits.watches, "too many feeds are watched"),
            locator=self._locator,
            clock_ms=self.clock,
        )
        self.bans.changed = served.wake
        return served

    def board(self, seconds: float) -> Board:
        """Build the lobby board, which reads the lobby every `seconds` while it has watchers."""
        log, store = self.given.log, self.given.store
        parts = self.lobby, self.sights, self.players, self.rematches
        return Board(log, store, *parts, seconds=seconds, clock_ms=self.clock)

    def identity_servicer(self) -> IdentityServicer:
        """Build the servicer for guests and keys."""
        given = self.given
        return IdentityServicer(
            given.guests,
            head_keys=given.head_keys,
            replay_key=given.replay_key,
            name=given.name,
            limits=given.limits,
            reserved=given.reserved,
            quota=GuestQuota(given.store, self.players, given.limits),
            codes=DeviceCodes(given.store, given.store, self.players, given.clock_ms, given.draw_secret),
            callers=self.callers,
            strangers=self.strangers,
            bans=self.bans,
            clock_ms=given.clock_ms,
            count_guest=lambda returned: self.metrics.guest(returned=returned),
        )

    def replay_servicer(self, log: ArchivedLog) -> ReplayServicer:
        """Build the servicer that exports and audits replay files."""
        given = self.given
        return ReplayServicer(
            log=log,
            callers=self.callers,
            sights=self.sights,
            replicas=self.replicas,
            head_keys=given.head_keys,
            replay_key=given.replay_key,
            name=given.name,
            limits=given.limits,
            addresses=given.addresses,
            count_audit=self.metrics.count_audit,
        )

    def sweeper(self) -> Sweeper:
        """Build the sweeper, which runs the timers."""
        return Sweeper(
            lease=self.given.store,
            agendas=self.given.store,
            lobby=self.lobby,
            index=self.index,
            quotas=self.quotas,
            matches=self.matches,
            replicas=self.replicas,
            lost=self._lost,
            metrics=self.metrics,
            clock=self.clock,
            first_choice_seconds=self.given.limits.first_choice_seconds,
            tables=PoolTables(self.lobby, self._pool_seats, self.bots),
        )

    def archivist(
        self, log: ArchivedLog, finished: Finished, where: str, *, after_seconds: int, step: Step = no_step
    ) -> Archivist:
        """Build the archivist, which archives finished matches."""
        given = self.given
        return Archivist(
            log,
            given.store,
            given.store,
            lobby=self.lobby,
            finished=finished,
            where=where,
            lost=self._lost,
            head_keys=given.head_keys,
            replay_key=given.replay_key,
            metrics=self.metrics,
            clock_ms=self.clock,
            after_seconds=after_seconds,
            step=step,
            is_ours=given.archives,
        )


async def assemble(foundation: Foundation) -> Assembly:
    """Build all servicers, layers and companions of the service on this store and these keys."""
    keys, settings = foundation.keys, foundation.settings
    own = TrustedIssuer(OWN_ISSUER, keys.token.published, frozenset(Role))
    index = ArchiveIndex(settings.data / INDEX_NAME)
    log = ArchivedLog(foundation.log, None, index)
    finished = Finished(log, index, Players(keys.service).strength)
    revoked = Revocations(BanList(foundation.log, REVOKED_KEY), now_ms, foundation.metrics.loop_failed)
    returning = guest_verifier(keys.token.published, time.time, revoked.include)
    verifier = Verifier(
        [own, *trusted_issuers(settings.trust_issuer)],
        time.time,
        leeway_seconds=LEEWAY_SECONDS,
        operator_seconds=settings.limits.operator_token_seconds,
        is_revoked=revoked.include,
    )
    house, invite = house_of(settings, keys, foundation.invite)
    parts = Parts(
        Given(
            log=MeasuredLog(log, foundation.metrics),
            store=foundation.log,
            metrics=foundation.metrics,
            head_keys=HeadKeys(keys.head.private, keys.head.key_id, keys.head.published),
            replay_key=keys.replay,
            service_key=keys.service,
            verifier=verifier,
            clock_ms=now_ms,
            steady_ms=steady_ms,
            guests=Guests(Issuer(keys.token.private), returning, draw_secret) if settings.guests else None,
            finished=finished,
            archives=settings.archives,
            invite=invite,
            reserved=ReservedNames((*NAMES, *settings.reserved_names)),
            name=keys.name,
            limits=settings.limits,
            addresses=Addresses(settings.trust_proxy, partial(is_gateway, verifier)),
            bans=BanList(foundation.log),
            pools=RedisPools(foundation.log),
            presence=RedisPresence(foundation.log),
        )
    )
    await parts.clock.compare()
    await parts.bans.start()
    await revoked.start()
    matches, feeds, identity = parts.match_servicer(), parts.feed_servicer(), parts.identity_servicer()
    replays = parts.replay_servicer(log)
    masters = partial(master_statuses, foundation.log.dispatch)
    vitals, counts, last_beat = foundation.metrics.vitals, parts.lobby.counts, foundation.log.last_beat
    accept = partial(accept_loss, foundation.log.marker, foundation.log.losses, parts.matches, parts.clock)
    condition = Condition(
        __version__, os.getpid(), settings, vitals, masters, counts, last_beat, accept, foundation.log.losses.sequences
    )
    admin = parts.admin_servicer(condition, revoked)
    revoked.changed = feeds.wake
    sweeper = parts.sweeper()
    sweeper.loop.start()
    archivist = parts.archivist(log, finished, settings.archive_place, after_seconds=settings.archive_after_seconds)
    await archivist.start()
    forgetter = Forgetter(RollCall(foundation.log), parts.lobby, finished, foundation.metrics.loop_failed)
    forgetter.loop.start()
    await parts.bots.invite_again(parts.clock())
    page = await page_of(settings, Issuer(keys.token.private))

    async def close() -> None:
        await parts.bans.loop.close()
        await revoked.loop.close()
        await forgetter.close()
        await sweeper.loop.close()
        await archivist.close()

    return Assembly(
        [
            Servicer("rollbook.v1.MatchService", partial(add_MatchServiceServicer_to_server, matches), close=close),
            Servicer(
                "rollbook.v1.FeedService",
                partial(add_FeedServiceServicer_to_server, feeds),
                drain=feeds.drain,
                close=feeds.close,
            ),
            Servicer("rollbook.v1.AdminService", partial(add_AdminServiceServicer_to_server, admin)),
            Servicer("rollbook.v1.IdentityService", partial(add_IdentityServiceServicer_to_server, identity)),
            Servicer(
                "rollbook.v1.ReplayService", partial(add_ReplayServiceServicer_to_server, replays), close=replays.close
            ),
        ],
        [Refusing(parts.metrics.count_refusal)],
        [companion for companion in (page, house) if companion is not None],
        works=lambda: not (sweeper.loop.stands_still or feeds.stands_still),
        apart={ARCHIVE: lambda: archivist.works},
    )
