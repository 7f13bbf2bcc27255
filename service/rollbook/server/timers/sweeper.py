"""What nobody sends: turns that are out of time, seats that do not get ready, abandoned matches, and pardoned downtime.

One process sweeps, by a lease in the store that it has to ask for again and again; when it is gone, or stalls, another
one takes over, well before anybody's time would count as downtime. Should two sweep at once, whatever is due is done
once all the same, because its append names the position that it ends and the time before which the store must not take
it. A beat in the store says when a service was last alive. After a gap nobody beats before the gap is pardoned in every
match that has a clock, so whoever takes over from one that fails or dies in between finds the gap as it was.

A match is looked at when something may be due in it, which the index of the store knows: nothing is asked for of all
others. An agenda that is wrong only makes for a look. Whoever sweeps keeps the index as well.
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
from rollbook.match.commands import Command, Declined, Expire, NotDue, Origin, Pardon, Why
from rollbook.match.decide import next_due
from rollbook.rules.catalogue import current
from rollbook.server.failures import MatchUnknown, TailLost
from rollbook.server.health.metrics import OTHER_GAMES, Metrics
from rollbook.server.lobby.index_keeper import IndexKeeper
from rollbook.server.lobby.index_rows import ARCHIVE, MOST_SPARED_MS, NOT_OVER, SWEEP, has_clock
from rollbook.server.lobby.lobby import ListedMatch, StoredLobby
from rollbook.server.loops import BackgroundLoop
from rollbook.server.play.matches import Matches
from rollbook.server.play.quotas import Quotas
from rollbook.server.replica.lost_logs import LostTails
from rollbook.server.replica.replicas import Replicas
from rollbook.server.timers.store_clock import StoreClock
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import AppendUnconfirmed, IndexRow, Log, StoreUnavailable
from rollbook.v1.match_pb2 import MatchSummary

BEAT_SECONDS: Final = 1.0
LEASE_MS: Final = 3_000
"""How long a process sweeps that is not heard of: several beats, and together with one less than the longest gap."""

RECOUNT_MS: Final = 300_000
"""How often the places of all matches are compared with the lobby."""

COUNT_MS: Final = 5_000
"""How often matches are counted."""

FREE_MS: Final = 3_000
"""How often the places of those that have ended are freed."""

LATE_MS: Final = 5_000
"""By how much later than it says the end of a match may come into the lobby."""

MOST_DUE: Final = 5_000
"""Matches that are looked at in one sweep."""

AT_ONCE: Final = 100
MOST_ODD: Final = 1_000

SHORT_GAP_MS: Final = 2_000
"""Between two sweeps; what is longer is noticed by players."""

SPARED_MS: Final = 5_000
"""After such a gap no clock runs out for so long."""

EXPIRY_SPARED_MS: Final = MOST_SPARED_MS
"""After such a gap no match expires for so long, which is the shortest time that any match may be left alone."""

LONGEST_SWEEP_MS: Final = 5_000
"""What has not had its turn by then, as when a process takes over, has it in the next sweep."""

AGAIN_MS: Final = 5_000
"""After so long a match is looked at again that could not be."""

PARDONED_AGAIN: Final = 3
"""How often a match is pardoned anew when somebody else was faster."""

_NOTHING_TO_SWEEP: Final = (MatchUnknown, TailLost, Unreadable, ArchiveUnavailable)
"""Of a match whose log is lost or unreadable; whoever noticed has said so, and the other matches go on."""

_logger = structlog.get_logger()


@dataclass(slots=True)
class _Due:
    """A match in which something may be due, as the lobby lists it."""

    listed: ListedMatch
    since_ms: int
    """When it was to be looked at."""

    @property
    def match_id(self) -> str:
        """Which match it is."""
        return self.listed.summary.match_id


class Sweeper:
    """Looks at all matches that something may be due in, once a second."""

    def __init__(  # noqa: PLR0913 - what is swept, by which clock, and who counts it
        self,
        *,
        log: Log,
        lobby: StoredLobby,
        index: IndexKeeper,
        quotas: Quotas,
        matches: Matches,
        replicas: Replicas,
        lost: LostTails,
        metrics: Metrics,
        clock: StoreClock,
    ) -> None:
        """Sweep the matches of this log."""
        self._log = log
        self._lobby = lobby
        self._index = index
        self._quotas = quotas
        self._recounted_ms = 0
        self._counted_ms = 0
        self._freed_ms = 0
        """Until when it is known which matches have ended."""
        self._matches = matches
        self._replicas = replicas
        self._lost = lost
        self._metrics = metrics
        self._clock = clock
        self._swept_ms = 0
        """When this process last swept, to the end: nobody else need have done so since."""
        self._back_ms = 0
        """When a gap in the sweeps last ended: a client that could not reach the service may do so again."""
        self._heard_ms = 0
        """Until when this sweep has gone on without a gap: no beat has a later time."""
        self._name = secrets.token_hex(8)
        self.loop = BackgroundLoop("sweeper", self.beat, metrics.loop_failed, BEAT_SECONDS)
        self._odd: LRUCache[str, bool] = LRUCache(MOST_ODD)
        """Matches that failed for a reason that nobody foresaw, so that it is said once."""

    async def beat(self) -> None:
        """Sweep, unless another process does."""
        sweeps = await self._log.lease(self._name, LEASE_MS)
        self._metrics.sweeping(sweeps=sweeps)
        if sweeps:
            began = time.perf_counter()
            await self.sweep()
            self._metrics.swept_all(self._swept_ms, time.perf_counter() - began)
            await self._recount()
        else:
            await self._clock.compare()
            # The lobby is counted where it is swept.
            self._counted_ms = 0
            self._metrics.listed({})

    async def _recount(self) -> None:
        """Free the places of matches that have ended, and now and then let the book be what the lobby says."""
        now_ms = self._clock()
        if now_ms - self._freed_ms < FREE_MS:
            return
        ended = await self._log.due(ARCHIVE, now_ms, MOST_DUE, max(0, self._freed_ms - LATE_MS))
        await self._quotas.free([match_id for match_id, _ in ended])
        self._freed_ms = ended[-1][1] + LATE_MS if len(ended) == MOST_DUE else now_ms
        if now_ms - self._recounted_ms >= RECOUNT_MS:
            self._recounted_ms = now_ms
            await self._quotas.recount()

    async def sweep(self) -> None:
        """Pardon what was missed, beat, and do what is due."""
        await self._clock.compare()
        away_since_ms = await self._log.last_beat()
        # Read once: a stall before this line is part of the gap, and a stall behind it is part of the next gap.
        now_ms = self._heard_ms = self._clock()
        if not await self._index.settle():
            await self._index.mend_a_slice()
        await self._count()
        if away_since_ms is not None and now_ms - away_since_ms > LONGEST_GAP_MS:
            await self._pardon_all(Pardon(Origin(now_ms), away_since_ms))
        await self._log.beat(self._heard_ms)
        self._notice_gap(self._swept_ms)
        due = await self._log.due(SWEEP, now_ms, MOST_DUE)
        for start in range(0, len(due), AT_ONCE):
            for one in await self._listed(due[start : start + AT_ONCE]):
                began_ms = self._clock()
                if began_ms - now_ms > LONGEST_SWEEP_MS:
                    self._swept_ms = began_ms
                    return
                await self._attempt(one, self._look_at(one))
                self._notice_gap(began_ms)
                await self._go_on(beats=True)
        self._swept_ms = self._clock()

    async def _count(self) -> None:
        """Say now and then how many matches there are that are not over."""
        if (now_ms := self._clock()) - self._counted_ms < COUNT_MS:
            return
        self._counted_ms = now_ms
        found = await self._lobby.counts(("", *current()))
        for state in NOT_OVER:
            # Games that this process does not have, as of newer replicas.
            of_all = found.pop((state, ""))
            found[state, OTHER_GAMES] = max(0, of_all - sum(found[state, game] for game in current()))
        self._metrics.listed(found)

    async def _pardon_all(self, pardon: Pardon) -> None:
        """Pardon the gap in every match that has a clock, by the lobby itself: nobody's time depends on an index."""
        async for part in self._lobby.parts():
            await self._go_on(beats=False)
            for listed in part:
                if has_clock(listed.summary):
                    self._compare_to_lobby(listed.summary)
                    one = _Due(listed, pardon.origin.now_ms)
                    await self._attempt(one, self._pardon(one.match_id, pardon))
                await self._go_on(beats=False)

    async def _listed(self, due: Sequence[tuple[str, int]]) -> list[_Due]:
        """These matches as the lobby lists them; what it does not list, or is over, is taken off the agenda."""
        entries = await self._lobby.entries([match_id for match_id, _ in due])
        found = [_Due(entries[match_id], since_ms) for match_id, since_ms in due if match_id in entries]
        await self._lobby.strike({match_id: IndexRow(0, (), SWEEP) for match_id, _ in due if match_id not in entries})
        for one in found:
            self._compare_to_lobby(one.listed.summary)
        return found

    def _compare_to_lobby(self, summary: MatchSummary) -> None:
        """The lobby was written along with this event: a log without it is lost, also for who has told nobody."""
        written = summary.position
        if written.sequence:
            self._lost.record_sent(summary.match_id, Position(written.sequence, written.link), sealed=False)

    def _notice_gap(self, well_ms: int) -> None:
        """Spare everybody if the store was last heard of too long ago."""
        now_ms = self._clock()
        if now_ms - well_ms > SHORT_GAP_MS:
            self._back_ms = now_ms

    async def _go_on(self, *, beats: bool) -> None:
        """Within a sweep that takes long, keep others from taking over, or from taking it for downtime."""
        now_ms = self._clock()
        if now_ms - self._heard_ms < BEAT_SECONDS * SECOND_MS:
            return
        await self._log.lease(self._name, LEASE_MS)
        if self._has_stalled(now_ms):
            return
        self._heard_ms = now_ms
        if beats:
            await self._log.beat(now_ms)

    def _has_stalled(self, now_ms: int) -> bool:
        """Whether this sweep has a gap. No beat is written after it, so the next sweep finds and pardons it."""
        return now_ms - self._heard_ms > LONGEST_GAP_MS

    async def _attempt(self, one: _Due, work: Awaitable[None]) -> None:
        """Let no match that fails cost the others anything, unless it is the store that fails."""
        try:
            await work
        except _NOTHING_TO_SWEEP:
            # Before the store's failures: that an archive is away is one of them, and concerns this match alone.
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
        await self._log.put_off(SWEEP, one.match_id, one.since_ms, due_ms)

    async def _pardon(self, match_id: str, pardon: Pardon) -> None:
        """Pardon what lies in the gap; where others are faster all along, other waits have begun."""
        for _ in range(PARDONED_AGAIN):
            if await self._do(match_id, pardon):
                return

    async def _look_at(self, one: _Due) -> None:
        """Do what is due, and say when something may be due again."""
        ledger = await self._replicas.ledger(one.match_id)
        due, now_ms, turn_ms = next_due(ledger), self._clock(), ledger.clock.turn_ms
        if self._has_stalled(now_ms):
            return
        # Another seat's turn may begin at any moment, and be over sooner than the one that runs.
        look_ms = now_ms + (turn_ms or one.listed.row.longest_ms)
        if due is not None:
            due_ms, what = due
            due_ms = max(due_ms, self._back_ms + (EXPIRY_SPARED_MS if what is Expire else SPARED_MS))
            if now_ms >= due_ms:
                # When something is due next the next look finds out.
                await self._do(one.match_id, what(Origin(now_ms)))
                return
            look_ms = min(look_ms, due_ms)
        await self._put_off(one, look_ms)

    async def _do(self, match_id: str, command: Command) -> bool:
        """Carry it out, unless it is not due any more; false if somebody else was faster."""
        try:
            answer = await self._matches.carry_out(match_id, command)
        except NotDue:
            return True
        except Declined as declined:
            return declined.reason is not Why.POSITION_BEHIND
        first = answer.first
        self._metrics.swept(first.event)
        _logger.info("swept", match=match_id, sequence=first.sequence, what=type(first.event).__name__)
        return True
