"""Signed heads: each position is signed once, and never answered with another position's signature."""

from __future__ import annotations

from rollbook.match.chain import Position, is_signed
from rollbook.match.commands import OpenMatch, Origin
from rollbook.match.decide import open_match
from rollbook.match.ledger import Ledger
from rollbook.server.out.projection import MOST_SIGNED, Heads
from tests.server.play.test_matches import NOW_MS, SECRET, opened
from tests.server.replica.keeping import HEAD_KEYS


def a_ledger() -> Ledger:
    """A match that has just been opened."""
    return Ledger(open_match(OpenMatch(Origin(NOW_MS), opened(), SECRET)))


def test_a_head_is_signed_once_for_everybody() -> None:
    """Hundreds of watchers and a player who ask for one position share one signature."""
    ledger = a_ledger()
    signed = Heads(HEAD_KEYS)
    assert signed.of(ledger) is signed.of(ledger.copy())
    assert signed.of(ledger) is signed.of(ledger, ledger.head)


def test_a_position_with_another_link_has_a_signature_of_its_own() -> None:
    """After a loss the same sequence belongs to another event, so the old signature must not be sent."""
    ledger = a_ledger()
    signed = Heads(HEAD_KEYS)
    for link in (ledger.head.link, b"\0" * 32):
        head = signed.of(ledger, Position(ledger.head.sequence, link))
        assert link == head.link
        assert is_signed(HEAD_KEYS.private.public_key(), head.match_id, head.sequence, link, head.signature)


def test_what_was_asked_for_last_is_kept_and_no_more() -> None:
    """The cache has a bound: the most recently used signatures stay."""
    ledger = a_ledger()
    signed = Heads(HEAD_KEYS)
    first, second = (signed.of(ledger, Position(sequence, b"")) for sequence in range(2))
    for sequence in range(2, MOST_SIGNED):
        signed.of(ledger, Position(sequence, b""))
    assert first is signed.of(ledger, Position(0, b""))
    signed.of(ledger, Position(MOST_SIGNED, b""))
    again = signed.of(ledger, Position(1, b""))
    assert second is not again
    assert second == again
    assert first is signed.of(ledger, Position(0, b""))
