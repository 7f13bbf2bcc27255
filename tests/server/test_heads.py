"""Heads: signed once for everybody, and never one for another."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.chain import Position
from rollbook.match.decide import Command, open_match
from rollbook.match.heads import is_signed
from rollbook.match.ledger import Ledger
from rollbook.rules.catalogue import find
from rollbook.server.out import heads
from rollbook.server.out.heads import Heads
from tests.server.test_matches import NOW_MS, SECRET, opened

KEY = Ed25519PrivateKey.from_private_bytes(b"h" * 32)


def a_ledger() -> Ledger:
    """A match that has just been opened."""
    match = opened()
    return Ledger(open_match(find(match.game), match, SECRET, Command(NOW_MS)))


def test_a_head_is_signed_once_for_everybody() -> None:
    """Hundreds of watchers and a player who ask for one position wait for one signature."""
    ledger = a_ledger()
    signed = Heads(KEY, "key")
    assert signed.of(ledger) is signed.of(ledger.copy())
    assert signed.of(ledger) is signed.of(ledger, ledger.head)


def test_a_position_with_another_link_has_a_signature_of_its_own() -> None:
    """After a loss the same number stands for another event, and nobody may be told the old one."""
    ledger = a_ledger()
    signed = Heads(KEY, "key")
    for link in (ledger.head.link, b"\0" * 32):
        head = signed.of(ledger, Position(ledger.head.sequence, link))
        assert link == head.link
        assert is_signed(KEY.public_key(), head.match_id, head.sequence, link, head.signature)


def test_what_was_signed_last_is_kept_and_no_more() -> None:
    """Matches come and go for as long as a process lives."""
    ledger = a_ledger()
    signed = Heads(KEY, "key")
    first = signed.of(ledger, Position(0, b""))
    for sequence in range(1, heads.MOST_KEPT):
        signed.of(ledger, Position(sequence, b""))
    assert first is signed.of(ledger, Position(0, b""))
    signed.of(ledger, Position(heads.MOST_KEPT, b""))
    assert first is not signed.of(ledger, Position(0, b""))
    assert first == signed.of(ledger, Position(0, b""))
