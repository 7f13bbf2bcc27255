"""The measured service: all layers of `rollbook serve`, on a log in memory."""

from __future__ import annotations

from typing import Any

from rollbook.match.codec.messages import write_choice
from rollbook.match.ledger import Ledger
from rollbook.rules.cant_stop.moves import Stop
from rollbook.server.app import Parts
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.rpc.layers import CallLog, Layer, OpenCalls
from rollbook.v1.games_pb2 import Choice
from rollbook.v1.table_pb2 import Position
from tests.server.feeds.watching import Theatre
from tests.server.rpc.talking import Person

UNLIMITED = Limits(
    matches_per_subject=10**6,
    open_matches_per_subject=10**6,
    seats_per_subject=10**6,
    waiting_seats_per_subject=10**6,
    requests_at_once=10**9,
    plays_per_subject=10**6,
    watches_per_subject=10**6,
)


class Stage(Theatre):
    """A theatre whose calls are logged, counted and drained as in a service."""

    def layers(self, service: Parts) -> list[Layer]:
        """Return all layers of a service."""
        refused = service.metrics.count_refusal
        return [CallLog(service.metrics.count_call), OpenCalls(refused), *super().layers(service)]


def stage(log: Any = None) -> Stage:
    """Return a world without limits; two of them with the same calls have the same matches, byte for byte."""
    return Stage(limits=UNLIMITED, log=log)


def next_move(ledger: Ledger) -> tuple[int, Any]:
    """Return the awaited seat and a choice that does not stop."""
    seat = ledger.awaited_seat
    assert seat is not None
    return seat, next(choice for choice in ledger.game.legal(ledger.match.state) if not isinstance(choice, Stop))


def next_choice(ledger: Ledger) -> tuple[int, Choice, Position]:
    """Return the same as messages, with the answered position."""
    seat, chosen = next_move(ledger)
    return seat, write_choice(ledger.game, chosen), Position(sequence=ledger.head.sequence, link=ledger.head.link)


async def played_on(world: Theatre, match_id: str, people: list[Person], times: int) -> None:
    """Make this many choices, one after the other."""
    for _ in range(times):
        ledger = world.service.replicas.known_ledger(match_id)
        assert ledger is not None
        seat, choice, position = next_choice(ledger)
        await people[seat].choose(match_id, choice, position)
