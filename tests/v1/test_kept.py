"""The contract only grows: clients can rely on every line of it."""

from __future__ import annotations

import pytest

from tests.v1 import kept


def test_nothing_that_was_kept_has_changed_or_gone() -> None:
    """No field is removed, renumbered or retyped; no value of an enum, method, message or reservation is removed."""
    assert [] == sorted(set(kept.kept()) - set(kept.today())), "put it back; a change needs a new name and number"


def test_everything_new_is_kept_as_well() -> None:
    """A new line of the contract has to be kept, because only kept lines are compared."""
    assert [] == sorted(set(kept.today()) - set(kept.kept())), "python -m tests.v1.kept adds it"


def test_the_lines_stand_in_order_and_once() -> None:
    """Sorted lines make a diff show the additions."""
    assert sorted(set(kept.kept())) == kept.kept()


@pytest.mark.parametrize(
    "line",
    [
        "rollbook.v1.Event: message",
        "rollbook.v1.Event.sequence: 1 uint64",
        "rollbook.v1.Event.seat: 4 optional int32",
        "rollbook.v1.Event.happened: 6 oneof body rollbook.v1.Happened",
        "rollbook.v1.Sealed.Places.places: 1 repeated int32",
        "rollbook.v1.Choice.other: 1 oneof game google.protobuf.Any",
        "rollbook.v1.AbortReason.ABORT_REASON_EXPIRED: 4",
        "rollbook.v1.MatchService.Play: stream rollbook.v1.PlayRequest -> stream rollbook.v1.PlayResponse",
        "rollbook.v1.RefusalDetail.FactsEntry.value: 2 string",
        "rollbook.v1.Opened: reserved 12",
        "rollbook.v1.Opened: reserved 15",
        'rollbook.v1.Opened: reserved "raffzahn"',
        "rollbook.v1.RefusalReason: reserved 205",
        'rollbook.v1.RefusalReason: reserved "REFUSAL_REASON_MESSAGE_TOO_LARGE"',
    ],
)
def test_a_line_says_all_that_must_not_change(line: str) -> None:
    """The parameters have one line of each kind."""
    assert line in kept.today()


def test_a_reservation_ends_where_it_says() -> None:
    """An enum's descriptor includes the end of a range, a message's does not."""
    lines = kept.today()
    assert "rollbook.v1.Opened: reserved 16" not in lines
    assert "rollbook.v1.RefusalReason: reserved 206" not in lines
