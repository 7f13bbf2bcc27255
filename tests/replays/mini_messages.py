"""Decodes canonical messages as in `replays/FORMAT.md`, by the fields in `proto/rollbook/v1/`.

Like the readers that use it, it imports no module of Rollbook: it reads the proto files itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.replays.mini_reader import varint

NUMBER, EIGHT_BYTES, SIZED, GROUP, GROUP_END, FOUR_BYTES = range(6)
LONGEST_VARINT = 10
MOST_FIELDS = 40_000
"""Limit of fields: a body has at most 10,000 events, their hidden parts, as many heads, and a few more."""
DEEPEST = 100

Value = int | bytes


class Broken(Exception):
    """The bytes are no message of this type."""


@dataclass
class Listed:
    """A field's definition in a proto file."""

    name: str
    type: str
    label: str
    """`optional`, `repeated`, the name of its oneof, or empty."""


@dataclass
class Message:
    """A message's definition in a proto file."""

    fields: dict[int, Listed] = field(default_factory=dict)


INTEGERS = {"int32", "uint64", "bool"}
ANY = Message({1: Listed("type_url", "string", ""), 2: Listed("value", "bytes", "")})


class Protos:
    """The messages and enums of some proto files and of their imports."""

    def __init__(self, folder: Path, *files: str) -> None:
        """Parse the files."""
        self.messages: dict[str, Message] = {"google.protobuf.Any": ANY}
        self.enums: set[str] = set()
        asked = [*files]
        for file in asked:
            text = re.sub(r"//.*", "", (folder / file).read_text(encoding="utf-8"))
            self._read(iter(re.findall(r'"[^"]*"|[\w.]+|[{}=;]', text)), "")
            asked += [name for name in re.findall(r'import "rollbook/v1/(.*)";', text) if name not in asked]
        for name, message in self.messages.items():
            for listed in message.fields.values():
                listed.type = self._resolved(listed.type, name)

    def _read(self, words: Iterator[str], scope: str, oneof: str = "") -> None:
        for word in words:
            if word == "}":
                return
            if word == "message":
                name = f"{scope}.{next(words)}".lstrip(".")
                self.messages[name] = Message()
                next(words)
                self._read(words, name)
            elif word == "oneof":
                name = next(words)
                next(words)
                self._read(words, scope, name)
            elif word in {"enum", "service"}:
                self.enums.add(f"{scope}.{next(words)}".lstrip("."))
                depth = 0
                while (behind := next(words)) != "}" or depth > 1:
                    depth += (behind == "{") - (behind == "}")
            elif word in {"syntax", "package", "import", "reserved", "option"}:
                while next(words) != ";":
                    pass
            else:
                label = word if word in {"optional", "repeated"} else oneof
                kind = next(words) if word in {"optional", "repeated"} else word
                name, _, number, _ = (next(words) for _ in range(4))
                self.messages[scope].fields[int(number)] = Listed(name, kind, label)

    def _resolved(self, kind: str, scope: str) -> str:
        """Return the full name of a type, or `int32` for an enum, which is encoded alike."""
        while scope:
            if f"{scope}.{kind}" in self.messages:
                return f"{scope}.{kind}"
            scope = scope.rpartition(".")[0]
        return "int32" if kind in self.enums else kind

    def check(self, data: bytes, kind: str) -> None:
        """Raise Broken unless the bytes are such a message in any encoding; unknown fields are ignored."""
        for number, wire, value in split(data):
            listed = self.messages[kind].fields.get(number)
            if listed is None or wire != SIZED:
                continue
            assert isinstance(value, bytes)
            if listed.type in self.messages:
                self.check(value, listed.type)
            elif listed.type == "string":
                _text(value)

    def is_canonical(self, data: bytes, kind: str) -> bool:
        """Whether the bytes are such a message in the canonical encoding."""
        try:
            return self._written(data, kind) == data
        except (Broken, KeyError):
            return False

    def _written(self, data: bytes, kind: str) -> bytes:
        """Encode the message again; raises KeyError for an unknown field."""
        again, before, oneofs = b"", 0, set()
        for number, wire, value in split(data):
            listed = self.messages[kind].fields[number]
            repeated = listed.label == "repeated" and listed.type not in INTEGERS
            if number < before or (number == before and not repeated) or listed.label in oneofs:
                raise Broken
            if listed.label not in {"", "optional", "repeated"}:
                oneofs.add(listed.label)
            before = number
            own = self._value(value, wire, listed)
            if value in {0, b""} and listed.label == "" and listed.type not in self.messages:
                raise Broken
            again += varint(8 * number + wire) + (varint(len(own)) if wire == SIZED else b"") + own
        return again

    def _value(self, value: Value, wire: int, listed: Listed) -> bytes:
        kind = listed.type
        if kind in INTEGERS and listed.label == "repeated":
            if wire != SIZED or not isinstance(value, bytes) or not value:
                raise Broken
            return b"".join(_integer(number, kind) for number in packed(value))
        if kind in INTEGERS:
            if wire != NUMBER or not isinstance(value, int):
                raise Broken
            return _integer(value, kind)
        if wire != SIZED or not isinstance(value, bytes):
            raise Broken
        if kind == "string":
            _text(value)
        return self._message(value, kind) if kind in self.messages else value

    def _message(self, value: bytes, kind: str) -> bytes:
        # Later programs may list more games, whose messages are unknown here.
        if kind == "HiddenOutcome" and not any(number in self.messages[kind].fields for number, _, _ in split(value)):
            return value
        return self._written(value, kind)


