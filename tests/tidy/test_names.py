"""Class names are unique in the distribution, and modules are named after their content."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rollbook.rules.catalogue import current

ROOT: Final = Path(__file__).parents[2]
SOURCES: Final = ("service/rollbook", "replays/rollbook_replays", "clients/rollbook_clients")
GENERATED: Final = "v1"

GERUNDS: Final[dict[str, str]] = {
    "recording": "a recording is what it makes: a simulated match as a replay",
    "match_listing": "a listing is a page of matches",
    "forgetting": "the room of what `rollbook forget` does",
}
"""Modules that may end in -ing, and why."""

COMMANDS: Final = "the command is named after what it works with, because a user types its name"
REPEATED: Final[dict[str, dict[str, str]]] = {
    "rollbook": {
        "app": "`cli` and `server` each have one application",
        "backup": COMMANDS,
        "check": COMMANDS,
        "commands": "`match` has the commands as values, `server.play` carries them out",
        "feed": "`server.rpc` has the servicer, `server.feeds` what it serves",
        "keys": "`identity` has keys for signatures, `storage.redis` those of the store",
        "log": "`storage.archive` and `storage.redis` each fulfil the port of the log",
        "pools": "`storage` has the port of PlayNow, `server.lobby` what a pool is",
        "port": "`storage` and `storage.archive` each have the port for what lies outside",
        "refusals": "`rules`, `identity` and `server` each refuse for reasons of their own",
        "worker": "`cli` has the program, `server.process` what it runs",
    },
    "rollbook_replays": {"audit": COMMANDS, "bundle": COMMANDS},
    "rollbook_clients": {
        "app": "`terminal` and `web` each have one application",
        "bot": COMMANDS,
        "duel": COMMANDS,
        "english": "`reasons`, `terminal` and `web` each have their texts in each language",
        "german": "`reasons`, `terminal` and `web` each have their texts in each language",
        "house": COMMANDS,
        "lobby": "the same lobby in `sdk`, on a screen of the terminal and on the page",
        "match": "the same match in `sdk` and on a screen of the terminal",
        "replay": COMMANDS,
        "table": "`sdk` has the connection to a service, the terminal the screen of a table",
        "watch": COMMANDS,
    },
}
"""Names that several modules of a distribution may have, and how the rooms tell them apart."""


def modules() -> Iterator[Path]:
    """Yield every hand-written module, as a path below the repository."""
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")):
            if GENERATED not in path.parts:
                yield path.relative_to(ROOT)


def is_of_a_game(module: Path) -> bool:
    """Whether a module belongs to one game; every game has its own State, View and Ruleset."""
    return any(part.startswith(game) for part in module.parts for game in current())


def test_a_class_name_stands_once_outside_the_modules_of_the_games() -> None:
    """A search for a class finds one. Private classes count too, because an underscore does not help a search."""
    places: dict[str, list[Path]] = {}
    for module in modules():
        if not is_of_a_game(module):
            for node in ast.parse((ROOT / module).read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(module)
    assert {} == {name: list(map(str, found)) for name, found in places.items() if len(found) > 1}


def repeated_modules() -> dict[str, set[str]]:
    """The names that several modules of a distribution have; those of a game are excepted, they match the others'."""
    places: dict[tuple[str, str], list[Path]] = {}
    for module in modules():
        if not is_of_a_game(module) and not module.stem.startswith("__"):
            places.setdefault((module.parts[1], module.stem), []).append(module)
    found: dict[str, set[str]] = {distribution: set() for distribution in REPEATED}
    for (distribution, name), there in places.items():
        if len(there) > 1:
            found[distribution].add(name)
    return found


def test_a_module_name_stands_once_in_a_distribution_or_its_room_makes_the_difference() -> None:
    """REPEATED lists the exceptions; one that is not needed any more must go."""
    assert {distribution: set(names) for distribution, names in REPEATED.items()} == repeated_modules()


def test_modules_are_called_what_they_hold() -> None:
    """A gerund names an activity, not the content of a module."""
    named = set(modules()) | {parent for module in modules() for parent in module.parents}
    gerunds = {str(path) for path in named if path.stem.endswith("ing") and path.stem not in GERUNDS}
    assert set() == gerunds


def test_every_exception_is_needed() -> None:
    """Every exception is the name of an existing module."""
    assert GERUNDS.keys() == GERUNDS.keys() & {path.stem for module in modules() for path in (module, *module.parents)}
