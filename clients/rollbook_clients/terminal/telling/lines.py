"""How a line of the log begins: with the sign of the seat it is of."""

from __future__ import annotations

from rich.text import Text

from rollbook_clients.terminal.seating import Seating


def line(seat: int, key: str, seating: Seating, **facts: object) -> Text:
    """What a seat does; the text may use its name."""
    return Text.assemble(seating.mark(seat), " ", seating.words(key, name=seating.name(seat), **facts))
