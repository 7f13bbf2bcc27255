"""How bots play Can't Stop."""

from __future__ import annotations

from typing import Final

from rollbook_clients.bots.cant_stop.possible import possible_state
from rollbook_clients.bots.cant_stop.rule_of_28 import RuleOf28
from rollbook_clients.bots.playbook import Playbook

PLAYBOOK: Final = Playbook(possible_state, RuleOf28)
