"""What may be chosen, as menus: the service's legal choices in words, a module for each game."""

from __future__ import annotations

from rollbook.v1.games_pb2 import LegalChoices, View
from rollbook_clients.terminal.menus import allie_gator, cant_stop, raffzahn, wuerfelzoo
from rollbook_clients.terminal.menus.entry import Entry
from rollbook_clients.terminal.seating import Seating


def entries(view: View, legal: LegalChoices, seating: Seating) -> tuple[Entry, ...]:
    """All legal choices; none where they are only described, as in a turn of Würfelzoo, or of a game unknown here."""
    kind = legal.WhichOneof("game")
    if kind == "cant_stop":
        return cant_stop.entries(view.cant_stop, legal.cant_stop.choices, seating)
    if kind == "raffzahn":
        return raffzahn.entries(view.raffzahn, legal.raffzahn.choices, seating)
    if kind == "wuerfelzoo":
        return wuerfelzoo.entries(view.wuerfelzoo, legal.wuerfelzoo.choices, seating)
    if kind == "allie_gator":
        return allie_gator.entries(view.allie_gator, legal.allie_gator.choices, seating)
    return ()
