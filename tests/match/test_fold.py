"""The rules of every table: seats, readiness, time-outs, forfeits, the seal."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rollbook.match.events import (
    Chosen,
    Event,
    Forfeited,
    Opened,
    Ready,
    Resigned,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Started,
    TimedOut,
)
from rollbook.match.fold import MOST_EVENTS, Breach, Misplaced
from rollbook.rules.cant_stop.moves import Roll, Stop
from rollbook.rules.refusals import Illegal
from tests.match.table import SECRET, Table


def misplaced(table: Table, event: Event) -> str:
    """Return the reason why the fold refuses the event; the match stays unchanged."""
    before = vars(table.match.copy())
    with pytest.raises((Misplaced, Illegal)) as refused:
        table.match.take(event)
    assert before == vars(table.match)
    return str(refused.value)


def time_out_turn(table: Table) -> None:
    """Time out the awaited seat's turn, and let its caretaker play the rest."""
    seat = table.awaited_seat
    table.take(TimedOut(seat))
    if table.match.must_forfeit is not None:
        table.take(Forfeited(seat)).chance()
    while not table.match.must_be_sealed and table.awaited_seat == seat:
        table.choose()


def test_seats_can_be_left_and_taken_again_until_all_are_taken() -> None:
    """The last seat closes them; then no seat can be taken or left."""
    table = Table(seats=2).take(SeatTaken(1), SeatLeft(1), SeatTaken(1))
    assert "seat 1 is taken already" == misplaced(table, SeatTaken(1))
    assert "seat 0 is empty" == misplaced(table, SeatLeft(0))
    assert "there is no seat 2" == misplaced(table, SeatTaken(2))
    assert "there is no seat -1" == misplaced(table, SeatTaken(-1))
    assert "there is no seat -1" == misplaced(table, SeatLeft(-1))
    assert "there is no seat 9" == misplaced(table, SeatLeft(9))
    table.take(SeatTaken(0))
    assert "no seat can be left once all are taken" == misplaced(table, SeatLeft(0))


def test_readiness_comes_after_the_seats_and_before_the_start() -> None:
    """Entropy is revealed only after all seats have chosen theirs."""
    table = Table(seats=2).take(SeatTaken(0))
    assert "a seat can get ready only once all seats are taken" == misplaced(table, Ready(0))
    table.take(SeatTaken(1), Ready(1))
    assert "seat 1 is ready already" == misplaced(table, Ready(1))
    assert "seat 0 is not ready" == misplaced(table, Started())
    assert "16 to 64" in misplaced(table, Ready(0, b"short"))
    table.take(Ready(0, bytes(16)), Started())
    assert "the match has started already" == misplaced(table, Started())


@pytest.mark.parametrize("event", [Chosen(0, Stop()), TimedOut(0), Resigned(0), Resumed(), Forfeited(0)])
def test_nothing_is_played_before_the_start(event: Event) -> None:
    """A match has no turns before all seats are ready."""
    assert "the match has not started" == misplaced(Table(seats=2), event)


def test_a_match_is_opened_once() -> None:
    """A second event 1 is refused."""
    table = Table()
    assert isinstance(table.opened, Opened)
    assert "a match is opened once" == misplaced(table, table.opened)


def test_only_the_awaited_seat_chooses() -> None:
    """The table refuses a choice of another seat, the game an illegal one."""
    table = Table().start()
    seat = table.awaited_seat
    other = 1 - seat
    assert f"it is the turn of seat {seat}, not of seat {other}" == misplaced(table, Chosen(other, Roll()))
    assert "not what the match awaits" in misplaced(table, Chosen(seat, Roll()))


@pytest.mark.parametrize("seat", [-1, 3, 2**31 - 1])
@pytest.mark.parametrize("awaits_chance", [False, True])
def test_a_seat_that_the_match_does_not_have_breaks_the_lifecycle_before_it_breaks_the_turn(
    seat: int, *, awaits_chance: bool
) -> None:
    """The audit reports the first failing step, and the step about seats comes before the turns."""
    table = Table(seats=3)
    seats = range(3)
    table.take(*[SeatTaken(taken) for taken in seats], *[Ready(ready) for ready in seats], Started())
    if not awaits_chance:
        table.chance()
    events: tuple[Event, ...] = (Chosen(seat, Stop()), TimedOut(seat), Forfeited(seat), Resigned(seat))
    for event in events:
        with pytest.raises(Misplaced, match=f"there is no seat {seat}") as refused:
            table.match.take(event)
        assert Breach.LIFECYCLE is refused.value.breach


def test_a_refused_choice_leaves_the_turn_where_it_was() -> None:
    """The turn stays where it was, even at the first choice of a turn after a time-out."""
    table = Table(seats=3).start()
    time_out_turn(table)
    late = table.match.turn_of
    assert table.awaited_seat != late
    misplaced(table, Chosen(table.awaited_seat, Roll()))
    misplaced(table, Chosen(table.awaited_seat, Stop(), by_caretaker=True))
    assert late == table.match.turn_of


