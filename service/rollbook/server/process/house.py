"""The house: the service's own bots, in a separate process that uses the public API like any client.

The process is the command `rollbook house`. Its parameters are the pace of the demo and, for each demo bot, a name, a
token, and the secret from which the bot's entropy is derived. A frame follows for each seat to which a bot was invited,
with the same data, the match and the strategy. Besides log entries, the process reports which of these seats are over.
If it exits, it is restarted and receives all open seats again.

The secrets are derived from the service key, so a restarted house continues the matches that it finds. Without a demo
the process starts when the first bot is invited to a table.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rollbook import processes
from rollbook.identity.service_keys import ServiceKeys
from rollbook.identity.tokens import Issuer, Subject
from rollbook.server.access.house_bots import HouseBot, Invite, demo_bots, secret_of
from rollbook.server.configuration.settings import Listen, Settings, Tls
from rollbook.server.process.child_process import CompanionProcess

COMMAND: Final = "house"

TOKEN_SECONDS: Final = 7 * 24 * 3_600
"""A house whose tokens have expired exits, and is restarted with new tokens."""


def is_installed() -> bool:
    """Whether an installed package offers house bots."""
    return processes.command(COMMAND) is not None


def house_of(settings: Settings, keys: ServiceKeys, invite: Invite | None) -> tuple[HouseProcess | None, Invite | None]:
    """The house process, if this process runs one itself, and the function that reports seats of bots to a house.

    `invite` reports the seats to the supervisor, if that runs the house.
    """
    has_bots = bool(settings.limits.house_seats) and is_installed()
    if invite is not None:
        return None, invite if has_bots else None
    if settings.demo_seconds is None and not has_bots:
        return None, None
    house = HouseProcess(Issuer(keys.token.private), keys.service, settings.tls, settings.demo_seconds)
    return house, house.sit if has_bots else None


class HouseProcess(CompanionProcess):
    """Runs the process of the house as long as the service runs."""

    def __init__(
        self, issuer: Issuer, service_key: bytes, tls: Tls | None, pause_seconds: float | None, command: str = COMMAND
    ) -> None:
        """Prepare to start `command`; raises CompanionMissing if the command is not installed.

        `issuer` must be trusted by the service. The demo's bots wait `pause_seconds` before every choice; None: no
        demo.
        """
        super().__init__("the house", command, "--demo", tls)
        self._issuer = issuer
        self._service_key = service_key
        self._pause_seconds = pause_seconds
        self._address: Listen | None = None
        self._seats: dict[tuple[str, str], HouseBot] = {}
        """Seats to which bots were invited and that are not over, by match and subject."""

    def start(self, address: Listen) -> None:
        """Start the process as soon as there is a demo or a seat to play, calling the service at this address."""
        self._address = address
        if self._pause_seconds is not None or self._seats:
            super().start(address)

    def sit(self, match_id: str, bot: HouseBot) -> None:
        """Have the bot play in this match; a second call for the same seat has no effect."""
        if (match_id, bot.sub) in self._seats:
            return
        self._seats[match_id, bot.sub] = bot
        if self._task is None and self._address is not None:
            self.start(self._address)
        else:
            self._send(self._seat(match_id, bot))

    def _instructions(self) -> Mapping[str, Any]:
        bots = [self._bot(bot) for bot in demo_bots()]
        return {"pause_seconds": self._pause_seconds, "bots": bots}

    def _news(self) -> Iterable[Mapping[str, Any]]:
        return [self._seat(match_id, bot) for (match_id, _), bot in self._seats.items()]

    def _receive(self, said: Mapping[str, Any]) -> bool:
        if "over" not in said:
            return False
        match_id, sub = said["over"]
        self._seats.pop((match_id, sub), None)
        return True

    def _seat(self, match_id: str, bot: HouseBot) -> Mapping[str, Any]:
        return {
            "match": match_id,
            "sub": bot.sub,
            "strategy": bot.strategy,
            "bot": self._bot(bot.subject),
        }

    def _bot(self, bot: Subject) -> Mapping[str, str]:
        token = self._issuer.mint(
            bot.sub, bot.role, name=bot.name, issued_at=int(time.time()), lifetime_seconds=TOKEN_SECONDS
        )
        return {"name": bot.name, "token": token, "secret": secret_of(self._service_key, bot.sub).hex()}
