"""Everything that leaves the service about a match passes `server/out`: no other room touches what could tell on it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import rollbook.server

ROOT = Path(rollbook.server.__file__).parent

HIDING = frozenset({"private", "hidden", "insiders", "secret", "view", "seen", "state"})
"""Fields and functions that hold, or lead to, what not everybody may see."""

MESSAGES = frozenset(
    {"ProjectedEvent", "View", "LegalChoices", "Clocks", "HiddenOutcome", "Private", "Revealed", "SignedHead", "fill"}
)
"""What such things leave in, and what fills it."""

ALLOWED = {
    # From the store to the fold and back: nothing of it is in an answer.
    ("replica/history.py", "private"),
    ("replica/lost_logs.py", "private"),
    ("replica/replica.py", "private"),
    # A key that signs, and nothing of a match.
    ("app.py", "private"),
    ("archivist.py", "private"),
    ("rpc/replay.py", "private"),
    # A summary's state of life, as lists sort by it.
    ("access.py", "state"),
    ("archive_index.py", "state"),
    ("lists.py", "state"),
    ("lobby.py", "state"),
    ("metrics.py", "state"),
    ("sweeper.py", "state"),
    ("rpc/feed.py", "state"),
    # The type of a field that only `out` gives a value.
    ("refusals.py", "LegalChoices"),
}


def touched(source: str) -> Iterator[str]:
    """The names above that a module uses."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in HIDING | MESSAGES:
            yield node.attr
        elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("rollbook.server.out"):
            yield from (alias.name for alias in node.names if alias.name in MESSAGES)


def rooms() -> dict[str, str]:
    """The sources of the server outside of `out`, by path."""
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py"))}
    return {path: source for path, source in sources.items() if not path.startswith("out/")}


def test_no_other_room_touches_what_is_hidden_or_makes_a_message_of_it() -> None:
    """A second way out would be one that no projection stands on; what is excepted is listed with its reason."""
    found = {(path, name) for path, source in rooms().items() for name in touched(source)}
    assert set() == found - ALLOWED


def test_every_exception_is_still_needed() -> None:
    """One that nobody uses is a door that nobody watches."""
    found = {(path, name) for path, source in rooms().items() for name in touched(source)}
    assert set() == {(path, name) for path, name in ALLOWED if (ROOT / path).exists()} - found


def test_a_second_way_out_is_noticed() -> None:
    """Whether it reads what is hidden or makes a message of what it was given."""
    assert ["private"] == list(touched("def leak(logged): return logged.private"))
    assert ["view"] == list(touched("def leak(game, match): return game.view(match, 0)"))
    assert ["ProjectedEvent"] == list(touched("from rollbook.v1.table_pb2 import ProjectedEvent"))
    assert ["View"] == list(touched("def leak(): return proto.View()"))
