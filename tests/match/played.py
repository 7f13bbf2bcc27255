"""A match that is played by commands, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rollbook.match.chain import Entry, entropy_commitment
from rollbook.match.codec.envelope import Logged
from rollbook.match.commands import (
    Choose,
    Declined,
    GetReady,
    NotDue,
    OpenMatch,
    Origin,
    TakeSeat,
    Why,
)
from rollbook.match.decide import Decision, decide, open_match
from rollbook.match.dice import commitment
from rollbook.match.events import (
    Opened,
    Terms,
)
from rollbook.match.ledger import Ledger
from rollbook.rules.catalogue import find

SECRET = bytes(range(32))
OPENED_MS = 1_700_000_000_000
CLOCKED = Terms(turn_seconds=30, reserve_seconds=60, ready_seconds=20)


class Played:
    """A match as the service keeps it: a ledger, and the log of all appended events."""

    def __init__(
        self,
        game: str = "cant_stop",
        seats: int = 2,
        terms: Terms = CLOCKED,
        entropy: bytes = b"",
        secret: bytes = SECRET,
    ) -> None:
        """Open the match."""
        rules = find(game)
        opened = Opened("m", game, rules.version, rules.settle({}, seats), ("",) * seats, commitment(secret), terms)
        first = open_match(OpenMatch(Origin(OPENED_MS, request=b"o" * 16), opened, secret))
        self.now_ms = OPENED_MS
        self.ledger = Ledger(first)
        self.log: list[Logged] = [first]
        self.entropy = entropy
        self.requests = 0

    def by(self, player: str = "", *, after_ms: int = 1_000) -> Origin:
        """Return the origin of a command by this player, a moment later."""
        self.now_ms += after_ms
        self.requests += 1
        return Origin(self.now_ms, player.encode(), self.requests.to_bytes(16, "big") if player else b"")

    def append(self, decision: Decision) -> Decision:
        """Append the events of the decision."""
        self.log += decision.entries
        self.ledger = decision.after
        return decision

    def sit(self) -> Played:
        """Seat player p0 on seat 0, and so on."""
        committed = entropy_commitment(self.entropy) if self.entropy else b""
        for seat in range(len(self.ledger.players)):
            self.append(decide(self.ledger, TakeSeat(self.by(f"p{seat}"), commitment=committed)))
        return self

    def start(self) -> Played:
        """Fill all seats and get ready."""
        self.sit()
        for seat in range(len(self.ledger.players)):
            self.append(self.ready(seat))
        return self

    def ready(self, seat: int) -> Decision:
        """Make a seat ready."""
        assert self.ledger.closing is not None
        link = self.ledger.closing.link
        return decide(self.ledger, GetReady(self.by(f"p{seat}"), link, self.entropy))

    def choose(self, choice: Any = None, **how: Any) -> Decision:
        """Choose for the awaited seat, the caretaker's choice by default."""
        ledger = self.ledger
        choice = ledger.game.caretaker(ledger.match.state) if choice is None else choice
        return decide(ledger, Choose(self.by(f"p{ledger.awaited_seat}", **how), ledger.head, choice))

    def refolded(self) -> Ledger:
        """Return the ledger folded from the stored bytes alone."""
        return Ledger.fold("m", [Entry(logged.data, logged.private) for logged in self.log])


def declined(reason: Why, command: Callable[[], object]) -> Declined:
    """Assert that the command is declined for this reason."""
    with pytest.raises(Declined) as raised:
        command()
    assert reason == raised.value.reason
    assert str(raised.value)
    return raised.value


def not_due(command: Callable[[], object]) -> None:
    """Assert that the service's own command is not due now."""
    with pytest.raises(NotDue):
        command()


def kinds(decision: Decision) -> list[str]:
    """Return the names of the events of a decision."""
    return [type(logged.event).__name__ for logged in decision.entries]


def assert_same(expected: Ledger, found: Ledger) -> None:
    """Assert that two ledgers are equal."""
    for name, value in vars(expected).items():
        other = getattr(found, name)
        if name == "match":
            assert vars(value) == vars(other)
        else:
            assert value == other, name
