#!/usr/bin/env python3
"""A plugin of protoc: writes the messages that the page's verifier reads as a JavaScript module, `schema.js`.

It writes the messages of a replay file and all messages in them, with the field numbers of the protos, and lists the
games of games.proto. Only `.ci/stubs` runs it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from google.protobuf.compiler.plugin_pb2 import CodeGeneratorRequest, CodeGeneratorResponse
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

MODULE = "schema.js"
ROOTS = ("Event", "ReplayBody", "ReplayNames", "HiddenOutcome")
ENUMS = ("AbortReason", "PerspectiveKind")
APART = {"ReplayBody.Outcome.hidden"}
"""Messages that the verifier gets as bytes: a later program may know more games than this reader."""

PARTS = {"options": "Options", "choice": "Choice", "outcome": "Outcome", "hidden": "HiddenOutcome"}
"""What the verifier calls the messages of a game, and in which message of games.proto they are."""

SCALARS = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in FieldDescriptorProto.Type.items()
    if name in {"TYPE_INT32", "TYPE_UINT64", "TYPE_BOOL", "TYPE_STRING", "TYPE_BYTES", "TYPE_ENUM"}
}
HEAD = """\
// Generated from proto/rollbook/v1 by `.ci/stubs`; nothing in here is written by hand.
// The messages of a replay file, as `protobuf.js` reads them. Views and legal choices are in no file.

const one = (name, type) => ({ name, type });
const optional = (name, type) => ({ name, type, optional: true });
const list = (name, type) => ({ name, type, repeated: true });
const kind = (oneof, name, type) => ({ name, type, oneof });
const message = (...fields) => new Map(fields);
"""


class Protos:
    """All messages and enums of the files, by full name, with their comments."""

    def __init__(self, request: CodeGeneratorRequest) -> None:
        self.messages: dict[str, Any] = {}
        self.enums: dict[str, Any] = {}
        self.comments: dict[str, str] = {}
        for file in request.proto_file:
            comments = {tuple(at.path): at.leading_comments for at in file.source_code_info.location}
            for number, message in enumerate(file.message_type):
                self._add(f".{file.package}.{message.name}", message, (4, number), comments)
            self.enums |= {f".{file.package}.{enum.name}": enum for enum in file.enum_type}

    def _add(self, name: str, message: Any, path: tuple[int, ...], comments: dict[tuple[int, ...], str]) -> None:
        self.messages[name] = message
        self.comments[name] = comments.get(path, "")
        self.enums |= {f"{name}.{enum.name}": enum for enum in message.enum_type}
        for number, inner in enumerate(message.nested_type):
            self._add(f"{name}.{inner.name}", inner, (*path, 3, number), comments)


def short(name: str) -> str:
    """Return the name without its package."""
    return name.removeprefix(".rollbook.v1.").removeprefix(".google.protobuf.")


def constant(name: str) -> str:
    """Return the JavaScript constant of a message or an enum: SEALED_LOST_HEAD for Sealed.LostHead."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", short(name).replace(".", "_")).upper()


def needed(protos: Protos, name: str, found: list[str]) -> list[str]:
    """Add the message behind all messages that it holds."""
    for field in protos.messages[name].field:
        inner = field.type_name
        if inner in protos.messages and inner not in found and f"{short(name)}.{field.name}" not in APART:
            needed(protos, inner, found)
    if name not in found:
        found.append(name)
    return found


def field_of(name: str, message: Any, field: Any) -> str:
    """Return one field as the entry of a Map."""
    if field.type == FieldDescriptorProto.TYPE_MESSAGE:
        is_apart = f"{short(name)}.{field.name}" in APART
        kind = '"bytes"' if is_apart else constant(field.type_name)
    else:
        is_apart = False
        kind = f'"{SCALARS[field.type]}"'
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        made = f'list("{field.name}", {kind})'
    elif field.proto3_optional or is_apart:
        made = f'optional("{field.name}", {kind})'
    elif field.HasField("oneof_index"):
        made = f'kind("{message.oneof_decl[field.oneof_index].name}", "{field.name}", {kind})'
    else:
        made = f'one("{field.name}", {kind})'
    return f"[{field.number}, {made}]"


def lines(protos: Protos) -> Iterator[str]:
    """Write the module, each message behind those that it holds."""
    yield HEAD
    found: list[str] = []
    for root in ROOTS:
        needed(protos, f".rollbook.v1.{root}", found)
    for name in found:
        fields = sorted(protos.messages[name].field, key=lambda field: field.number)
        inside = "".join(f"\n  {field_of(name, protos.messages[name], field)}," for field in fields)
        export = "export " if short(name) in ROOTS else ""
        yield f"{export}const {constant(name)} = message({inside}{chr(10) if inside else ''});\n"
    for name in ENUMS:
        values = ", ".join(values_of(protos.enums[f".rollbook.v1.{name}"]))
        yield f"export const {constant(name)} = {{ {values} }};\n"
    yield "/** What can happen in an event: names of its fields, by number. */"
    yield f"export const BODIES = [{''.join(bodies(protos.messages['.rollbook.v1.Event']))}\n];\n"
    yield "/** The games of games.proto; `hiding` are the kinds of outcomes that hide something. */"
    yield "export const GAMES = {"
    yield from games(protos)
    yield "};"


def bodies(event: Any) -> Iterator[str]:
    """Yield the names of the fields in the oneof of an event, by number."""
    for field in sorted(event.field, key=lambda field: field.number):
        if field.HasField("oneof_index") and not field.proto3_optional:
            yield f'\n  "{field.name}",'


def values_of(enum: Any) -> Iterator[str]:
    """Yield the values of an enum but 0, without the prefix that they share."""
    prefix = enum.value[0].name.removesuffix("UNSPECIFIED")
    for value in enum.value[1:]:
        yield f"{value.name.removeprefix(prefix)}: {value.number}"


def games(protos: Protos) -> Iterator[str]:
    """Yield the messages of each game, by the number of its field."""
    listed = {
        part: {field.name: field for field in protos.messages[f".rollbook.v1.{wrapper}"].field}
        for part, wrapper in PARTS.items()
    }
    for game in sorted(listed["options"].values(), key=lambda field: field.number):
        if game.name == "other":
            continue
        parts = {part: fields[game.name].type_name for part, fields in listed.items() if game.name in fields}
        yield f"  {game.name}: {{"
        yield from (f"    {part}: {constant(name)}," for part, name in parts.items())
        if "hidden" in parts:
            yield f"    hiding: new Set([{', '.join(hiding(protos, parts['outcome'], short(parts['hidden'])))}]),"
        yield "  },"


def hiding(protos: Protos, outcome: str, hidden: str) -> Iterator[str]:
    """Yield the kinds of an outcome that hide something: those with a comment that names the hidden message."""
    for field in protos.messages[outcome].field:
        if re.search(rf"\b{hidden}\b", protos.comments[field.type_name]):
            yield f'"{field.name}"'


def main() -> None:
    """Answer protoc's request."""
    request = CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    response = CodeGeneratorResponse(supported_features=CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL)
    response.file.add(name=MODULE, content="\n".join(lines(Protos(request))) + "\n")
    sys.stdout.buffer.write(response.SerializeToString())


if __name__ == "__main__":
    main()
