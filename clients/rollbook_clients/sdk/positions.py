"""Positions and signed heads as messages have them."""

from __future__ import annotations

from rollbook.match.chain import Position
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.v1.table_pb2 import Position as PositionMessage
from rollbook.v1.table_pb2 import SignedHead


def read_position(message: PositionMessage) -> Position:
    """The position that a message names; what it says of a signature is not believed."""
    return Position(message.sequence, message.link)


def read_head(message: SignedHead) -> WitnessedHead:
    """The head in a message; nothing is checked yet."""
    return WitnessedHead(message.match_id, message.sequence, message.link, message.key_id, message.signature)
