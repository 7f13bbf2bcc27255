"""Heads that the service has signed: one signature a match and position serves everyone."""

from __future__ import annotations

from typing import Final

from cachetools import LRUCache

from rollbook.match.chain import Position
from rollbook.match.heads import HeadKeys
from rollbook.match.ledger import Ledger
from rollbook.v1.table_pb2 import SignedHead

MOST_KEPT: Final = 4_096
"""Signatures are made again for whoever asks for an older head."""


class Heads:
    """Signs with one key, and keeps what it signed last."""

    def __init__(self, keys: HeadKeys) -> None:
        """Sign with the private one of these keys."""
        self._keys = keys
        self._signed: LRUCache[tuple[str, Position], SignedHead] = LRUCache(MOST_KEPT)

    def of(self, ledger: Ledger, position: Position | None = None) -> SignedHead:
        """The head of the ledger, or an earlier position of the same log; do not change the message."""
        match_id, at = ledger.opened.match_id, position or ledger.head
        signed = self._signed.get((match_id, at))
        if signed is None:
            head = self._keys.sign(match_id, at.sequence, at.link)
            signed = self._signed[match_id, at] = SignedHead(
                match_id=match_id,
                sequence=head.sequence,
                link=head.link,
                key_id=head.key_id,
                signature=head.signature,
            )
        return signed
