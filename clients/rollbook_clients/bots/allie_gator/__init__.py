"""How bots play Allie Gator."""

from __future__ import annotations

from typing import Final

from rollbook_clients.bots.allie_gator.fewest_penalties import FewestPenalties
from rollbook_clients.bots.allie_gator.possible import possible_state
from rollbook_clients.bots.playbook import Playbook

PLAYBOOK: Final = Playbook(possible_state, FewestPenalties)
