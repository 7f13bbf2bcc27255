"""A reader of replay files, written from `replays/FORMAT.md` alone: it imports no module of Rollbook."""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Field = int | bytes


def fields(message: bytes) -> Iterator[tuple[int, Field]]:
    """Yield the fields of a protobuf message by number."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            yield number, varint()
        else:
            assert kind == 2
            size = varint()
            yield number, message[at : at + size]
            at += size


INT, BYTES, OPTIONAL, LIST = "int", "bytes", "optional", "list"
"""Kinds of fields: number, bytes or text, optional number or message, list."""

Schema = dict[int, "tuple[str, Schema | None]"]
WHATEVER: Schema = {}
"""A message of a game, whose content is not checked."""

HEAD: Schema = {1: (BYTES, None), 2: (INT, None), 3: (BYTES, None), 4: (BYTES, None), 5: (BYTES, None)}
EYES: Schema = {1: (INT, None), 2: (OPTIONAL, None)}
HIDDEN: Schema = {1: (INT, None), 2: (OPTIONAL, WHATEVER)}
BODY: Schema = {
    1: (BYTES, None),
    2: (BYTES, None),
    3: (INT, None),
    4: (OPTIONAL, EYES),
    5: (LIST, None),
    6: (LIST, HIDDEN),
    7: (LIST, HEAD),
}
NAMES: Schema = {1: (BYTES, None), 2: (LIST, None)}
EVENT: Schema = {
    1: (INT, None),
    2: (INT, None),
    3: (BYTES, None),
    4: (OPTIONAL, None),
    5: (BYTES, None),
    **dict.fromkeys(range(6, 18), (OPTIONAL, WHATEVER)),
}


def varint(value: int) -> bytes:
    """Encode a number in the fewest bytes."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*written, value))


def check_canonical(message: bytes, schema: Schema) -> None:
    """Fail unless the message is canonical: no field is unknown, out of order, doubled or at its default."""
    again = b""
    before = 0
    for number, value in fields(message):
        kind, inner = schema[number]
        assert number > before or (number == before and kind == LIST)
        assert value or kind in {OPTIONAL, LIST}
        before = number
        sized = b"" if isinstance(value, int) else varint(len(value))
        again += varint(8 * number + 2 * bool(sized)) + (varint(value) if isinstance(value, int) else sized + value)
        if inner:
            assert isinstance(value, bytes)
            check_canonical(value, inner)
    assert again == message


def one(message: bytes, number: int, default: Field = b"") -> Field:
    """Return the value of a field that occurs at most once."""
    return next((value for found, value in fields(message) if found == number), default)


def part(message: bytes, *path: int) -> bytes:
    """Return the bytes of a nested field."""
    for number in path:
        inner = one(message, number)
        assert isinstance(inner, bytes)
        message = inner
    return message


def digest(*parts: bytes) -> bytes:
    """The hash H of FORMAT.md."""
    return hashlib.sha256(b"".join(parts)).digest()


@dataclass
class Trusted:
    """A line of a key file."""

    key: Ed25519PublicKey
    role: str
    name: str


Keys = dict[bytes, Trusted]
"""The keys by id."""


def public_keys(text: str) -> Keys:
    """Parse the keys of a key file."""
    keys = {}
    for line in text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        if not line.strip(" \t") or line.startswith("#"):
            continue
        key_id, key, role, name = line.split(" ", 3)
        raw = bytes.fromhex(key)
        assert digest(raw)[:8] == bytes.fromhex(key_id)
        assert role in {"head", "replay", "bundle"}
        keys[bytes.fromhex(key_id)] = Trusted(Ed25519PublicKey.from_public_bytes(raw), role, name)
    return keys


def signer(keys: Keys, key_id: bytes, role: str) -> Trusted:
    """Return the key with this role."""
    assert keys[key_id].role == role
    return keys[key_id]


@dataclass
class Proved:
    """The checked content of a file."""

    match_id: str
    game: str
    names: list[str]
    service: str
    """The name of the service that owns the keys."""
    events: list[bytes]
    uniform: Callable[[int], Callable[[int], int]]
    """The dice, by the number of the chance event."""


