"""Terms of event 1 and facts of seats: expiry, seats that were not ready, bots of the house."""

from __future__ import annotations

import pytest

from rollbook.match.commands import AbortUnready, Origin, TakeSeat
from rollbook.match.decide import Decision, decide
from rollbook.match.events import EXPIRED, Sealed, SeatTaken, Terms
from rollbook.match.fold import Misplaced
from tests.match.played import Played

EXPIRING = Terms(open_seconds=60, idle_seconds=3_600)


def expired_after(played: Played, milliseconds: int) -> Sealed:
    """Return the seal of a match after this time without an event."""
    decision = Decision(
        played.ledger, Origin(played.ledger.time_ms + milliseconds), Sealed(None, EXPIRED, played.ledger.secret)
    )
    assert isinstance(decision.entries[0].event, Sealed)
    return decision.entries[0].event


@pytest.mark.parametrize("seats", [0, 1])
def test_a_match_with_free_seats_may_expire_after_its_open_seconds(seats: int) -> None:
    """Counted from the last event of any kind, exact to the millisecond."""
    played = Played(terms=EXPIRING)
    for seat in range(seats):
        played.append(decide(played.ledger, TakeSeat(played.by(f"p{seat}"))))
    with pytest.raises(Misplaced, match="not been left alone"):
        expired_after(played, 59_999)
    assert EXPIRED == expired_after(played, 60_000).aborted


def test_a_match_without_a_clock_may_expire_after_its_idle_seconds() -> None:
    """Only after the start: while seats get ready their own limit applies."""
    played = Played(terms=EXPIRING).sit()
    with pytest.raises(Misplaced, match="does not expire while its seats get ready"):
        expired_after(played, 10**9)
    played = Played(terms=EXPIRING).start()
    with pytest.raises(Misplaced, match="not been left alone"):
        expired_after(played, 3_599_999)
    assert EXPIRED == expired_after(played, 3_600_000).aborted


@pytest.mark.parametrize("terms", [Terms(), Terms(turn_seconds=30, open_seconds=60, idle_seconds=3_600)])
def test_a_match_with_a_clock_or_without_such_terms_never_expires(terms: Terms) -> None:
    """Clocks end matches with a clock; matches without such terms are simulated."""
    with pytest.raises(Misplaced, match="not been left alone"):
        expired_after(Played(terms=terms).start(), 10**12)


def test_a_match_that_is_over_does_not_expire() -> None:
    """The result of a finished match stays."""
    played = Played(terms=EXPIRING).start()
    match = played.ledger.match
    match.forfeited.append(0)
    match.must_be_sealed = True
    with pytest.raises(Misplaced, match="the match is over, and its places are"):
        expired_after(played, 3_600_000)


def test_every_seat_that_is_not_ready_is_named() -> None:
    """Ascending; a list with fewer, more or other seats is refused."""
    played = Played(seats=4).sit()
    played.append(played.ready(1))
    due = Origin(played.ledger.closed_ms + 20_000)
    sealed = decide(played.ledger, AbortUnready(due)).after.match.sealed
    assert sealed is not None
    assert "not_ready:0,2,3" == sealed.aborted
    for named in ("0", "0,2", "0,2,3,1", "3,2,0", "0,1,2,3", "00,2,3", ""):
        with pytest.raises(Misplaced, match=f"are not seats {named}$"):
            Decision(played.ledger, due, Sealed(None, f"not_ready:{named}", played.ledger.secret))


def test_a_bot_of_the_house_is_named_in_its_event() -> None:
    """The event `seat_taken` of a bot has a mark that survives encoding; other players' events have none."""
    played = Played()
    for player, house in (("p0", True), ("p1", False)):
        decision = played.append(decide(played.ledger, TakeSeat(played.by(player), house=house)))
        event = decision.entries[0].event
        assert isinstance(event, SeatTaken)
        assert house is event.house
    assert played.ledger.players == played.refolded().players