def test_the_caretaker_chooses_only_for_absent_seats_and_only_what_it_would() -> None:
    """A player's choice cannot pass as a caretaker's, nor the reverse."""
    table = Table().start()
    seat = table.awaited_seat
    first, *others = table.match.game.legal(table.match.state)
    assert f"the seat itself chooses for seat {seat} here" == misplaced(table, Chosen(seat, first, by_caretaker=True))
    table.take(TimedOut(seat))
    assert f"its caretaker chooses for seat {seat} here" == misplaced(table, Chosen(seat, first))
    assert others
    assert "the caretaker would choose" in misplaced(table, Chosen(seat, others[0], by_caretaker=True))
    table.take(Chosen(seat, first, by_caretaker=True))


def test_a_timed_out_turn_ends_with_the_turn() -> None:
    """In its next turn the seat chooses for itself again."""
    table = Table().start()
    seat = table.awaited_seat
    time_out_turn(table)
    table.until_turn_of(seat)
    assert not table.match.played_by_caretaker(seat)
    assert f"seat {1 - seat} is not awaited" in misplaced(table, TimedOut(1 - seat))
    table.take(TimedOut(seat))
    assert "the caretaker plays for seat" in misplaced(table, TimedOut(seat))


def test_three_turns_in_a_row_timed_out_forfeit_the_seat() -> None:
    """The forfeit follows the third time-out at once, and with two seats also the seal."""
    table = Table(seats=3).start()
    seat = table.awaited_seat
    for _ in range(2):
        time_out_turn(table)
        table.until_turn_of(seat)
    assert "has not timed out 3 turns in a row" in misplaced(table, Forfeited(seat))
    table.take(TimedOut(seat))
    caretaker = table.match.game.caretaker(table.match.state)
    assert "forfeits" in misplaced(table, Chosen(seat, caretaker, by_caretaker=True))
    table.take(Forfeited(seat))
    table.until_turn_of(seat)
    assert table.match.played_by_caretaker(seat)


def test_a_turn_played_in_time_ends_the_row_of_time_outs() -> None:
    """A turn in time ends the row, because only consecutive time-outs count."""
    table = Table(seats=3).start()
    seat = table.awaited_seat
    for _ in range(2):
        time_out_turn(table)
        table.until_turn_of(seat)
    table.until_turn_of(seat)
    table.take(TimedOut(seat))
    assert table.match.must_forfeit is None


def test_with_one_player_left_the_match_is_sealed_with_that_player_first() -> None:
    """A seat that gave up later ranks above one that gave up earlier."""
    table = Table(seats=3).start()
    table.take(Resigned(2), Resigned(0))
    assert table.match.must_be_sealed
    assert "only its seal may follow" in misplaced(table, Resumed())
    assert (2, 1, 3) == table.match.places()
    table.seal()
    assert "nothing follows the seal" == misplaced(table, Resumed())


def test_a_seat_gives_up_once() -> None:
    """A second resignation is refused."""
    table = Table(seats=3).start().take(Resigned(1))
    assert "seat 1 has given up already" == misplaced(table, Resigned(1))
    assert "there is no seat 3" == misplaced(table, Resigned(3))


def test_a_forfeited_seat_ranks_last_also_where_its_caretaker_wins_the_game() -> None:
    """Seats that did not forfeit come first."""
    table = Table(seats=3).start().take(Resigned(0)).play_out()
    sealed = table.match.sealed
    assert sealed is not None
    assert sealed.places is not None
    assert 3 == sealed.places[0]


@pytest.mark.parametrize("places", [None, (), (1, 1), (2, 1, 3)])
def test_a_wrong_result_is_refused(places: Sequence[int] | None) -> None:
    """The result follows from the fold, not from the event."""
    table = Table(seats=3).start().take(Resigned(2), Resigned(1))
    event = Sealed(tuple(places) if places is not None else None, None, SECRET)
    assert "the places are [1, 2, 3]" in misplaced(table, event)


def test_a_match_under_way_has_no_result_but_can_be_aborted() -> None:
    """An abort has a reason instead of places, and may come at any time."""
    table = Table().start()
    assert "not over" in misplaced(table, Sealed((1, 2), None, SECRET))
    table.take(Sealed(None, "log_lost", SECRET))
    assert table.match.sealed is not None


def test_the_last_event_of_a_match_that_does_not_end_is_the_seal() -> None:
    """No log is longer than MOST_EVENTS; the standing decides."""
    table = Table("wuerfelzoo", seats=2, options={"rounds_to": 999}).start()
    while not table.match.must_be_sealed:
        if table.match.sequence < MOST_EVENTS - 1:
            table.take(Resumed())
    table.seal()
    assert MOST_EVENTS == table.match.sequence


def test_the_last_event_of_a_match_that_never_starts_is_the_seal_as_well() -> None:
    """A match without a start has no places."""
    table = Table(seats=2)
    while table.match.sequence < MOST_EVENTS - 1:
        table.take(SeatTaken(0), SeatLeft(0))
    for event in (SeatTaken(1), SeatLeft(0), Started()):
        assert "only its seal may follow" in misplaced(table, event)
    assert "no result" in misplaced(table, Sealed((1, 1), None, SECRET))
    table.take(Sealed(None, "by_operator", SECRET))
    assert MOST_EVENTS == table.match.sequence


def test_seats_that_wait_are_named_by_a_seal_that_says_not_ready() -> None:
    """Once all seats are ready the list would be empty, so this reason is impossible."""
    table = Table(seats=2).take(SeatTaken(0), SeatTaken(1), Ready(0), Ready(1))
    for reason in ("not_ready", "not_ready:"):
        assert "are not seats" in misplaced(table, Sealed(None, reason, SECRET))
