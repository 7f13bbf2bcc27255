"""The house: bots of the service itself, in a process that is a client like any other.

It is the command `rollbook house`. Beside where the service is it is told how fast to play, and of each bot the name, a
token, and the secret from which its entropy follows. The secrets follow from the service key, so that a house that was
killed carries on with the matches it finds.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Mapping
from typing import Any, Final

from rollbook.identity.tokens import HOUSE, OWN_ISSUER, Issuer, Role
from rollbook.server.companion import CompanionProcess
from rollbook.server.settings import Tls

COMMAND: Final = "house"

NAMES: Final = ("Anna", "Tom", "Willi", "Heike", "Rita", "Peter")
"""As many as any game seats."""

TOKEN_SECONDS: Final = 7 * 24 * 3_600
"""A house whose tokens have expired ends, and is started again with others."""


class HouseProcess(CompanionProcess):
    """The process of the house: started, kept going, and ended with the service."""

    def __init__(
        self, issuer: Issuer, service_key: bytes, tls: Tls | None, pause_seconds: float, command: str = COMMAND
    ) -> None:
        """Be ready to start the command of this name; CompanionMissing if there is none.

        The service trusts the issuer; before every choice the bots make this pause.
        """
        super().__init__("the house", command, "--demo", tls)
        self._issuer = issuer
        self._service_key = service_key
        self._pause_seconds = pause_seconds

    def _instructions(self) -> Mapping[str, Any]:
        return {"pause_seconds": self._pause_seconds, "bots": [self._bot(name) for name in NAMES]}

    def _bot(self, name: str) -> Mapping[str, str]:
        sub, shown = f"{HOUSE}{name.lower()}", f"{name} (bot)"
        token = self._issuer.mint(
            sub, Role.PLAYER, name=shown, issued_at=int(time.time()), lifetime_seconds=TOKEN_SECONDS
        )
        secret = hmac.digest(self._service_key, f"rollbook/1/house/{OWN_ISSUER}:{sub}".encode(), "sha256")
        return {"name": shown, "token": token, "secret": secret.hex()}
