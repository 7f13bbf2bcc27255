"""Heads that the service has signed: one signature a match and position serves everyone."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.chain import Position
from rollbook.match.ledger import Ledger
from rollbook.server.out.projection import signed_head
from rollbook.v1.table_pb2 import SignedHead

MOST_KEPT: Final = 4_096
"""Signatures are made again for whoever asks for an older head."""


class Heads:
    """Signs with one key, and keeps what it signed last."""

    def __init__(self, key: Ed25519PrivateKey, key_id: str) -> None:
        """Sign with this key, which has this name."""
        self._key = key
        self._key_id = key_id
        self._signed: OrderedDict[tuple[str, Position], SignedHead] = OrderedDict()

    def of(self, ledger: Ledger, position: Position | None = None) -> SignedHead:
        """The head of the ledger, or an earlier position of the same log; do not change the message."""
        about = ledger.opened.match_id, position or ledger.head
        signed = self._signed.get(about)
        if signed is None:
            signed = self._signed[about] = signed_head(self._key, self._key_id, ledger, position)
            if len(self._signed) > MOST_KEPT:
                self._signed.popitem(last=False)
        return signed
