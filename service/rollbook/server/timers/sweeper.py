"""Timers: ends turns that ran out, aborts unready matches, expires abandoned ones, credits downtime.

Matches in which no person ever makes a choice end as well, and bots leave tables that no person came back to.

One process sweeps, with a lease in the store that it renews. If the process dies or stalls, another one takes over
before the interruption counts as downtime. Two concurrent sweeps do no harm: each append names the position that it
follows and the time before which the store must refuse it, so it happens once.

A beat in the store records when a service last swept. After a gap, every match with a clock is credited with the gap
("pardoned") before the next beat is written. If the process fails in between, its successor still finds the whole gap.

A match is examined when the store's index has a timer of it that may be due; other matches are not read. A wrong entry
in the index only causes an extra look. The sweeping process also maintains the index.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from cachetools import LRUCache

from rollbook.match.chain import Position
from rollbook.match.clock import LONGEST_GAP_MS, SECOND_MS
from rollbook.match.codec.moves import Unreadable
from rollbook.match.commands import (
    AbortUnready,
    Command,
    Declined,
    EndUnplayed,
    Expire,
    FreeSeat,
    NotDue,
    Origin,
    Pardon,
    Why,
)
from rollbook.match.decide import next_due, unplayed_until_ms
from rollbook.match.ledger import Ledger
from rollbook.rules.catalogue import current
from rollbook.server.failures import MatchUnknown, TailLost
from rollbook.server.health.metrics import OTHER_GAMES, Metrics
from rollbook.server.lobby.index_keeper import IndexKeeper
from rollbook.server.lobby.index_rows import ALONE_SECONDS, ARCHIVE, MOST_SPARED_MS, NOT_OVER, SWEEP, has_clock
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.lobby.pools import is_open
from rollbook.server.loops import BackgroundLoop
from rollbook.server.play.matches import Matches
from rollbook.server.play.quotas import Quotas
from rollbook.server.replica.lost_logs import LostTails
from rollbook.server.replica.replicas import Replicas
from rollbook.server.timers.pool_tables import PoolTables
from rollbook.server.timers.store_clock import StoreClock
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import AppendUnconfirmed, IndexRow, Lease, MatchIndex, StoreUnavailable
from rollbook.v1.match_pb2 import MatchSummary

BEAT_SECONDS: Final = 1.0
LEASE_MS: Final = 3_000
"""How long the lease lasts without renewal: several beats. Lease and one more beat are shorter than LONGEST_GAP_MS."""

RECOUNT_MS: Final = 300_000
"""How often the book of all matches is compared with the lobby."""

COUNT_MS: Final = 5_000
"""How often matches are counted."""

CLUSTER_COUNT_MS: Final = 60_000
"""How often matches are counted if every count asks many parts of the index."""

FREE_MS: Final = 3_000
"""How often the reservations of finished matches are released."""

LATE_MS: Final = 5_000
"""The longest delay between a match's end time and its lobby entry."""

MOST_DUE: Final = 5_000
"""Matches examined in one sweep."""

AT_ONCE: Final = 100
MOST_ODD: Final = 1_000

SHORT_GAP_MS: Final = 2_000
"""A longer pause between two sweeps is noticeable for players."""

SPARED_MS: Final = 5_000
"""After such a gap no turn runs out for this long."""

EXPIRY_SPARED_MS: Final = MOST_SPARED_MS
"""After such a gap no match expires for this long, which is the shortest expiry time of any match."""

LONGEST_SWEEP_MS: Final = 5_000
"""Matches not examined by then, for example after a takeover, wait for the next sweep."""

AGAIN_MS: Final = 5_000
"""How long to wait before examining a match again after a failure."""

PARDONED_AGAIN: Final = 3
"""How often pardoning a match is tried after conflicts."""

_NOTHING_TO_SWEEP: Final = (MatchUnknown, TailLost, Unreadable, ArchiveUnavailable)
"""The match is lost or unreadable, which was logged where it was noticed; the sweep continues with other matches."""

_logger = structlog.get_logger()


@dataclass(slots=True)
class _Due:
    """A match in which a timer may be due, as the lobby lists it."""

    listed: ListedMatch
    since_ms: int
    """The time for which the match was on the agenda."""

    @property
    def match_id(self) -> str:
        """The id of the match."""
        return self.listed.summary.match_id