def _text(value: bytes) -> None:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        raise Broken from None


def _integer(value: int, kind: str) -> bytes:
    """Encode a number; raises Broken if the type does not have it."""
    signed = value - (1 << 64) if value >> 63 and kind == "int32" else value
    low, high = {"int32": (-(1 << 31), 1 << 31), "uint64": (0, 1 << 64), "bool": (0, 2)}[kind]
    if not low <= signed < high:
        raise Broken
    return varint(value)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(LONGEST_VARINT):
        if at + count >= len(data):
            break
        value |= (data[at + count] & 0x7F) << 7 * count
        if data[at + count] < 0x80:
            return value, at + count + 1
    raise Broken


def packed(data: bytes) -> Iterator[int]:
    """Yield the numbers of a packed list."""
    at = 0
    while at < len(data):
        value, at = _read_varint(data, at)
        yield value


def split(data: bytes) -> list[tuple[int, int, Value]]:
    """Return number, wire type and value of all fields; of groups only the inner fields."""
    found: list[tuple[int, int, Value]] = []
    at = 0
    groups: list[int] = []
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire = divmod(key, 8)
        if not 0 < number < 1 << 29 or max(len(groups) - DEEPEST, len(found) - MOST_FIELDS) > 0:
            raise Broken
        if wire == GROUP_END:
            if not groups or groups.pop() != number:
                raise Broken
            continue
        value, at = _read_value(data, at, wire)
        if not groups:
            found.append((number, wire, value))
        if wire == GROUP:
            groups.append(number)
    if groups:
        raise Broken
    return found


def _read_value(data: bytes, at: int, wire: int) -> tuple[Value, int]:
    """Read a value; returns it and the start of the next field. A group has no value, its fields follow."""
    if wire == NUMBER:
        return _read_varint(data, at)
    sizes = {GROUP: 0, EIGHT_BYTES: 8, FOUR_BYTES: 4}
    if wire == SIZED:
        size, at = _read_varint(data, at)
    elif wire in sizes:
        size = sizes[wire]
    else:
        raise Broken
    if at + size > len(data):
        raise Broken
    return data[at : at + size], at + size


@dataclass
class Read:
    """A decoded message; if a field is repeated, the last one counts."""

    protos: Protos
    kind: str
    data: bytes

    def __post_init__(self) -> None:
        """Split the bytes once."""
        self._found = split(self.data)

    def all(self, name: str) -> list[Value]:
        """Return all values of this field, with numbers as their type has them."""
        fields = self.protos.messages[self.kind].fields
        number = next(number for number, listed in fields.items() if listed.name == name)
        values = [value for found, _, value in self._found if found == number]
        if fields[number].type != "int32":
            return values
        each = [one for value in values for one in (packed(value) if isinstance(value, bytes) else [value])]
        return [value - (1 << 64) if value >> 63 else value for value in each]

    def has(self, name: str) -> bool:
        """Whether the field is present."""
        return bool(self.all(name))

    def number(self, name: str) -> int:
        """Return the number of this field; 0 if it is absent."""
        value = (self.all(name) or [0])[-1]
        return value if isinstance(value, int) else 0

    def bytes(self, name: str) -> bytes:
        """Return the bytes of this field; empty if it is absent."""
        value = (self.all(name) or [b""])[-1]
        return value if isinstance(value, bytes) else b""

    def text(self, name: str) -> str:
        """Return the text of this field."""
        return self.bytes(name).decode("utf-8")

    def inner(self, name: str) -> Read:
        """Return the message of this field."""
        kind = next(each.type for each in self.protos.messages[self.kind].fields.values() if each.name == name)
        return Read(self.protos, kind, self.bytes(name))

    def inners(self, name: str) -> list[Read]:
        """Return the messages of this list."""
        kind = next(each.type for each in self.protos.messages[self.kind].fields.values() if each.name == name)
        return [Read(self.protos, kind, value) for value in self.all(name) if isinstance(value, bytes)]

    def one_of(self, oneof: str) -> str:
        """Return the name of the present field of a oneof, or an empty text."""
        listed = self.protos.messages[self.kind].fields
        numbers = {number for number, _, _ in self._found if number in listed and listed[number].label == oneof}
        return listed[max(numbers)].name if numbers else ""

    @property
    def is_canonical(self) -> bool:
        """Whether the message is in the canonical encoding."""
        return self.protos.is_canonical(self.data, self.kind)
