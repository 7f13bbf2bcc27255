"""What nobody sends: turns that are out of time, seats that do not get ready, abandoned matches, and pardoned downtime.

One process sweeps, by a lease in the store that it has to ask for again and again; when it is gone, or stalls, another
one takes over, well before anybody's time would count as downtime. Should two sweep at once, whatever is due is done
once all the same, because its append names the position that it ends and the time before which the store must not take
it. A beat in the store says when a service was last alive. After a gap nobody beats before the gap is pardoned in every
match that has a clock, so whoever takes over from one that fails or dies in between finds the gap as it was.

A match is looked at when the lobby says something new of it, and when something may be due in it: until then nothing of
it is asked for but its line in the lobby.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final

import structlog

from rollbook.match.chain import Position
from rollbook.match.clock import LONGEST_GAP_MS, SECOND_MS
from rollbook.match.codec.moves import Unreadable
from rollbook.match.commands import Command, Declined, Expire, NotDue, Origin, Pardon, Why
from rollbook.match.decide import next_due
from rollbook.server.failures import MatchUnknown, TailLost
from rollbook.server.lobby import ListedMatch, StoredLobby
from rollbook.server.loops import BackgroundLoop
from rollbook.server.metrics import Metrics
from rollbook.server.play.matches import Matches
from rollbook.server.quotas import Quotas
from rollbook.server.replica.lost_logs import LostTails
from rollbook.server.replica.replicas import Replicas
from rollbook.server.store_clock import StoreClock
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import AppendUnconfirmed, Log, StoreUnavailable
from rollbook.v1.match_pb2 import (
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    MatchSummary,
)

BEAT_SECONDS: Final = 1.0
LEASE_MS: Final = 3_000
"""How long a process sweeps that is not heard of: several beats, and together with one less than the longest gap."""

RECOUNT_MS: Final = 5_000
"""How often the places of all matches are compared with the lobby."""

SHORT_GAP_MS: Final = 2_000
"""Between two sweeps; what is longer is noticed by players."""

SPARED_MS: Final = 5_000
"""After such a gap no clock runs out for so long."""

EXPIRY_SPARED_MS: Final = 60_000
"""After such a gap no match expires for so long, which is the shortest time that any match may be left alone."""

LONGEST_SWEEP_MS: Final = 5_000
"""What has not had its turn by then, as when a process takes over, has it in the next sweep."""

AGAIN_MS: Final = 5_000
"""After so long a match is looked at again that could not be."""

PARDONED_AGAIN: Final = 3
"""How often a match is pardoned anew when somebody else was faster."""

_NEVER: Final = 1 << 62

_NOTHING_TO_SWEEP: Final = (MatchUnknown, TailLost, Unreadable, ArchiveUnavailable)
"""Of a match whose log is lost or unreadable; whoever noticed has said so, and the other matches go on."""

_logger = structlog.get_logger()


@dataclass(slots=True)
class _Watched:
    """A match of the lobby, and when something may be due in it."""

    listed: ListedMatch
    look_ms: int
    is_odd: bool = False
    """Whether it failed for a reason that nobody foresaw, so that it is said once."""

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
        self._quotas = quotas
        self._recounted_ms = 0
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
        """When it was last said, within a sweep, that it goes on."""
        self._name = secrets.token_hex(8)
        self.loop = BackgroundLoop("sweeper", self.beat, metrics.loop_failed, BEAT_SECONDS)
        self._watched: dict[str, _Watched] = {}
        """The matches of the lobby."""

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
            self._metrics.listed(())
            self._watched = {}

    async def _recount(self) -> None:
        """Now and then let the book of all matches be what the lobby says."""
        if (now_ms := self._clock()) - self._recounted_ms >= RECOUNT_MS:
            self._recounted_ms = now_ms
            await self._quotas.recount()

    async def sweep(self) -> None:
        """Pardon what was missed, beat, and do what is due."""
        now_ms = self._heard_ms = await self._clock.compare()
        away_since_ms = await self._log.last_beat()
        lobby = await self._lobby.listed()
        self._metrics.listed(listed.summary for listed in lobby)
        self._watch(lobby)
        if away_since_ms is not None and now_ms - away_since_ms > LONGEST_GAP_MS:
            for watched in self._watched.values():
                if _has_a_clock(watched.listed.summary):
                    await self._attempt(watched, self._pardon(watched.match_id, Pardon(Origin(now_ms), away_since_ms)))
                    await self._go_on(beats=False)
        await self._log.beat(self._clock())
        self._notice_gap(self._swept_ms)
        for watched in [watched for watched in self._watched.values() if watched.look_ms <= now_ms]:
            began_ms = self._clock()
            if began_ms - now_ms > LONGEST_SWEEP_MS:
                break
            await self._attempt(watched, self._look_at(watched))
            self._notice_gap(began_ms)
            await self._go_on(beats=True)
        self._swept_ms = self._clock()

    def _watch(self, lobby: list[ListedMatch]) -> None:
        """Look again at what the lobby says something new of, and at the rest when it is time for that."""
        before, self._watched = self._watched, {}
        for listed in lobby:
            match_id, written = listed.summary.match_id, listed.summary.position
            watched = before.get(match_id)
            if watched is None or watched.listed is not listed:
                # The lobby was written along with this event: a log without it is lost, also for who has told nobody.
                if written.sequence:
                    self._lost.tell(match_id, Position(written.sequence, written.link), sealed=False)
                watched = _Watched(listed, _nothing_before_ms(listed.summary), watched is not None and watched.is_odd)
            self._watched[match_id] = watched

    def _notice_gap(self, well_ms: int) -> None:
        """Spare everybody if the store was last heard of too long ago."""
        now_ms = self._clock()
        if now_ms - well_ms > SHORT_GAP_MS:
            self._back_ms = now_ms

    async def _go_on(self, *, beats: bool) -> None:
        """Within a sweep that takes long, keep others from taking over, or from taking it for downtime."""
        now_ms = self._clock()
        if now_ms - self._heard_ms >= BEAT_SECONDS * SECOND_MS:
            self._heard_ms = now_ms
            await self._log.lease(self._name, LEASE_MS)
            if beats:
                await self._log.beat(now_ms)

    async def _attempt(self, watched: _Watched, work: Awaitable[None]) -> None:
        """Let no match that fails cost the others anything, unless it is the store that fails."""
        try:
            await work
        except _NOTHING_TO_SWEEP:
            # Before the store's failures: that an archive is away is one of them, and concerns this match alone.
            watched.look_ms = self._clock() + AGAIN_MS
        except (StoreUnavailable, AppendUnconfirmed):
            raise
        except Exception:
            self._metrics.loop_failed("sweeper")
            watched.look_ms = self._clock() + AGAIN_MS
            if not watched.is_odd:
                watched.is_odd = True
                _logger.exception("cannot sweep a match", match=watched.match_id)

    async def _pardon(self, match_id: str, pardon: Pardon) -> None:
        """Pardon what lies in the gap; where others are faster all along, other waits have begun."""
        for _ in range(PARDONED_AGAIN):
            if await self._do(match_id, pardon):
                return

    async def _look_at(self, watched: _Watched) -> None:
        """Do what is due, and know when something may be due again."""
        ledger = await self._replicas.ledger(watched.match_id)
        due, now_ms, turn_ms = next_due(ledger), self._clock(), ledger.clock.turn_ms
        # Another seat's turn may begin at any moment, and be over sooner than the one that runs.
        watched.look_ms = now_ms + turn_ms if turn_ms else _NEVER
        if due is None:
            return
        due_ms, what = due
        due_ms = max(due_ms, self._back_ms + (EXPIRY_SPARED_MS if what is Expire else SPARED_MS))
        if now_ms >= due_ms:
            await self._do(watched.match_id, what(Origin(now_ms)))
        watched.look_ms = min(watched.look_ms, due_ms)

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


def _has_a_clock(summary: MatchSummary) -> bool:
    return summary.state == MATCH_STATE_RUNNING and summary.turn_seconds > 0


def _nothing_before_ms(summary: MatchSummary) -> int:
    """Until when nothing is due in a match, as far as the lobby knows: its last event is this one, or a later one."""
    since_ms, seconds = summary.changed_ms, 0
    if summary.state == MATCH_STATE_OPEN:
        seconds = summary.open_seconds
    elif summary.state == MATCH_STATE_GETTING_READY:
        since_ms, seconds = summary.opened_ms, summary.ready_seconds
    elif _has_a_clock(summary):
        return 0
    elif summary.state == MATCH_STATE_RUNNING:
        seconds = summary.idle_seconds
    return since_ms + seconds * SECOND_MS if seconds else _NEVER
