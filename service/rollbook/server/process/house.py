"""The house: bots of the service itself, in a process that is a client like any other.

It is the command `rollbook house`. Beside where the service is it is told how fast to play a demo, and of each bot the
name, a token, and the secret from which its entropy follows. Behind that comes a frame for each seat that a bot was
asked to, with the same, the match and the strategy. Beside what is to be logged it says which of these seats are over.
If it ends by itself it is started again, and told of its seats anew.

The secrets follow from the service key, so that a house that was killed carries on with the matches it finds. Without a
demo it is started when the first bot is asked to a table.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rollbook import processes
from rollbook.identity.tokens import HOUSE, Issuer, Role
from rollbook.server.access.house_bots import NAMES, HouseBot, secret_of
from rollbook.server.configuration.settings import Listen, Tls
from rollbook.server.process.child_process import CompanionProcess

COMMAND: Final = "house"

TOKEN_SECONDS: Final = 7 * 24 * 3_600
"""A house whose tokens have expired ends, and is started again with others."""


def is_installed() -> bool:
    """Whether some installed package has house bots."""
    return processes.command(COMMAND) is not None


class HouseProcess(CompanionProcess):
    """The process of the house: started, kept going, and ended with the service."""

    def __init__(
        self, issuer: Issuer, service_key: bytes, tls: Tls | None, pause_seconds: float | None, command: str = COMMAND
    ) -> None:
        """Be ready to start the command of this name; CompanionMissing if there is none.

        The service trusts the issuer; before every choice the bots of a demo make this pause, without which there is
        no demo.
        """
        super().__init__("the house", command, "--demo", tls)
        self._issuer = issuer
        self._service_key = service_key
        self._pause_seconds = pause_seconds
        self._address: Listen | None = None
        self._seats: dict[tuple[str, str], HouseBot] = {}
        """Where bots were asked to, by match and subject, and have not finished."""

    def start(self, address: Listen) -> None:
        """Play from now on at the service that listens here, as soon as there is something to play."""
        self._address = address
        if self._pause_seconds is not None or self._seats:
            super().start(address)

    def sit(self, match_id: str, bot: HouseBot) -> None:
        """Have a bot play where it sits; twice is the same as once."""
        if (match_id, bot.sub) in self._seats:
            return
        self._seats[match_id, bot.sub] = bot
        if self._task is None and self._address is not None:
            self.start(self._address)
        else:
            self._send(self._seat(match_id, bot))

    def _instructions(self) -> Mapping[str, Any]:
        bots = [self._bot(f"{HOUSE}{name.lower()}", f"{name} (bot)") for name in NAMES]
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
            "bot": self._bot(bot.sub, bot.shown),
        }

    def _bot(self, sub: str, shown: str) -> Mapping[str, str]:
        token = self._issuer.mint(
            sub, Role.PLAYER, name=shown, issued_at=int(time.time()), lifetime_seconds=TOKEN_SECONDS
        )
        return {"name": shown, "token": token, "secret": secret_of(self._service_key, sub).hex()}
