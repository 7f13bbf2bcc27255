"""The contract as text, one line for everything that clients rely on: `python -m tests.v1.kept` adds new lines.

A line has all that must not change: number, type and kind of a field, number of an enum's value, input and output of a
method, each reserved number and name. A released line is never removed, even if it has become wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto

from tests.remaking import asked_folder

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("contract.txt")

_TYPES = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in vars(FieldDescriptor).items()
    if name.startswith("TYPE_")
}


def kept() -> list[str]:
    """Return the kept lines."""
    return KEPT.read_text(encoding="utf-8").splitlines()


def today() -> list[str]:
    """Return the lines of the current contract, in the order of their names."""
    return sorted(line for proto in (ROOT / "proto").rglob("*.proto") for line in _of_file(proto.stem))


def _of_file(name: str) -> Iterator[str]:
    described = import_module(f"rollbook.v1.{name}_pb2").DESCRIPTOR
    for message in described.message_types_by_name.values():
        yield from _of_message(message)
    for enum in described.enum_types_by_name.values():
        yield from _of_enum(enum)
    for extension in described.extensions_by_name.values():
        yield f"{extension.full_name}: {extension.number} {extension.containing_type.full_name} {_type(extension)}"
    for service in described.services_by_name.values():
        for method in service.methods:
            asked = _stream(method.client_streaming) + method.input_type.full_name
            answered = _stream(method.server_streaming) + method.output_type.full_name
            yield f"{method.full_name}: {asked} -> {answered}"


def _of_message(message: Any) -> Iterator[str]:
    yield f"{message.full_name}: message"
    for field in message.fields:
        yield f"{field.full_name}: {field.number} {_kind(field)}{_type(field)}"
    yield from _reserved(message, DescriptorProto(), behind=0)
    for enum in message.enum_types:
        yield from _of_enum(enum)
    for nested in message.nested_types:
        yield from _of_message(nested)


def _of_enum(enum: Any) -> Iterator[str]:
    yield f"{enum.full_name}: enum"
    for value in enum.values:
        yield f"{enum.full_name}.{value.name}: {value.number}"
    yield from _reserved(enum, EnumDescriptorProto(), behind=1)


def _reserved(described: Any, proto: DescriptorProto | EnumDescriptorProto, *, behind: int) -> Iterator[str]:
    """Yield the reserved names and numbers; `behind` is 1 where a range includes its end."""
    described.CopyToProto(proto)
    for reserved in proto.reserved_range:
        for number in range(reserved.start, reserved.end + behind):
            yield f"{described.full_name}: reserved {number}"
    for name in proto.reserved_name:
        yield f'{described.full_name}: reserved "{name}"'


def _kind(field: Any) -> str:
    if field.is_repeated:
        return "repeated "
    oneof = field.containing_oneof
    if oneof is None:
        return ""
    # An optional field of a number is in a oneof of its own, with a generated name.
    return "optional " if oneof.name == f"_{field.name}" else f"oneof {oneof.name} "


def _type(field: Any) -> str:
    described = field.message_type or field.enum_type
    return _TYPES[field.type] if described is None else described.full_name


def _stream(streams: bool) -> str:
    return "stream " if streams else ""


def remake(folder: Path) -> None:
    """Add the new lines; missing ones are printed and stay, so that the test keeps failing."""
    before, now = set(kept() if KEPT.exists() else ()), set(today())
    (folder / KEPT.name).write_text(
        "".join(f"{line}\n" for line in sorted(before | now)), encoding="utf-8", newline="\n"
    )
    print(f"{len(now - before)} lines added to {KEPT.name}")
    for line in sorted(before - now):
        print(f"broken: {line}")


if __name__ == "__main__":
    remake(asked_folder(KEPT.parent))
