"""Verdicts as JSON for `rollbook audit --json`; `replays/AUDIT.md` documents the keys."""

from __future__ import annotations

from typing import Any, Final

from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook_replays.audit.verdicts import Audited

VERSION: Final = 1
"""Version of the JSON lines. A version can gain keys; a change of a key's meaning needs a new version."""


def match_facts(path: str, audited: Audited) -> dict[str, Any]:
    """The line for a replay; a value is None if the audit did not get far enough to know it."""
    divergence = audited.divergence
    followed = audited.seats > 0
    return {
        "version": VERSION,
        "kind": "match",
        "path": path,
        "verdict": audited.verdict,
        "event": None if divergence is None else divergence.event,
        "check": None if divergence is None else divergence.check,
        "expected": None if divergence is None else divergence.expected,
        "found": audited.unreadable or None if divergence is None else divergence.found,
        "missing": list(audited.missing),
        "match": audited.match_id or None,
        "game": audited.game or None,
        "ruleset": audited.ruleset or None,
        "options": dict(audited.options) if followed else None,
        "seats": audited.seats or None,
        "names": list(audited.names) or None,
        "house": list(audited.house) if followed else None,
        "seats_with_entropy": list(audited.seats_with_entropy) if followed else None,
        "dice_by_secret_alone": audited.is_by_secret_alone if followed else None,
        "events": audited.events,
        "opened_ms": audited.opened_ms if followed else None,
        "sealed_ms": audited.sealed_ms,
        "places": None if audited.places is None else list(audited.places),
        "aborted": _abort_facts(audited),
        "keys": None if audited.keys is None else audited.keys.facts(),
        "heads_compared": {"file": audited.heads, "kept": audited.kept_heads},
    }


def head_facts(where: str, head: WitnessedHead, why: str) -> dict[str, Any]:
    """The line for a kept head that proves nothing; these lines precede those for files."""
    return {
        "version": VERSION,
        "kind": "head",
        "kept_head": where,
        "match": head.match_id,
        "event": head.sequence,
        "found": why,
    }


def tournament_facts(path: str, judged: dict[str, Any]) -> dict[str, Any]:
    """The line for a bundle, which follows the lines for its replays."""
    return {"version": VERSION, "kind": "tournament", "path": path, **judged}


def _abort_facts(audited: Audited) -> dict[str, Any] | None:
    if audited.aborted is None:
        return None
    return {"reason": audited.aborted.partition(":")[0], "seats": list(audited.seats_not_ready)}
