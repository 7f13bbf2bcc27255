"""Checks before a client reveals its entropy: its own commitment and all others must be in one chain."""

from collections.abc import Iterable

from rollbook.match.chain import Position
from rollbook_clients.sdk.frames import Event
from rollbook_clients.sdk.witness import Witness

_HASH_BYTES = 32
_SCHEME = "fair/1"


class Commitments:
    """Follows a match from event 1 to the event that closes its seats."""

    def __init__(self, witness: Witness) -> None:
        self._witness = witness
        self._seats = 0
        self._commitments: dict[int, bytes] = {}
        self.position: Position | None = None
        """The position of the event that took the last seat; None while seats are free."""

    def take(self, events: Iterable[Event]) -> None:
        """Add the next events of the match; raises LogBroken if event 1 commits to no dice."""
        for event in events:
            match event.kind:
                case "opened":
                    opened = event.message.opened
                    if opened.fairness != _SCHEME or len(opened.commitment) != _HASH_BYTES:
                        raise self._witness.broken_error(f"event 1 does not commit to dice by {_SCHEME}", event.data)
                    self._seats = opened.seats
                case "seat_taken":
                    self._commitments[event.message.seat] = event.message.seat_taken.entropy_commitment
                case "seat_left":
                    self._commitments.pop(event.message.seat, None)
                case _:
                    continue
            if self.position is None and len(self._commitments) == self._seats:
                self.position = event.position

    def check(self, seat: int, commitment: bytes) -> None:
        """Raise LogBroken unless the log holds this commitment for the seat."""
        if self._commitments.get(seat) != commitment:
            raise self._witness.broken_error(
                f"seat {seat} is not bound to the entropy of this client: either it sat down as another process, whose"
                " secret was not kept, or the service exchanged the commitment; nothing was revealed"
            )
