"""What a subject or an address holds: the matches that it opened, and the seats that a ban takes away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rollbook.identity import references
from rollbook.identity.tokens import Subject
from rollbook.match.commands import Abort, Command, Declined, LeaveSeat, Origin, Resign, Why
from rollbook.server.access.bans import Bar
from rollbook.server.access.players import Players
from rollbook.server.failures import BROKEN, MatchUnknown
from rollbook.server.lobby.index_rows import seats_of
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.play.matches import Matches
from rollbook.server.play.quotas import Quotas
from rollbook.v1.match_pb2 import MATCH_STATE_OPEN, MATCH_STATE_RUNNING

MOST_SEATS: Final = 1_000
"""More matches with a seat of one subject are not examined; limits are far below."""

_TRIES: Final = 3
"""How often a command is tried when other appends come first."""


@dataclass(slots=True)
class TakenAway:
    """What a ban took from its target."""

    withdrawn: int = 0
    resigned: int = 0


class SubjectHoldings:
    """Finds and ends what subjects and addresses hold."""

    def __init__(
        self, lobby: StoredLobby, matches: Matches, players: Players, quotas: Quotas, clock_ms: Callable[[], int]
    ) -> None:
        self._lobby = lobby
        self._matches = matches
        self._players = players
        self._quotas = quotas
        self._clock_ms = clock_ms

    async def opened_by(self, who: str) -> list[ListedMatch]:
        """The matches, not over, that this subject (by its key) or address has opened."""
        return await self._quotas.opened_by(self._players.pseudonym(who))

    async def take_away(self, operator: Subject, ban: Bar) -> TakenAway:
        """Withdraw the open tables of the banned subject, leave its open seats, and resign the running ones."""
        taken, holder = TakenAway(), await self._holder(ban)
        if not holder:
            return taken
        request = f"ban {ban.target.ban_id} {ban.since_ms}"
        seats = {
            listed.summary.match_id: (listed, listed.players[listed.holders.index(holder)])
            for _, listed in await self._lobby.page([seats_of(holder)], None, MOST_SEATS)
            if holder in listed.holders
        }
        for listed in await self._quotas.opened_by(holder):
            match_id = listed.summary.match_id
            # The book of a subject that asked for a rematch has it, also if another player opened it.
            is_own = not listed.summary.rematch_of or listed.opener == seats.get(match_id, (listed, b""))[1]
            if listed.summary.state == MATCH_STATE_OPEN and is_own:
                origin = self._origin(operator, listed.opener, request)
                taken.withdrawn += await self._do(match_id, Abort(origin, by_opener=True))
                seats.pop(match_id, None)
        for match_id, (listed, player) in seats.items():
            origin = self._origin(operator, player, request)
            if listed.summary.state == MATCH_STATE_OPEN:
                taken.resigned += await self._do(match_id, LeaveSeat(origin))
            elif listed.summary.state == MATCH_STATE_RUNNING:
                taken.resigned += await self._do(match_id, Resign(origin))
        return taken

    async def _holder(self, ban: Bar) -> str:
        """The pseudonym of a banned subject, or of the player of a banned seat; empty if there is none, or no seat."""
        target = ban.target
        if target.subject:
            return self._players.pseudonym(target.subject)
        listed = await self._lobby.entry(target.match_id) if target.match_id else None
        if listed is None or not listed.holders:
            return ""
        player = bytes.fromhex(target.player)
        return listed.holders[listed.players.index(player)] if player in listed.players else ""

    def _origin(self, operator: Subject, player: bytes, request: str) -> Origin:
        return Origin(self._clock_ms(), player, references.request_hash(operator.key, request))

    async def _do(self, match_id: str, command: Command) -> bool:
        """Carry out a command; returns False if the match no longer allows it, or cannot be read."""
        for _ in range(_TRIES):
            try:
                await self._matches.carry_out(match_id, command)
            except Declined as declined:
                if declined.reason is not Why.POSITION_BEHIND:
                    return False
            except (*BROKEN, MatchUnknown):
                return False
            else:
                return True
        return False
