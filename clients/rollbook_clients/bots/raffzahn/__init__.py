"""How bots play Raffzahn."""

from __future__ import annotations

from typing import Final

from rollbook_clients.bots.playbook import Playbook
from rollbook_clients.bots.raffzahn.expected_teeth import ExpectedTeeth
from rollbook_clients.bots.raffzahn.possible import possible_state

PLAYBOOK: Final = Playbook(possible_state, ExpectedTeeth)
