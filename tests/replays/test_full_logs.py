"""A log has at most 10,000 events, and the last is its seal; full logs are too large to store as cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from rollbook.match.events import BY_OPERATOR, Chosen, Resumed, Sealed, SeatTaken
from rollbook.match.fold import MOST_EVENTS
from rollbook.rules.game import Watcher
from rollbook_replays.audit.audit import audit
from tests.match.played import SECRET
from tests.replays import mini_audit, mini_reader
from tests.replays.corpus.edges import full
from tests.replays.corpus.sample import EXACT, UNVERIFIED, Said, diverged, of_replay
from tests.replays.forging import PUBLIC, SERVICE, Line, first, lines

ENDED: Final = Sealed(None, BY_OPERATOR, SECRET)
BEGUN: Final = lines()[: first(lines(), Chosen)]
"""A match in which the first choice is awaited."""


@pytest.mark.parametrize(
    ("begun", "last", "with_rules", "without"),
    [
        ([], ENDED, EXACT, UNVERIFIED),
        ([], SeatTaken(1), diverged("lifecycle", MOST_EVENTS), diverged("lifecycle", MOST_EVENTS)),
        (BEGUN, ENDED, diverged("result", MOST_EVENTS), diverged("result", MOST_EVENTS)),
        (BEGUN, Resumed(0), diverged("lifecycle", MOST_EVENTS), diverged("lifecycle", MOST_EVENTS)),
    ],
    ids=["an open match is ended", "a seat is taken", "a running match is ended", "a running match goes on"],
)
def test_event_10_000_is_the_seal_with_places_if_the_match_has_started(
    begun: list[Line], last: Any, with_rules: Said, without: Said
) -> None:
    """An open match has no places and is sealed with a reason; both kinds of readers agree."""
    replay = replace(full(last, begun=begun), perspective=None if last is ENDED else Watcher.JUDGE)
    data = of_replay(replay)
    audited = audit(data, PUBLIC)
    found = audited.divergence
    assert with_rules == (audited.verdict, found and found.check, found and found.event)
    assert without == mini_audit.audit(data, mini_reader.public_keys(SERVICE.public))
