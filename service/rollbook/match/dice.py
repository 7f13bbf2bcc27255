"""Fair dice that anyone can verify: scheme `fair/1`, byte for byte.

Event 1 contains a commitment to the secret, which the seal reveals. The match key mixes the secret with the entropy of
the seats. Every chance event has its own stream of bytes under that key, identified by its number. Integers are
big-endian, strings ASCII, and every hash has a label, so that hashes of different uses differ.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from rollbook.match.chain import with_length
from rollbook.rules.chance import Draw, Throw, Value
from rollbook.rules.game import Uniform

SCHEME: Final = "fair/1"
DRAW_LABEL: Final = b"rollbook/1/draw"
BOT_LABEL: Final = b"rollbook/1/bot"

_POSITION = struct.Struct(">QI").pack
_WORDS = struct.Struct(">8I").unpack
_WORDS_OF_A_BLOCK = 8
_WORD_RANGE = 1 << 32
_SMALL_SET = 1 << 16
_ACCEPTED_BY_EVERY_SMALL_SET = _WORD_RANGE - _SMALL_SET
"""A word below this is accepted by uniform(k) for every small set."""


def _sha256(label: bytes, *parts: bytes) -> bytes:
    return hashlib.sha256(label + b"".join(parts)).digest()


def commitment(secret: bytes) -> bytes:
    """The commitment to the secret, for event 1."""
    return _sha256(b"rollbook/1/commit", secret)


def match_key(secret: bytes, match_id: str, entropy: Sequence[bytes]) -> bytes:
    """The key of all draws; a seat without entropy contributes the empty string."""
    seats = b"".join(_sha256(b"rollbook/1/seat", brought) for brought in entropy)
    return hmac.digest(secret, b"rollbook/1/match" + with_length(match_id) + seats, "sha256")


class Dice:
    """All the draws under one key.

    >>> dice = Dice(bytes(32))
    >>> dice.values(1, Throw("roll", ((1, 2, 3, 4, 5, 6),) * 4))
    (6, 5, 6, 5)
    """

    __slots__ = ("_keyed",)

    def __init__(self, key: bytes, label: bytes = DRAW_LABEL) -> None:
        """Prepare the keyed hash, of this library because a copy costs half of what it does in the standard library."""
        self._keyed = HMAC(key, SHA256())
        self._keyed.update(label)

    def _block(self, event: int, index: int) -> tuple[int, ...]:
        block = self._keyed.copy()
        block.update(_POSITION(event, index))
        return _WORDS(block.finalize())

    def _words(self, event: int) -> Iterator[int]:
        for index in count():
            yield from self._block(event, index)

    def uniform(self, event: int) -> Uniform:
        """A source of `uniform(k)` for one event: the first call reads its first bytes."""
        words = self._words(event)

        def uniform(size: int) -> int:
            accepted = _WORD_RANGE - _WORD_RANGE % size
            for word in words:
                if word < accepted:
                    return word % size
            raise AssertionError  # the words never end

        return uniform

    def values(self, event: int, awaited: Throw | Draw) -> tuple[Value, ...]:
        """The values of chance event number `event`, counted from 1, for the awaited throw or draw."""
        items: tuple[Any, ...]
        if isinstance(awaited, Throw):
            items = awaited.dice
            words = self._accept_words(event, len(items))
            if words is not None:
                return tuple([faces[word % len(faces)] for faces, word in zip(items, words)])  # noqa: B905
            uniform = self.uniform(event)
            return tuple([faces[uniform(len(faces))] for faces in items])
        items = awaited.items
        words = self._accept_words(event, awaited.count) if len(items) <= _SMALL_SET else None
        if words is not None and awaited.count == 1:
            return (items[words[0] % len(items)],)
        left = list(items)
        if words is not None:
            return tuple([left.pop(word % len(left)) for word in words[: awaited.count]])
        uniform = self.uniform(event)
        return tuple([left.pop(uniform(len(left))) for _ in range(awaited.count)])

    def _accept_words(self, event: int, number: int) -> tuple[int, ...] | None:
        """At least `number` of an event's first words; None if a small set might reject one of them."""
        block = self._keyed.copy()
        block.update(_POSITION(event, 0))
        words = _WORDS(block.finalize())
        while number > len(words):
            words += self._block(event, len(words) // _WORDS_OF_A_BLOCK)
        return words if max(words) < _ACCEPTED_BY_EVERY_SMALL_SET else None
