"""How bots play Würfelzoo."""

from __future__ import annotations

from typing import Final

from rollbook_clients.bots.playbook import Playbook
from rollbook_clients.bots.wuerfelzoo.lightest_zoo import LightestZoo
from rollbook_clients.bots.wuerfelzoo.possible import possible_state

PLAYBOOK: Final = Playbook(possible_state, LightestZoo)
