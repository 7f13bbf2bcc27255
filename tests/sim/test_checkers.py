"""The checkers excuse only losses that no service can prevent, and that the service has reported."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rollbook.match.chain import Entry
from rollbook.v1.events_pb2 import (
    ABORT_REASON_BY_OPERATOR,
    ABORT_REASON_EXPIRED,
    ABORT_REASON_LOG_LOST,
    AbortReason,
    Event,
    Sealed,
)
from tests.sim.checkers.checker import Ending

MATCH = "match"
SAID = frozenset({MATCH})
UNSAID = frozenset[str]()


def ending(reason: AbortReason.ValueType | None, harmed: frozenset[str], refused: frozenset[str]) -> Ending:
    """A match that was aborted for this reason, or played to its end."""
    played = Sealed(places=Sealed.Places(places=[1, 2]))
    sealed = played if reason is None else Sealed(aborted=Sealed.Aborted(reason=reason))
    log = [Entry(Event(sequence=1, sealed=sealed).SerializeToString())]
    return Ending({MATCH: log}, {}, harmed, 0.0, refused)


@pytest.mark.parametrize(
    ("reason", "refused", "excused"),
    [
        (ABORT_REASON_LOG_LOST, UNSAID, True),
        (ABORT_REASON_BY_OPERATOR, SAID, True),
        (ABORT_REASON_EXPIRED, SAID, True),
        (ABORT_REASON_BY_OPERATOR, UNSAID, False),
        (None, SAID, False),
    ],
)
def test_what_a_harmed_log_lacks_is_excused_only_if_somebody_was_told(
    reason: AbortReason.ValueType | None, refused: frozenset[str], excused: bool
) -> None:
    """Reported by the seal or by a refusal; a result after a lost end is never excused."""
    assert excused == ending(reason, frozenset({MATCH}), refused).excuses(MATCH)
    assert not ending(reason, frozenset(), refused).excuses(MATCH)


def test_a_log_that_was_begun_anew_is_excused_only_if_the_store_lost_the_first_one() -> None:
    """The opening request was repeated when neither log nor lobby had the match."""
    for harmed in (frozenset({MATCH}), frozenset[str]()):
        anew = replace(ending(None, harmed, UNSAID), begun_anew=frozenset({MATCH}))
        assert bool(harmed) == anew.excuses(MATCH)
