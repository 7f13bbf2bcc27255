"""The terminal's lobby learns from the service's stream of the user's own matches, also of private ones."""

from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import patch

from rollbook_clients.terminal.app import Terminal
from rollbook_clients.terminal.profile import Profile
from rollbook_clients.terminal.screens import lobby
from rollbook_clients.terminal.texts import words_in
from tests.clients.sdk.tables import PATIENCE_SECONDS, service, tables
from tests.clients.sdk.test_rematches import finished
from tests.clients.terminal.pictures import screen_lines
from tests.clients.terminal.test_layout import until

NEVER = 10_000.0


def test_a_private_rematch_appears_in_the_lobby_and_goes_without_being_looked_for(tmp_path: Path) -> None:
    """The terminal lists the user's matches when the stream changes; it does not wait for its next look."""

    async def scenario(address: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), tables(address, "Carla", "Greta") as (carla, greta):
            before, _ = await finished(carla, greta, is_private=True)
            words = words_in("en")
            app = Terminal(lobby.LobbyScreen(greta, words, Profile(tmp_path / "state", "Greta")), words)
            async with app.run_test(size=(80, 24)) as pilot:
                await until(pilot, lambda: "2nd of 2" in screen_lines(app))
                rematch = await before.rematch()
                await rematch.join()
                await until(pilot, lambda: "Play again?" in screen_lines(app))
                assert "Public matches" not in screen_lines(app), "private ones are not among the public ones"
                await rematch.leave()
                await carla.match(rematch.id).abort()
                await until(pilot, lambda: "Play again?" not in screen_lines(app))

    with service(tmp_path / "data") as served, patch.object(lobby, "LOOK_SECONDS", NEVER):
        asyncio.run(scenario(served.address))