class Sweeper:
    """Examines all matches with timers that may be due, once a second."""

    def __init__(  # noqa: PLR0913 - the parts that a sweep uses
        self,
        *,
        lease: Lease,
        agendas: MatchIndex,
        lobby: StoredLobby,
        index: IndexKeeper,
        quotas: Quotas,
        matches: Matches,
        replicas: Replicas,
        lost: LostTails,
        metrics: Metrics,
        clock: StoreClock,
        tables: PoolTables,
        first_choice_seconds: int,
    ) -> None:
        """`tables` examines the open tables of PlayNow."""
        self._tables = tables
        self._first_choice_seconds = first_choice_seconds
        self._lease = lease
        self._agendas = agendas
        self._lobby = lobby
        self._index = index
        self._quotas = quotas
        self._recounted_ms = 0
        self._counted_ms = 0
        self._freed_ms = 0
        """The reservations of matches that finished before this time have been released."""
        self._matches = matches
        self._replicas = replicas
        self._lost = lost
        self._metrics = metrics
        self._clock = clock
        self._swept_ms = 0
        """When this process last completed a sweep."""
        self._back_ms = 0
        """When the last gap between sweeps ended, so that clients could reach the service again."""
        self._heard_ms = 0
        """Up to this time the current sweep has run without a gap; no beat has a later time."""
        self._name = secrets.token_hex(8)
        self.loop = BackgroundLoop("sweeper", self.beat, metrics.loop_failed, BEAT_SECONDS)
        self._odd: LRUCache[str, bool] = LRUCache(MOST_ODD)
        """Matches with unexpected failures, so that each is logged once."""

    async def beat(self) -> None:
        """Sweep, unless another process has the lease."""
        sweeps = await self._lease.lease(self._name, LEASE_MS)
        self._metrics.sweeping(sweeps=sweeps)
        if sweeps:
            began = time.perf_counter()
            await self.sweep()
            self._metrics.swept_all(self._swept_ms, time.perf_counter() - began)
            await self._recount()
        else:
            await self._clock.compare()
            # Only the sweeping process reports the counts of matches.
            self._counted_ms = 0
            self._metrics.set_matches({})

    async def _recount(self) -> None:
        """Release the reservations of finished matches, and periodically compare the book with the lobby."""
        now_ms = self._clock()
        if now_ms - self._freed_ms < FREE_MS:
            return
        ended = await self._agendas.due(ARCHIVE, now_ms, MOST_DUE, max(0, self._freed_ms - LATE_MS))
        await self._quotas.free([match_id for match_id, _ in ended])
        self._freed_ms = ended[-1][1] + LATE_MS if len(ended) == MOST_DUE else now_ms
        if now_ms - self._recounted_ms >= RECOUNT_MS:
            self._recounted_ms = now_ms
            await self._quotas.recount()

    async def sweep(self) -> None:
        """Pardon the last gap, write the beat, and run the timers that are due."""
        await self._clock.compare()
        away_since_ms = await self._lease.last_beat()
        # Read once: a stall before this line is part of the gap, a stall after it is part of the next gap.
        now_ms = self._heard_ms = self._clock()
        if not await self._index.settle():
            await self._index.mend_a_slice()
        await self._count()
        if away_since_ms is not None and now_ms - away_since_ms > LONGEST_GAP_MS:
            await self._pardon_all(Pardon(Origin(now_ms), away_since_ms))
        await self._lease.beat(self._heard_ms)
        self._notice_gap(self._swept_ms)
        due = await self._agendas.due(SWEEP, now_ms, MOST_DUE)
        for start in range(0, len(due), AT_ONCE):
            for one in await self._list_due(due[start : start + AT_ONCE]):
                began_ms = self._clock()
                if began_ms - now_ms > LONGEST_SWEEP_MS:
                    self._swept_ms = began_ms
                    return
                await self._attempt(one, self._look_at(one))
                self._notice_gap(began_ms)
                await self._go_on(beats=True)
        self._swept_ms = self._clock()

    async def _count(self) -> None:
        """Periodically update the metrics of open and running matches."""
        every_ms = COUNT_MS if self._agendas.index_parts == 1 else CLUSTER_COUNT_MS
        if (now_ms := self._clock()) - self._counted_ms < every_ms:
            return
        self._counted_ms = now_ms
        found = await self._lobby.counts(("", *current()))
        for state in NOT_OVER:
            # Matches of games that only newer replicas of the service have are counted together.
            of_all = found.pop((state, ""))
            found[state, OTHER_GAMES] = max(0, of_all - sum(found[state, game] for game in current()))
        self._metrics.set_matches(found)

    async def _pardon_all(self, pardon: Pardon) -> None:
        """Pardon the gap in every match with a clock; reads the lobby, so that a wrong index costs no player time."""
        async for part in self._lobby.parts():
            await self._go_on(beats=False)
            for listed in part:
                if has_clock(listed.summary):
                    self._compare_to_lobby(listed.summary)
                    one = _Due(listed, pardon.origin.now_ms)
                    await self._attempt(one, self._pardon(one.match_id, pardon))
                await self._go_on(beats=False)

    async def _list_due(self, due: Sequence[tuple[str, int]]) -> list[_Due]:
        """The lobby entries of these matches; matches without an entry are removed from the agenda."""
        entries = await self._lobby.entries([match_id for match_id, _ in due])
        found = [_Due(entries[match_id], since_ms) for match_id, since_ms in due if match_id in entries]
        await self._lobby.strike({match_id: IndexRow(0, (), SWEEP) for match_id, _ in due if match_id not in entries})
        for one in found:
            self._compare_to_lobby(one.listed.summary)
        return found

    def _compare_to_lobby(self, summary: MatchSummary) -> None:
        """Record the position of the lobby entry, so that a log without that event counts as lost."""
        written = summary.position
        if written.sequence:
            self._lost.record_sent(summary.match_id, Position(written.sequence, written.link), sealed=False)

    def _notice_gap(self, well_ms: int) -> None:
        """Start the grace period if more than SHORT_GAP_MS have passed since `well_ms`."""
        now_ms = self._clock()
        if now_ms - well_ms > SHORT_GAP_MS:
            self._back_ms = now_ms

    async def _go_on(self, *, beats: bool) -> None:
        """During a long sweep, renew the lease and write the beat once a second."""
        now_ms = self._clock()
        if now_ms - self._heard_ms < BEAT_SECONDS * SECOND_MS:
            return
        await self._lease.lease(self._name, LEASE_MS)
        if self._has_stalled(now_ms):
            return
        self._heard_ms = now_ms
        if beats:
            await self._lease.beat(now_ms)

    def _has_stalled(self, now_ms: int) -> bool:
        """Whether this sweep has a gap. No beat is written after it, so the next sweep finds and pardons it."""
        return now_ms - self._heard_ms > LONGEST_GAP_MS

    async def _attempt(self, one: _Due, work: Awaitable[None]) -> None:
        """Await `work`; a failure other than the store's postpones this match and does not affect the others."""
        try:
            await work
        except _NOTHING_TO_SWEEP:
            # ArchiveUnavailable is a StoreUnavailable, but concerns only this match, so it is caught first.
            await self._put_off(one, self._clock() + AGAIN_MS)
        except (StoreUnavailable, AppendUnconfirmed):
            raise
        except Exception:
            self._metrics.loop_failed("sweeper")
            if one.match_id not in self._odd:
                self._odd[one.match_id] = True
                _logger.exception("cannot sweep a match", match=one.match_id)
            await self._put_off(one, self._clock() + AGAIN_MS)

    async def _put_off(self, one: _Due, due_ms: int) -> None:
        await self._agendas.put_off(SWEEP, one.match_id, one.since_ms, due_ms)

    async def _pardon(self, match_id: str, pardon: Pardon) -> None:
        """Pardon the gap in a match; if other appends always come first, new turns have begun anyway."""
        for _ in range(PARDONED_AGAIN):
            if await self._do(match_id, pardon):
                return

    async def _look_at(self, one: _Due) -> None:
        """Run the match's next timer if it is due; otherwise schedule the next look."""
        ledger = await self._replicas.ledger(one.match_id)
        now_ms, turn_ms = self._clock(), ledger.clock.turn_ms
        if self._has_stalled(now_ms):
            return
        # Another seat's turn may begin at any time, and end before the current timer.
        look_ms = now_ms + (turn_ms or one.listed.row.longest_ms)
        for due_ms, commands in self._timers(ledger, now_ms):
            spared_ms = EXPIRY_SPARED_MS if isinstance(commands[0], Expire | EndUnplayed) else SPARED_MS
            if now_ms >= max(due_ms, self._back_ms + spared_ms):
                # The commands change the match, so its next timer is determined when it is examined again.
                for command in commands:
                    await self._do(one.match_id, command)
                return
            look_ms = min(look_ms, max(due_ms, self._back_ms + spared_ms))
        if one.listed.summary.in_pool and is_open(ledger):
            look_ms = min(look_ms, await self._tables.look(ledger, now_ms, self._back_ms))
        await self._put_off(one, look_ms)

    def _timers(self, ledger: Ledger, now_ms: int) -> list[tuple[int, list[Command]]]:
        """The commands that the service carries out without a request, each list with the time when it is due."""
        origin = Origin(now_ms)
        timers: list[tuple[int, list[Command]]] = []
        if (due := next_due(ledger)) is not None:
            timers.append((due[0], [due[1](origin)]))
        if (unplayed_ms := unplayed_until_ms(ledger, self._first_choice_seconds)) is not None:
            timers.append((unplayed_ms, [EndUnplayed(origin, self._first_choice_seconds)]))
        bots = [seat for seat, house in enumerate(ledger.house) if house]
        if bots and not ledger.match.closed and ledger.match.sealed is None and not ledger.has_person:
            leave: list[Command] = [FreeSeat(origin, seat) for seat in bots]
            timers.append((ledger.time_ms + ALONE_SECONDS * SECOND_MS, leave))
        return timers

    async def _do(self, match_id: str, command: Command) -> bool:
        """Carry out a command unless it is no longer due; returns False if another append came first."""
        try:
            answer = await self._matches.carry_out(match_id, command)
        except NotDue:
            return True
        except Declined as declined:
            return declined.reason is not Why.POSITION_BEHIND
        if isinstance(command, AbortUnready):
            await self._tables.pause_absent(answer.ledger)
        first = answer.first
        self._metrics.count_swept(first.event)
        _logger.info("swept", match=match_id, sequence=first.sequence, what=type(first.event).__name__)
        return True
