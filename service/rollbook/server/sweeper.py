"""What nobody sends: turns whose time is out, seats that do not get ready, and time in which the service was away.

One process sweeps, by a lease in the store that it has to ask for again and again; when it is gone, or stalls, another
one takes over, well before anybody's time would count as downtime. Should two sweep at once, an expired turn is ended
once all the same, because its append names the position that it ends and the time before which the store must not take
it. A beat in the store says when a service was last alive: whoever beats after a gap finds out, alone, and pardons it
in every match that has a clock.
"""

from __future__ import annotations

import secrets
from typing import Final

import structlog

from rollbook.match.chain import Position
from rollbook.match.codec.moves import Unreadable
from rollbook.match.commands import AbortUnready, Command, Declined, NotDue, Origin, Pardon, TimeOut
from rollbook.match.ledger import Ledger
from rollbook.server.failures import MatchUnknown, TailLost
from rollbook.server.lobby import StoredLobby
from rollbook.server.loops import BackgroundLoop
from rollbook.server.metrics import Metrics
from rollbook.server.play.matches import Matches
from rollbook.server.quotas import Quotas
from rollbook.server.replica.lost_logs import LostTails
from rollbook.server.replica.replicas import Replicas
from rollbook.server.store_clock import StoreClock
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import AppendUnconfirmed, Log, StoreUnavailable
from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING, MatchSummary

BEAT_SECONDS: Final = 1.0
LEASE_MS: Final = 3_000
"""How long a process sweeps that is not heard of: several beats, and together with one less than the longest gap."""

RECOUNT_MS: Final = 5_000
"""How often the places of all matches are compared with the lobby."""

SHORT_GAP_MS: Final = 2_000
"""Between two beats; what is longer is noticed by players."""

SPARED_MS: Final = 5_000
"""After such a gap no turn is ended for so long."""

LONGEST_GAP_MS: Final = 5_000
"""Between two beats; what is longer is nobody's time."""

_NOTHING_TO_SWEEP: Final = (MatchUnknown, TailLost, Unreadable, ArchiveUnavailable)
"""Of a match whose log is lost or unreadable; whoever noticed has said so, and the other matches go on."""

_logger = structlog.get_logger()


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
        """When this process last swept: nobody else need have done so since."""
        self._spared_until_ms = 0
        """No turn is ended before, because a client that could not reach the service may do so again."""
        self._name = secrets.token_hex(8)
        self.loop = BackgroundLoop("sweeper", self.beat, metrics.loop_failed, BEAT_SECONDS)
        self._odd: set[str] = set()
        """Matches that could not be swept for a reason that nobody foresaw, so that it is said once."""

    async def beat(self) -> None:
        """Sweep, unless another process does."""
        if await self._log.lease(self._name, LEASE_MS):
            await self.sweep()
            await self._recount()
        else:
            await self._clock.compare()
            # The lobby is counted where it is swept.
            self._metrics.listed(())

    async def _recount(self) -> None:
        """Now and then let the book of all matches be what the lobby says."""
        if (now_ms := self._clock()) - self._recounted_ms >= RECOUNT_MS:
            self._recounted_ms = now_ms
            await self._quotas.recount()

    async def sweep(self) -> None:
        """Beat, pardon what was missed, and do what is due."""
        now_ms = await self._clock.compare()
        before_ms = await self._log.beat(now_ms)
        away_ms = 0 if before_ms is None else now_ms - before_ms
        if now_ms - self._swept_ms > SHORT_GAP_MS:
            self._spared_until_ms = now_ms + SPARED_MS
        self._swept_ms = now_ms
        lobby = await self._lobby.listed()
        self._metrics.listed(listed.summary for listed in lobby)
        for listed in lobby:
            try:
                await self._look_at(listed.summary, now_ms, away_ms)
            except (StoreUnavailable, AppendUnconfirmed):
                raise
            except Exception:
                if listed.summary.match_id not in self._odd:
                    self._odd.add(listed.summary.match_id)
                    _logger.exception("cannot sweep a match", match=listed.summary.match_id)

    async def _look_at(self, summary: MatchSummary, now_ms: int, away_ms: int) -> None:
        match_id, origin = summary.match_id, Origin(now_ms)
        if (written := summary.position).sequence:
            # The lobby was written along with this event: a log without it is lost, also for who has told nobody.
            self._lost.tell(match_id, Position(written.sequence, written.link), sealed=False)
        if _has_a_clock(summary):
            if away_ms > LONGEST_GAP_MS:
                await self._do(match_id, Pardon(origin, away_ms))
            ledger = await self._ledger(match_id)
            runs_out_ms = None if ledger is None else ledger.clock.runs_out_ms()
            if runs_out_ms is not None and now_ms >= max(runs_out_ms, self._spared_until_ms):
                await self._do(match_id, TimeOut(origin))
        elif summary.state == MATCH_STATE_GETTING_READY and summary.ready_seconds:
            await self._do(match_id, AbortUnready(origin))

    async def _ledger(self, match_id: str) -> Ledger | None:
        try:
            return await self._replicas.ledger(match_id)
        except _NOTHING_TO_SWEEP:
            return None

    async def _do(self, match_id: str, command: Command) -> None:
        """Carry it out, unless it is not due any more, or somebody else was faster."""
        try:
            answer = await self._matches.carry_out(match_id, command)
        except (Declined, NotDue, *_NOTHING_TO_SWEEP):
            return
        first = answer.first
        self._metrics.swept(first.event)
        _logger.info("swept", match=match_id, sequence=first.sequence, what=type(first.event).__name__)


def _has_a_clock(summary: MatchSummary) -> bool:
    return summary.state == MATCH_STATE_RUNNING and summary.turn_seconds > 0
