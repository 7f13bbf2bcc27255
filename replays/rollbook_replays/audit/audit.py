"""The audit: computes the verdict on a replay file from its bytes and the keys and heads that the caller passes.

A file can have several faults, and the audit reports the one that shows what was changed. It therefore checks the log
first, event by event: form, place in the chain, content. The evidence for the log comes second: the signed heads in the
file, and the heads that people kept. The rest of the file comes last: footer, names, signature. A forger without a key
who rewrites the chain and the footer also breaks the signatures, but the report names the changed event. The signatures
alone protect the rest, such as the times of a match without a clock. The revealed secret is checked before event 2,
because a wrong secret makes every draw look wrong. `replays/FORMAT.md` numbers all checks, so that another
implementation can report the same fault.

This module reads no files and no clock; the commands read the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rollbook.replay_file.container import BeforeRelease, NotAReplay, Stored, read
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.replay_file.key_lines import KnownKeys
from rollbook_replays.audit.course import Course
from rollbook_replays.audit.divergence import Diverged, shorten_text
from rollbook_replays.audit.signatures import (
    check_container,
    check_heads,
    check_kept,
    check_lost,
    flaw,
    vouching,
)
from rollbook_replays.audit.verdicts import Audited, Divergence, Verdict

LONGEST_GAME: Final = 100
"""Characters of a game name that a verdict keeps; the name in a file can be as long as the file."""

MOST_MISSING: Final = 20


def audit(data: bytes, keys: KnownKeys, witnessed: Sequence[WitnessedHead] = ()) -> Audited:
    """Return the verdict on a replay file; `keys` are by key id, `witnessed` may hold heads of other matches too."""
    try:
        stored = read(data)
    except BeforeRelease as old:
        return Audited(Verdict.UNVERIFIED, missing=(str(old),))
    except NotAReplay as broken:
        return Audited(Verdict.UNREADABLE, unreadable=str(broken))
    course = Course(stored.replay)
    missing: list[str] = []
    kept = [head for head in witnessed if head.match_id == stored.replay.match_id and flaw(head, keys) is None]
    divergence, compared = _divergence(stored, course, keys, kept, missing)
    return Audited(
        _verdict(divergence, missing),
        stored.replay.match_id,
        divergence,
        missing=_few(missing),
        keys=vouching(stored, keys) if divergence is None else None,
        game=stored.replay.game[:LONGEST_GAME],
        ruleset=stored.replay.ruleset,
        names=stored.replay.names,
        events=len(stored.replay.events),
        heads=len(stored.replay.heads),
        kept_heads=compared,
        thrown=course.thrown,
        **_facts(course),
    )


def _verdict(divergence: Divergence | None, missing: Sequence[str]) -> Verdict:
    if divergence is not None:
        return Verdict.DIVERGED
    return Verdict.UNVERIFIED if missing else Verdict.EXACT


def _few(missing: Sequence[str]) -> tuple[str, ...]:
    """The distinct entries, shortened, at most `MOST_MISSING` and a count of the rest: a file can name 10,000 keys."""
    each = tuple(map(shorten_text, dict.fromkeys(missing)))
    return each if len(each) <= MOST_MISSING else (*each[:MOST_MISSING], f"{len(each) - MOST_MISSING:,} more")


def _divergence(
    stored: Stored,
    course: Course,
    keys: KnownKeys,
    witnessed: Sequence[WitnessedHead],
    missing: list[str],
) -> tuple[Divergence | None, int]:
    """Return the first divergence or None, and the number of kept heads that match; append to `missing`."""
    links = course.links
    try:
        course.follow(lambda number, event: check_lost(stored, links, keys, number, event))
        missing += course.missing
        missing += check_heads(stored, links, keys)
        lacking = check_kept(stored, links, keys, witnessed)
        missing += lacking
        missing += check_container(stored, links, course.said, keys)
    except Diverged as diverged:
        return diverged.divergence, 0
    # `check_kept` returned one entry for each head that it could not compare.
    return None, len(witnessed) - len(lacking)


def _facts(course: Course) -> dict[str, Any]:
    """The fields of `Audited` that come from the followed events; empty if event 1 could not be read."""
    record = course.record
    if record is None:
        return {}
    sealed = record.match.sealed
    return {
        "options": record.opened.options,
        "seats": len(record.players),
        "started": record.match.started,
        "places": None if sealed is None else sealed.places,
        "aborted": None if sealed is None else sealed.aborted,
        "opened_ms": course.opened_ms,
        "sealed_ms": None if sealed is None else record.time_ms,
        "house": tuple(seat for seat, house in enumerate(record.house) if house),
        "seats_with_entropy": tuple(
            seat for seat, brought in enumerate(record.match.entropy) if brought and not record.house[seat]
        ),
    }
