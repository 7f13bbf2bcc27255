"""The audit: a verdict on a replay file, from nothing but its bytes and the keys and heads that a judge has.

Several things can be wrong at once, and what a judge wants to know is what somebody changed. So the log itself comes
first, event by event: its form, its place in the chain, and what it says. Then those who vouch for the log: signed
heads in the file, and heads that people kept. Last the file around it: footer, names, signature. A forger without a key
who rewrites chain and footer breaks the signatures as well, but what is reported is the event that he changed; only
what no other check can see, such as times in a match without a clock, is left to the signatures. One check comes before
all events: a secret other than the one committed to would make every draw look wrong.

Nothing is read here, neither files nor clocks; the commands do that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rollbook.replay_file.container import BeforeRelease, NotAReplay, Stored, read
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.replay_file.key_lines import KnownKeys
from rollbook_replays.audit.course import Course
from rollbook_replays.audit.divergence import Diverged
from rollbook_replays.audit.signatures import check_container, check_heads, check_kept, check_lost, vouching
from rollbook_replays.audit.verdicts import Audited, Divergence, Verdict


def audit(data: bytes, keys: KnownKeys, witnessed: Sequence[WitnessedHead] = ()) -> Audited:
    """Check everything that can be checked with these keys (by key id) and these heads, of any matches."""
    try:
        stored = read(data)
    except BeforeRelease as old:
        return Audited(Verdict.UNVERIFIED, missing=(str(old),))
    except NotAReplay as broken:
        return Audited(Verdict.UNREADABLE, unreadable=str(broken))
    course = Course(stored.replay)
    missing: list[str] = []
    divergence = _divergence(stored, course, keys, witnessed, missing)
    return Audited(
        _verdict(divergence, missing),
        stored.replay.match_id,
        divergence,
        missing=tuple(dict.fromkeys(missing)),
        keys=vouching(stored, keys) if divergence is None else None,
        game=stored.replay.game,
        ruleset=stored.replay.ruleset,
        names=stored.replay.names,
        events=len(stored.replay.events),
        thrown=course.thrown,
        **_facts(course),
    )


def _verdict(divergence: Divergence | None, missing: Sequence[str]) -> Verdict:
    if divergence is not None:
        return Verdict.DIVERGED
    return Verdict.UNVERIFIED if missing else Verdict.EXACT


def _divergence(
    stored: Stored,
    course: Course,
    keys: KnownKeys,
    witnessed: Sequence[WitnessedHead],
    missing: list[str],
) -> Divergence | None:
    """The first thing wrong, if anything is; what is missing is added to the list."""
    links = course.links
    try:
        course.follow()
        missing += course.missing
        missing += check_lost(stored, links, keys, None if course.record is None else course.record.match.sealed)
        missing += check_heads(stored, links, keys)
        missing += check_kept(stored, links, keys, witnessed)
        missing += check_container(stored, links, None if course.record is None else course.record.opened, keys)
    except Diverged as diverged:
        return diverged.divergence
    return None


def _facts(course: Course) -> dict[str, Any]:
    """What the match turned out to be, as far as it was followed."""
    record = course.record
    if record is None:
        return {}
    sealed = record.match.sealed
    return {
        "options": record.opened.options,
        "players": tuple(record.players),
        "places": None if sealed is None else sealed.places,
        "aborted": None if sealed is None else sealed.aborted,
        "opened_ms": course.opened_ms,
        "sealed_ms": None if sealed is None else record.time_ms,
        "seats_with_entropy": sum(1 for brought in record.match.entropy if brought),
    }
