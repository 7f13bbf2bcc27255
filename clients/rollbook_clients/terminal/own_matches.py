"""The matches in which the user has a seat: open and running ones with their clocks, and the latest finished ones."""

from dataclasses import dataclass, field
from typing import Final

from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING, MatchSummary
from rollbook.v1.table_pb2 import PERSPECTIVE_KIND_SEAT
from rollbook_clients.sdk import RollbookError, Table
from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.terminal.clocks import TickingClocks

MOST_OVER: Final = 12
"""Number of matches listed after they have ended."""
MOST_LISTED: Final = 200


@dataclass(slots=True)
class OwnMatch:
    """One match in which the user has a seat."""

    summary: MatchSummary
    seat: int | None = None
    """None until the service has replied with the user's perspective."""
    clocks: TickingClocks = field(default_factory=TickingClocks)
    asked_at: int = 0
    """The position of the match when its state was last requested; 0 if it must be requested again."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.summary.state in OVER

    @property
    def is_on_turn(self) -> bool:
        """Whether the user is to choose."""
        summary = self.summary
        is_running = summary.state == MATCH_STATE_RUNNING and summary.HasField("awaited_seat")
        return is_running and self.seat == summary.awaited_seat and not self.has_given_up

    @property
    def has_given_up(self) -> bool:
        """Whether a bot plays on for the user."""
        return self.seat is not None and self.seat < len(self.summary.seats) and self.summary.seats[self.seat].forfeited

    @property
    def is_ticking(self) -> bool:
        """Whether the user may lose time or the seat by staying away."""
        begun = self.summary.state in {MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING}
        return begun and self.summary.turn_seconds > 0 and not self.has_given_up

    @property
    def urgency(self) -> int:
        """Sort key: a lower number is listed first."""
        return 0 if self.is_on_turn or self.summary.asks_you else 2 if self.is_over else 1


class OwnMatches:
    """The user's matches, refreshed by polling."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.matches: dict[str, OwnMatch] = {}
        """Matches by id, the most urgent first."""

    async def look(self) -> None:
        """List the user's matches; requests the state only of matches that changed since the last call."""
        found: dict[str, OwnMatch] = {}
        listed = over = 0
        async for summary in self._table.matches(mine=True):
            listed += 1
            over += summary.state in OVER
            if summary.state not in OVER or over <= MOST_OVER:
                own = self.matches.get(summary.match_id) or OwnMatch(summary)
                own.summary = summary
                found[summary.match_id] = own
            if listed >= MOST_LISTED:
                break
        for own in found.values():
            await self._ask(own)
        self.matches = dict(sorted(found.items(), key=lambda item: item[1].urgency))

    def stop_clocks(self) -> None:
        """The connection is lost: hide all clocks and request them again at the next `look`."""
        for own in self.matches.values():
            own.clocks.take(None)
            own.asked_at = 0

    async def _ask(self, own: OwnMatch) -> None:
        """Request the user's seat and the clocks of a running match."""
        sequence = own.summary.position.sequence
        if own.asked_at == sequence or (own.is_over and own.seat is not None) or own.summary.is_lost:
            return
        try:
            state = await self._table.match(own.summary.match_id).state()
        except RollbookError:
            # The list is still correct without the state; the next `look` requests it again.
            return
        own.asked_at = sequence
        own.seat = state.perspective.seat if state.perspective.kind == PERSPECTIVE_KIND_SEAT else own.seat
        own.clocks.take(state.clocks, is_now=True)
