"""The boards, a module for each game: a view goes in, lines come out."""

from __future__ import annotations

from rich.text import Text

from rollbook.v1.games_pb2 import View
from rollbook_clients.terminal.blocks import Block, Room
from rollbook_clients.terminal.boards import allie_gator, cant_stop, raffzahn, wuerfelzoo
from rollbook_clients.terminal.seating import Seating


def draw(view: View, seating: Seating, room: Room) -> Block:
    """The board of whatever game."""
    kind = view.WhichOneof("game")
    if kind == "cant_stop":
        return cant_stop.draw(view.cant_stop, seating, room)
    if kind == "raffzahn":
        return raffzahn.draw(view.raffzahn, seating, room)
    if kind == "wuerfelzoo":
        return wuerfelzoo.draw(view.wuerfelzoo, seating, room)
    if kind == "allie_gator":
        return allie_gator.draw(view.allie_gator, seating, room)
    return [Text(seating.words("game.unknown"))]
