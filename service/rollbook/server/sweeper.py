"""What nobody sends: turns whose time is out, seats that do not get ready, and time in which the service was away.

One process sweeps, by a lease in the store that it has to ask for again and again; when it is gone, or stalls, another
one takes over, well before anybody's time would count as downtime. Should two sweep at once, an expired turn is ended
once all the same, because its append names the position that it ends and the time before which the store must not take
it. A beat in the store says when a service was last alive: whoever beats after a gap finds out, alone, and pardons it
in every match that has a clock.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

import structlog

from rollbook.match import decide
from rollbook.match.codec.envelope import Logged
from rollbook.match.codec.moves import Unreadable
from rollbook.match.decide import Command, Decision, Declined, NotDue
from rollbook.match.ledger import Ledger
from rollbook.server.play.matches import Decide, LogLost, MatchUnknown
from rollbook.server.service import Service
from rollbook.storage.port import OutcomeUnknown, StoreUnavailable
from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING, MatchSummary

BEAT_SECONDS: Final = 1.0
LEASE_MS: Final = 3_000
"""How long a process sweeps that is not heard of: several beats, and together with one less than the longest gap."""

LONGEST_GAP_MS: Final = 5_000
"""Between two beats; what is longer is nobody's time."""

_NOTHING_TO_SWEEP: Final = (MatchUnknown, LogLost, Unreadable)
"""Of a match whose log is lost or unreadable; whoever noticed has said so, and the other matches go on."""

_log = structlog.get_logger()


class Sweeper:
    """Looks at all matches that something may be due in, once a second."""

    def __init__(self, service: Service) -> None:
        """Sweep the matches of this service."""
        self._service = service
        self._name = secrets.token_hex(8)
        self._sweeping: asyncio.Task[None] | None = None
        self._odd: set[str] = set()
        """Matches that could not be swept for a reason that nobody foresaw, so that it is said once."""

    def start(self) -> None:
        """Sweep from now on."""
        self._sweeping = asyncio.create_task(self._forever())

    async def close(self) -> None:
        """Sweep no more."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)

    async def _forever(self) -> None:
        while True:
            try:
                await self.beat()
            except (StoreUnavailable, OutcomeUnknown) as failure:
                _log.warning("cannot sweep", reason=str(failure))
            await asyncio.sleep(BEAT_SECONDS)

    async def beat(self) -> None:
        """Sweep, unless another process does."""
        if await self._service.log.lease(self._name, LEASE_MS):
            await self.sweep()
        else:
            # The lobby is counted where it is swept.
            self._service.metrics.listed(())

    async def sweep(self) -> None:
        """Beat, pardon what was missed, and do what is due."""
        now_ms = self._service.clock_ms()
        # Beats are told by the store's clock, which no replica can have wrong.
        beat_ms = await self._service.log.now_ms()
        before_ms = await self._service.log.beat(beat_ms)
        away_ms = 0 if before_ms is None else beat_ms - before_ms
        lobby = await self._service.lobby.listed()
        self._service.metrics.listed(listed.summary for listed in lobby)
        for listed in lobby:
            try:
                await self._look_at(listed.summary, now_ms, away_ms)
            except (StoreUnavailable, OutcomeUnknown):
                raise
            except Exception:  # noqa: BLE001 - whatever is wrong with one match, the time of all others goes on
                if listed.summary.match_id not in self._odd:
                    self._odd.add(listed.summary.match_id)
                    _log.exception("cannot sweep a match", match=listed.summary.match_id)

    async def _look_at(self, summary: MatchSummary, now_ms: int, away_ms: int) -> None:
        if away_ms > LONGEST_GAP_MS and _has_a_clock(summary):
            await self._do(summary.match_id, lambda ledger: _pardon(ledger, Command(now_ms), away_ms))
        if _has_a_clock(summary):
            await self._end_turn(summary.match_id, now_ms)
        elif summary.state == MATCH_STATE_GETTING_READY and summary.ready_seconds:
            await self._do(summary.match_id, lambda ledger: decide.abort_unready(ledger, Command(now_ms)))

    async def _end_turn(self, match_id: str, now_ms: int) -> None:
        ledger = await self._ledger(match_id)
        runs_out_ms = None if ledger is None else ledger.clock.runs_out_ms()
        if runs_out_ms is not None and now_ms >= runs_out_ms:
            command = Command(now_ms)
            await self._do(match_id, lambda ledger: decide.time_out(ledger, command), not_before_ms=runs_out_ms)

    async def _ledger(self, match_id: str) -> Ledger | None:
        try:
            return await self._service.matches.ledger(match_id)
        except _NOTHING_TO_SWEEP:
            return None

    async def _do(self, match_id: str, decision: Decide, not_before_ms: int | None = None) -> None:
        """Carry it out, unless it is not due any more, or somebody else was faster."""
        command = Command(self._service.clock_ms())
        try:
            answer = await self._service.matches.command(
                match_id, command, decision, _nobody_asked, not_before_ms=not_before_ms
            )
        except (Declined, NotDue, *_NOTHING_TO_SWEEP):
            return
        first = answer.made[0]
        self._service.metrics.swept(first.event)
        _log.info("swept", match=match_id, sequence=first.sequence, what=type(first.event).__name__)


def _has_a_clock(summary: MatchSummary) -> bool:
    return summary.state == MATCH_STATE_RUNNING and summary.turn_seconds > 0


def _pardon(ledger: Ledger, command: Command, away_ms: int) -> Decision:
    """So much of the wait as lies in the gap."""
    waited_ms = command.now_ms - ledger.clock.since_ms if ledger.clock.waiting else 0
    return decide.resume(ledger, command, min(away_ms, max(0, waited_ms)))


def _nobody_asked(_logged: Logged) -> bool:
    return True
