"""Compares every import of the three packages with `rooms.txt`, which lists the allowed ones."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"rollbook": "service", "rollbook_replays": "replays", "rollbook_clients": "clients"}
SHORT = {"rollbook": "", "rollbook_replays": "replays", "rollbook_clients": "clients"}

MOST_AT_THE_TOP: Final = 8
"""Most modules of `server/` outside its rooms."""

Arrows = dict[str, set[str]]


def allowed_imports(text: str) -> Arrows:
    r"""Return the rooms of `rooms.txt`, each with the rooms that it may import.

    >>> allowed_imports("# a comment\nrules:\nmatch:\n  rules\n")
    {'rules': set(), 'match': {'rules'}}
    """
    written = "\n".join(line for line in text.splitlines() if line and not line.startswith("#"))
    lines = [line.partition(":") for line in re.sub(r"\n +", " ", written).splitlines()]
    return {room: {each.strip() for each in rooms.split(",") if each.strip()} for room, _, rooms in lines}


def modules() -> dict[str, Path]:
    """Every module of the three packages by its name."""
    found = {}
    for package, root in PACKAGES.items():
        for file in sorted((ROOT / root / package).rglob("*.py")):
            parts = file.relative_to(ROOT / root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imported(tree: ast.AST, known: dict[str, Path]) -> Iterator[str]:
    """Yield our modules that a module imports at any place, also in functions and for types."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute, so that everybody can read them"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else str(node.module) for name in inner]
        else:
            continue
        yield from (name for name in names if name.partition(".")[0] in PACKAGES)


def room_of(module: str, rooms: Arrows) -> str:
    """The innermost room that a module lies in.

    >>> room_of("rollbook_replays.audit.audit", {"rules": set(), "replays": set(), "replays.audit": {"rules"}})
    'replays.audit'
    """
    package, _, rest = module.partition(".")
    parts = [part for part in (SHORT[package], *rest.split(".")) if part]
    names = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((name for name in names if name in rooms), module)


def covered(room: str, names: set[str]) -> bool:
    """Whether one of the names covers the room: its own, or that of a room around it.

    >>> covered("server.rpc", {"server"}), covered("server", {"server.rpc"})
    (True, False)
    """
    return any(room == name or room.startswith(f"{name}.") for name in names)


def drawn(rooms: Arrows) -> dict[tuple[str, str], set[str]]:
    """Return every import between two rooms in the code, with its modules."""
    known = modules()
    arrows: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, file in known.items():
        for name in imported(ast.parse(file.read_text(encoding="utf-8")), known):
            arrow = room_of(module, rooms), room_of(name, rooms)
            if arrow[0] != arrow[1]:
                arrows[arrow].add(module)
    return arrows


@pytest.fixture(scope="module")
def rooms() -> Arrows:
    """The content of `rooms.txt`."""
    return allowed_imports((Path(__file__).parent / "rooms.txt").read_text(encoding="utf-8"))


def test_every_module_lies_in_a_room_and_no_room_is_empty(rooms: Arrows) -> None:
    """A module in a room without a line in `rooms.txt` could import anything."""
    assert set(rooms) == {room_of(module, rooms) for module in modules()}


def test_no_module_imports_a_room_that_is_not_allowed(rooms: Arrows) -> None:
    """A new import between two rooms needs a change of `rooms.txt`, where a reviewer sees it."""
    arrows = drawn(rooms).items()
    unknown = {(room, other): starts for (room, other), starts in arrows if not covered(other, rooms[room])}
    assert {} == unknown


def test_every_allowed_import_is_used(rooms: Arrows) -> None:
    """An unused permission is removed, so that the import cannot return unnoticed."""
    arrows = drawn(rooms)
    used = {(room, name) for room, other in arrows for name in rooms[room] if covered(other, {name})}
    assert set() == {(room, name) for room, names in rooms.items() for name in names} - used


def test_all_arrows_point_up(rooms: Arrows) -> None:
    """A room imports only rooms listed above it, so there is no circle."""
    order = list(rooms)
    late = {
        (room, other)
        for number, room in enumerate(order)
        for other in order[number + 1 :]
        if covered(other, rooms[room])
    }
    assert set() == late


def speaks_grpc(tree: ast.AST) -> bool:
    """Whether a module imports gRPC, or a stub made for it, at any place."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        whole = [*names, node.module or ""] if isinstance(node, ast.ImportFrom) else names
        if any(part == "grpc" or part.endswith("_pb2_grpc") for name in whole for part in name.split(".")):
            return True
    return False


def test_there_is_one_grpc_client() -> None:
    """Outside the service only the SDK uses gRPC, so that deadlines, retries and refusals are handled once."""
    speaking = {
        module
        for module, file in modules().items()
        if not module.startswith("rollbook.") and speaks_grpc(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert "rollbook_clients.sdk.connection" in speaking
    assert set() == {module for module in speaking if not module.startswith("rollbook_clients.sdk.")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import grpc", True),
        ("import grpc.aio as wire", True),
        ("def later():\n    from grpc.aio import insecure_channel", True),
        ("from rollbook.v1.match_pb2_grpc import MatchServiceStub", True),
        ("from rollbook.v1 import match_pb2_grpc", True),
        ("import rollbook.v1.match_pb2_grpc", True),
        ("from rollbook.v1 import match_pb2", False),
    ],
)
def test_no_grpc_client_is_overlooked(text: str, *, expected: bool) -> None:
    """Every way to import a stub is recognised."""
    assert expected is speaks_grpc(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "import rollbook.rules.game",
        "from rollbook.rules import game",
        "from rollbook.rules.game import Game",
        "def later():\n    from rollbook.rules.game import Game",
        "if TYPE_CHECKING:\n    from rollbook.rules.game import Game",
        "try:\n    import rollbook.rules.game as named\nexcept ImportError:\n    pass",
    ],
)
def test_no_import_is_overlooked(text: str) -> None:
    """Every form of an import at every place is recognised."""
    assert ["rollbook.rules.game"] == list(imported(ast.parse(text), {"rollbook.rules.game": Path()}))


def test_few_modules_of_the_server_are_in_no_room() -> None:
    """Modules at the top of `server/` are shared by its rooms; a ninth one belongs into a room."""
    top = [
        name
        for name in modules()
        if name.startswith("rollbook.server.") and name.count(".") == len(["rollbook", "server"])
    ]
    packages = {name.rpartition(".")[0] for name in modules()}
    assert len([name for name in top if name not in packages]) <= MOST_AT_THE_TOP