def read(data: bytes, keys: Keys) -> Proved:
    """Read a whole sealed match and check all but the rules; any error raises."""
    assert data[:8] == bytes.fromhex("89524f4c4c0d0a1a")
    version, zero, size = struct.unpack_from(">HHI", data, 8)
    assert (version, zero) == (2, 0)
    body = data[16 : 16 + size]
    check_canonical(body, BODY)
    (named,) = struct.unpack_from(">I", data, 16 + size)
    names = data[20 + size : 20 + size + named]
    footer = data[20 + size + named :]
    count, last_link, key_id, signature = struct.unpack(">I32s8s64s", footer)
    trusted = signer(keys, key_id, "replay")
    trusted.key.verify(signature, b"rollbook/1/file" + digest(data[: 16 + size], footer[:44]))
    if names:
        trusted.key.verify(names[:64], b"rollbook/1/names" + names[64:])
        check_canonical(names[64:], NAMES)
        assert any(value for number, value in fields(names[64:]) if number == 2)
    match_id = part(body, 1)
    events = [value for number, value in fields(body) if number == 5 and isinstance(value, bytes)]
    links = [digest(b"rollbook/1/genesis", match_id)]
    for number, event in enumerate(events, start=1):
        check_canonical(event, EVENT)
        assert (one(event, 1), one(event, 3)) == (number, links[-1])
        links.append(digest(b"rollbook/1/link", event))
    assert (count, last_link) == (len(events), links[-1])
    sized = struct.pack(">I", len(match_id)) + match_id
    for head in (value for number, value in fields(body) if number == 7 and isinstance(value, bytes)):
        sequence = one(head, 2)
        assert isinstance(sequence, int)
        assert bytes.fromhex(part(head, 4).decode()) != key_id
        assert part(head, 3) == links[sequence]
        said = b"rollbook/1/head" + sized + struct.pack(">Q", sequence) + links[sequence]
        vouching = signer(keys, bytes.fromhex(part(head, 4).decode()), "head")
        assert vouching.name == trusted.name
        vouching.key.verify(part(head, 5), said)
    key = match_key(events, sized)
    return Proved(
        match_id.decode(),
        part(body, 2).decode(),
        [value.decode() for number, value in fields(names[64:]) if number == 2 and isinstance(value, bytes)],
        trusted.name,
        events,
        lambda chance: uniform(key, chance),
    )


def match_key(events: list[bytes], sized: bytes) -> bytes:
    """Return the key of the dice, after checking secret and entropy."""
    secret = part(events[-1], 17, 3)
    assert len(secret) == 32
    assert part(events[0], 16, 6) == digest(b"rollbook/1/commit", secret)
    committed = {}
    entropy = {}
    closing = b""
    for event in events:
        bodies = dict(fields(event))
        if 12 in bodies:
            committed[bodies[4]] = part(event, 12, 2)
            closing = digest(b"rollbook/1/link", event)
        elif 14 in bodies:
            entropy[bodies[4]] = brought = part(event, 14, 2)
            assert part(event, 14, 1) == closing
            assert committed[bodies[4]] == (digest(b"rollbook/1/entropy", brought) if brought else b"")
    seats = [digest(b"rollbook/1/seat", entropy[seat]) for seat in range(len(entropy))]
    return hmac.digest(secret, b"rollbook/1/match" + sized + b"".join(seats), "sha256")


def uniform(key: bytes, chance: int) -> Callable[[int], int]:
    """Return the draws of one chance event."""

    def words() -> Iterator[int]:
        block = 0
        while True:
            label = b"rollbook/1/draw" + struct.pack(">QI", chance, block)
            yield from struct.unpack(">8I", hmac.digest(key, label, "sha256"))
            block += 1

    stream = words()

    def draw(size: int) -> int:
        return next(word % size for word in stream if word < 2**32 - 2**32 % size)

    return draw
