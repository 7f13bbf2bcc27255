"""Everything that the service sends about a match passes `server/out`: no other package touches hidden data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rollbook.server

ROOT = Path(rollbook.server.__file__).parent

HIDING = frozenset({"private", "hidden", "insiders", "secret", "view", "seen", "as_seen", "legal", "state"})
"""Fields and functions that hold, or lead to, hidden data."""

MESSAGES = frozenset(
    {"ProjectedEvent", "View", "LegalChoices", "Clocks", "HiddenOutcome", "Private", "Revealed", "SignedHead"}
    | {"fill", "write_view", "write_view_bytes", "write_legal", "write_legal_bytes", "write_hidden"}
)
"""Messages that carry such data, and the functions that fill them."""

MADE = frozenset({"EventsMade", "MatchSummary"})
"""Messages that other packages may name as types, but not create."""

NAMES = HIDING | MESSAGES | MADE

ALLOWED = {
    # Between store and fold; none of it is in an answer.
    ("replica/history.py", "private"),
    ("replica/lost_logs.py", "private"),
    ("replica/replica.py", "private"),
    # A signing key, no part of a match.
    ("app.py", "private"),
    ("process/house.py", "private"),
    ("lobby/archivist.py", "private"),
    ("rpc/replay.py", "private"),
    ("process/supervisor.py", "private"),
    # What a list of the index is called.
    ("lobby/index_rows.py", "private"),
    # A summary's state of life, as lists sort by it and limits count by it.
    ("lobby/match_access.py", "state"),
    ("lobby/archive_index.py", "state"),
    ("lobby/index_rows.py", "state"),
    ("lobby/match_listing.py", "state"),
    ("feeds/lobby_board.py", "state"),
    ("lobby/listed_match.py", "state"),
    ("lobby/rematches.py", "state"),
    ("play/holdings.py", "state"),
    ("play/play_now.py", "state"),
    ("health/metrics.py", "state"),
    ("play/quotas.py", "state"),
    ("rpc/feed.py", "state"),
    # The type of a field that only `out` fills, and its value on the way.
    ("refusals.py", "LegalChoices"),
    ("rpc/errors.py", "legal"),
    # Names of fields that are never logged.
    ("log_output.py", "private"),
    ("log_output.py", "hidden"),
    ("log_output.py", "secret"),
    # What the entropy of the house's own bots follows from.
    ("process/house.py", "secret"),
    # Of a match that cannot be read nobody is told more than that it is lost.
    ("lobby/match_access.py", "MatchSummary"),
    ("lobby/lobby.py", "MatchSummary"),
}


def touched(source: str) -> Iterator[str]:
    """The names above that a module uses, also in a pattern or as a string for a lookup."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) if name in HIDING | MESSAGES:
                yield name
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in MADE:
                yield name
            case ast.Constant(value=str(name)) if name in NAMES:
                yield name
            case ast.MatchClass(kwd_attrs=names):
                yield from (name for name in names if name in NAMES)
            case ast.ImportFrom() if not (node.module or "").startswith("rollbook.server.out"):
                # Under another name, any module could create it.
                renamed = {alias.name for alias in node.names if alias.asname is not None}
                yield from (alias.name for alias in node.names if alias.name in HIDING | MESSAGES | (MADE & renamed))


def rooms() -> dict[str, str]:
    """The sources of the server outside of `out`, by path."""
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py"))}
    return {path: source for path, source in sources.items() if not path.startswith("out/")}


def test_no_other_room_touches_what_is_hidden_or_makes_a_message_of_it() -> None:
    """Hidden data must leave only through the projection; exceptions are listed with their reason."""
    found = {(path, name) for path, source in rooms().items() for name in touched(source)}
    assert set() == found - ALLOWED


def test_every_exception_is_still_needed() -> None:
    """An unused exception would hide a new leak."""
    found = {(path, name) for path, source in rooms().items() for name in touched(source)}
    assert set() == {(path, name) for path, name in ALLOWED if (ROOT / path).exists()} - found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def leak(logged): return logged.private", "private"),
        ("def leak(game, match): return game.view(match, 0)", "view"),
        ("def leak(game, match): return game.legal(match.choices)", "legal"),
        ("def leak(match, event): return match.as_seen(event, 0)", "as_seen"),
        ("from rollbook.match.perspective import as_seen", "as_seen"),
        ("from rollbook.match.codec.views import write_view as written", "write_view"),
        ("from rollbook.v1.table_pb2 import ProjectedEvent", "ProjectedEvent"),
        ("def leak(): return proto.View()", "View"),
        ("def leak(logged): return EventsMade(events=[logged])", "EventsMade"),
        ("def leak(name): return proto.MatchSummary(match_id=name)", "MatchSummary"),
        ("from rollbook.v1.match_pb2 import EventsMade as Made", "EventsMade"),
        ('def leak(logged): return getattr(logged, "private")', "private"),
        ('leak = operator.attrgetter("secret")', "secret"),
        ('def leak(logged): return vars(logged)["private"]', "private"),
        ("def leak(logged):\n    match logged:\n        case Logged(private=told): return told", "private"),
    ],
)
def test_a_second_way_out_is_noticed(source: str, expected: str) -> None:
    """The check finds reads of hidden data and messages made of it, in any spelling."""
    assert [expected] == list(touched(source))


def test_what_only_hands_a_message_on_is_none() -> None:
    """A name used as a type sends nothing."""
    source = "from rollbook.v1.match_pb2 import EventsMade\ndef sent(made: EventsMade) -> EventsMade: return made"
    assert [] == list(touched(source))
