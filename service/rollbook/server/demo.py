"""The demo: of each game one public match that house bots keep going, for newcomers to look at.

The bots are players like any other, and what they do goes through the same commands. What they bring to the dice
follows from the service key, so that a service that was killed carries on with the matches it finds. Their matches have
a clock that they never need: neither a stranger who was faster at taking a seat, nor an operator who does not run the
demo any more, leaves a match behind that never ends.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from contextlib import suppress
from typing import Any, Final

import structlog

from rollbook.identity.tokens import OWN_ISSUER, Role, Subject
from rollbook.match.codec.messages import write_choice
from rollbook.match.codec.views import write_options
from rollbook.match.decide import Declined
from rollbook.match.dice import entropy_commitment
from rollbook.match.ledger import Ledger
from rollbook.rules.catalogue import current, find
from rollbook.server.play import commands, opening
from rollbook.server.play.matches import RequestReused
from rollbook.server.rpc.errors import Refusal
from rollbook.server.service import Service, Sight
from rollbook.storage.port import OutcomeUnknown, StoreUnavailable
from rollbook.v1 import match_pb2 as proto

NAMES: Final = ("Anna", "Tom", "Willi", "Heike", "Rita", "Peter")
"""As many as any game seats, in case strangers leave."""

SEATS: Final = 3
TURN_SECONDS: Final = 60
READY_SECONDS: Final = 60

PAUSES_BETWEEN_MATCHES: Final = 3
RETRY_SECONDS: Final = 5.0
"""After something has failed that is not the bots' fault."""

_NEVER: Final = 253_402_300_799

_log = structlog.get_logger()


class Demo:
    """House bots at their tables, a task for each game."""

    def __init__(self, service: Service, pause_seconds: float) -> None:
        """Play in this service, with so long a pause before every choice."""
        self._service = service
        self._pause_seconds = pause_seconds
        self._bots = [_bot(name) for name in NAMES]
        self._given_up: set[str] = set()
        self._ending = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Play from now on."""
        self._tasks = [asyncio.create_task(self._keep_going(game)) for game in current()]

    async def drain(self) -> None:
        """Play no more; what is under way is finished."""
        self._ending.set()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Break off what the drain could not wait for."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _keep_going(self, game: str) -> None:
        while not self._ending.is_set():
            match_id = ""
            try:
                match_id = await self._found(game) or await self._open(game)
                await self._play(match_id)
                await self._pause(PAUSES_BETWEEN_MATCHES * self._pause_seconds)
            except (StoreUnavailable, OutcomeUnknown, Refusal) as failure:
                _log.warning("the demo waits", game=game, reason=str(failure))
                await self._pause(RETRY_SECONDS)
            except Exception as failure:  # noqa: BLE001 - one broken match must not end the demo
                _log.error("the demo gives up a match", game=game, match=match_id, exc_info=failure)
                self._given_up.add(match_id)
                await self._pause(RETRY_SECONDS)

    async def _pause(self, seconds: float) -> None:
        """Wait, but not when the service ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ending.wait()

    async def _found(self, game: str) -> str | None:
        """The match that was opened first of those that the bots have not finished."""
        host = self._bots[0]
        for listed in reversed(await self._service.lobby.listed()):
            match_id = listed.summary.match_id
            is_ours = listed.opener == self._service.player(host, match_id)
            if is_ours and listed.summary.game == game and match_id not in self._given_up:
                return match_id
        return None

    async def _open(self, game: str) -> str:
        request = proto.OpenMatchRequest(
            request_id=f"house-{secrets.token_hex(12)}",
            seats=SEATS,
            turn_seconds=TURN_SECONDS,
            ready_seconds=READY_SECONDS,
        )
        request.options.CopyFrom(write_options(find(game), {}))
        opened = await opening.open_match(self._service, self._bots[0], request)
        _log.info("the demo opens a match", game=game, match=opened.match_id)
        return opened.match_id

    async def _play(self, match_id: str) -> None:
        """Do what is next, until the match is over or the service ends."""
        while not self._ending.is_set():
            sight = await self._sight(match_id)
            if sight.ledger.match.sealed is not None:
                return
            try:
                if not await self._act(sight):
                    # A stranger has one of the seats, and is awaited.
                    await self._pause(self._pause_seconds)
            except (Declined, RequestReused):
                # The match has gone on since it was looked at.
                await self._pause(self._pause_seconds)

    async def _sight(self, match_id: str) -> Sight:
        return await self._service.now(self._bots[0], match_id)

    async def _act(self, sight: Sight) -> bool:
        """Sit down, get ready or choose; false if none of the bots is awaited."""
        ledger = sight.ledger
        if not ledger.match.closed:
            return await self._sit(sight)
        if not ledger.match.started:
            return await self._get_ready(sight)
        if self._awaited(ledger) is None:
            return False
        await self._pause(self._pause_seconds)
        return self._ending.is_set() or await self._choose(await self._sight(ledger.opened.match_id))

    async def _sit(self, sight: Sight) -> bool:
        match_id = sight.ledger.opened.match_id
        bot = next((bot for bot in self._bots if self._seat(sight.ledger, bot) is None), None)
        if bot is None:
            return False
        request = proto.TakeSeatRequest(
            request_id=f"house-{match_id}-sit",
            match_id=match_id,
            entropy_commitment=entropy_commitment(self._entropy(match_id, bot)),
        )
        await commands.take_seat(self._service, await self._service.now(bot, match_id), request, bot.name, house=True)
        return True

    async def _get_ready(self, sight: Sight) -> bool:
        ledger, match_id = sight.ledger, sight.ledger.opened.match_id
        for bot in self._bots:
            seat = self._seat(ledger, bot)
            if seat is not None and ledger.match.entropy[seat] is None and ledger.closing is not None:
                request = proto.ReadyRequest(
                    request_id=f"house-{match_id}-ready",
                    match_id=match_id,
                    closing_link=ledger.closing.link,
                    entropy=self._entropy(match_id, bot),
                )
                await commands.ready(self._service, await self._service.now(bot, match_id), request)
                return True
        return False

    async def _choose(self, sight: Sight) -> bool:
        ledger, match_id = sight.ledger, sight.ledger.opened.match_id
        bot = self._awaited(ledger)
        if bot is None:
            return False
        head = ledger.head
        request = proto.ChooseRequest(request_id=f"house-{match_id}-{head.sequence}", match_id=match_id)
        choice: Any = ledger.game.legal(ledger.match.state).sample(secrets.randbelow)
        request.choice.CopyFrom(write_choice(ledger.game, choice))
        await commands.choose(self._service, await self._service.known(bot, match_id), request, head)
        return True

    def _awaited(self, ledger: Ledger) -> Subject | None:
        """The bot that is to choose."""
        seat = ledger.awaited_seat
        if seat is None or ledger.match.played_by_caretaker(seat):
            return None
        return next((bot for bot in self._bots if self._seat(ledger, bot) == seat), None)

    def _seat(self, ledger: Ledger, bot: Subject) -> int | None:
        return ledger.seat_of(self._service.player(bot, ledger.opened.match_id))

    def _entropy(self, match_id: str, bot: Subject) -> bytes:
        """What a bot brings to the dice of a match: kept nowhere, and the same after a restart."""
        return hmac.digest(self._service.service_key, f"rollbook/1/house{match_id}{bot.key}".encode(), "sha256")


def _bot(name: str) -> Subject:
    """A player of the house; guests and most tokens are called otherwise."""
    return Subject(OWN_ISSUER, f"house-{name.lower()}", Role.PLAYER, (), f"{name} (bot)", _NEVER)
