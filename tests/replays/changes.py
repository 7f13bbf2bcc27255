"""Changes to the log of a match, each with the check that finds it.

A stranger has our code and rewrites chain, closing links and footer, but has no key that a judge trusts. An operator
has the keys, so all signatures are valid, and only the content of the log reveals the change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rollbook.match.events import (
    Chosen,
    Forfeited,
    Happened,
    Opened,
    Ready,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Started,
    TimedOut,
    not_ready,
)
from rollbook.rules.allie_gator.moves import Drawn
from rollbook.rules.cant_stop.moves import Advance, Roll, Rolled, Stop
from rollbook_replays.audit.verdicts import Check
from tests.match.played import SECRET
from tests.replays.forging import (
    ENTROPY,
    SERVICE,
    Line,
    edit,
    first,
    put_together,
)

Change = Callable[[list[Line]], int]
"""Changes the lines in place and returns the index of the first wrong line."""


# Changes by strangers


def other_dice(found: list[Line]) -> int:
    index = first(found, Happened, lambda event: isinstance(event.outcome, Rolled), after=50)
    dice = found[index].event.outcome.dice
    return edit(found, index, outcome=Rolled((dice[0] % 6 + 1, *dice[1:])))


def another_first_seat(found: list[Line]) -> int:
    index = first(found, Happened)
    return edit(
        found, index, outcome=replace(found[index].event.outcome, seat=(found[index].event.outcome.seat + 1) % 3)
    )


def other_hidden_cards(found: list[Line]) -> int:
    index = first(found, Happened, lambda event: isinstance(event.outcome, Drawn))
    other = first(found, Happened, lambda event: isinstance(event.outcome, Drawn), after=index)
    cards = [found[at].event.outcome.cards for at in (index, other)]
    edit(found, index, outcome=replace(found[index].event.outcome, cards=cards[1]))
    edit(found, other, outcome=replace(found[other].event.outcome, cards=cards[0]))
    return index


def a_dropped_choice(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: isinstance(event.choice, Advance), after=30)
    del found[index]
    return index


def a_dropped_throw(found: list[Line]) -> int:
    index = first(found, Happened, lambda event: isinstance(event.outcome, Rolled), after=30)
    del found[index]
    return index


def a_dropped_readiness(found: list[Line]) -> int:
    index = first(found, Ready)
    del found[index]
    return first(found, Started)


def a_doubled_choice(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: isinstance(event.choice, Roll))
    found.insert(index, found[index])
    return index + 1


def a_doubled_throw(found: list[Line]) -> int:
    index = first(found, Happened, lambda event: isinstance(event.outcome, Rolled), after=20)
    if isinstance(found[index + 1].event, Happened):
        index += 1
    found.insert(index, found[index])
    return index + 1


def a_reordered_pair(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: isinstance(event.choice, Advance), after=30)
    found[index], found[index + 1] = found[index + 1], found[index]
    return index


def another_result(found: list[Line]) -> int:
    places = found[-1].event.places
    return edit(found, len(found) - 1, places=(*places[1:], places[0]))


def a_match_without_a_result(found: list[Line]) -> int:
    return edit(found, len(found) - 1, places=None, aborted="by_operator")


def an_illegal_choice(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: isinstance(event.choice, Advance), after=30)
    return edit(found, index, choice=Advance((2, 12)))


def a_choice_of_another_seat(found: list[Line]) -> int:
    index = first(found, Chosen, after=30)
    return edit(found, index, seat=(found[index].event.seat + 1) % 3)


def a_time_that_falls(found: list[Line]) -> int:
    index = 60
    found[index] = replace(found[index], time_ms=found[index - 1].time_ms - 1)
    return index


def a_wait_that_was_longer(found: list[Line]) -> int:
    index = first(found, Chosen, after=40)
    found[index] = replace(found[index], time_ms=found[index].time_ms + 1)
    return index


def a_caretakers_choice_as_a_players(found: list[Line]) -> int:
    return edit(found, first(found, Chosen, lambda event: event.by_caretaker), by_caretaker=False)


def a_players_choice_as_a_caretakers(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: not event.by_caretaker, after=20)
    return edit(found, index, by_caretaker=True, charged_ms=0)


def another_choice_of_the_caretaker(found: list[Line]) -> int:
    index = first(found, Chosen, lambda event: event.by_caretaker and isinstance(event.choice, Stop))
    return edit(found, index, choice=Roll())


def another_secret(found: list[Line]) -> int:
    return edit(found, len(found) - 1, secret=bytes(32))


def something_behind_the_seal(found: list[Line]) -> int:
    found.append(replace(found[-1]))
    return len(found) - 1


def no_seal(found: list[Line]) -> int:
    del found[-1]
    return len(found) - 1


STRANGERS: list[tuple[Check, Change, str]] = [
    (Check.DRAWS, other_dice, "cant_stop"),
    (Check.DRAWS, another_first_seat, "cant_stop"),
    (Check.HIDDEN, other_hidden_cards, "allie_gator"),
    (Check.CHOICES, a_dropped_choice, "cant_stop"),
    (Check.TURNS, a_dropped_throw, "cant_stop"),
    (Check.LIFECYCLE, a_dropped_readiness, "cant_stop"),
    (Check.TURNS, a_doubled_choice, "cant_stop"),
    (Check.TURNS, a_doubled_throw, "cant_stop"),
    (Check.CHOICES, a_reordered_pair, "cant_stop"),
    (Check.RESULT, another_result, "cant_stop"),
    (Check.RESULT, a_match_without_a_result, "cant_stop"),
    (Check.CHOICES, an_illegal_choice, "cant_stop"),
    (Check.TURNS, a_choice_of_another_seat, "cant_stop"),
    (Check.CLOCKS, a_time_that_falls, "cant_stop"),
    (Check.CLOCKS, a_wait_that_was_longer, "cant_stop"),
    (Check.CARETAKER, a_caretakers_choice_as_a_players, "cant_stop"),
    (Check.CARETAKER, a_players_choice_as_a_caretakers, "cant_stop"),
    (Check.CARETAKER, another_choice_of_the_caretaker, "cant_stop"),
    (Check.COMMITMENT, another_secret, "cant_stop"),
    (Check.SEAL, something_behind_the_seal, "cant_stop"),
    (Check.SEAL, no_seal, "cant_stop"),
]


# Changes by operators


def entropy_that_was_not_committed(found: list[Line]) -> int:
    return edit(found, first(found, Ready), entropy=ENTROPY[::-1])


def entropy_that_is_not_revealed(found: list[Line]) -> int:
    return edit(found, first(found, Ready), entropy=b"")


def readiness_for_other_seats(found: list[Line]) -> int:
    opened = found[0].event
    assert isinstance(opened, Opened)
    index = first(found, Ready)
    earlier = put_together(found[:3], SERVICE).heads[0].link
    return edit(found, index, closing_link=earlier)


def a_second_start(found: list[Line]) -> int:
    index = first(found, Started) + 4
    found.insert(index, replace(found[index - 1], event=Started(), request=b""))
    return index


def a_second_opening(found: list[Line]) -> int:
    found.insert(1, found[0])
    return 1


def a_seat_left_after_closing(found: list[Line]) -> int:
    index = first(found, Ready)
    found.insert(index, replace(found[index - 1], event=SeatLeft(0), request=b""))
    return index


def a_seat_taken_after_closing(found: list[Line]) -> int:
    index = first(found, Started)
    found.insert(index, replace(found[index - 1], event=SeatTaken(1, b"another"), request=b""))
    return index


def a_player_on_two_seats(found: list[Line]) -> int:
    index = first(found, SeatTaken, after=1)
    return edit(found, index, player=found[1].event.player)


def a_forfeit_without_time_outs(found: list[Line]) -> int:
    index = first(found, Chosen, after=30)
    found.insert(index, replace(found[index - 1], event=Forfeited(0), request=b""))
    return index


def a_time_out_before_its_time(found: list[Line]) -> int:
    index = first(found, TimedOut)
    event = found[index].event
    assert isinstance(event, TimedOut)
    early = found[index].time_ms - 10_000
    found[index] = replace(
        found[index], time_ms=early, event=replace(event, not_before_ms=early, charged_ms=event.charged_ms - 10_000)
    )
    return index


def a_time_out_that_came_before_it_says(found: list[Line]) -> int:
    index = first(found, TimedOut)
    event = found[index].event
    assert isinstance(event, TimedOut)
    found[index] = replace(
        found[index], time_ms=event.not_before_ms - 1, event=replace(event, charged_ms=event.charged_ms - 101)
    )
    return index


def a_time_out_of_another_seat(found: list[Line]) -> int:
    index = first(found, TimedOut)
    return edit(found, index, seat=(found[index].event.seat + 1) % 3)


def a_pardon_longer_than_the_wait(found: list[Line]) -> int:
    return edit(found, first(found, Resumed), not_charged_ms=10_000_000)


def a_wait_charged_by_less(found: list[Line]) -> int:
    index = first(found, Chosen, after=30)
    return edit(found, index, charged_ms=found[index].event.charged_ms - 1)


def an_abort_for_a_seat_that_was_ready(found: list[Line]) -> int:
    index = first(found, Started)
    found[index:] = [replace(found[index], event=Sealed(None, "not_ready:1", SECRET))]
    return index


def an_abort_before_the_time_to_get_ready_was_over(found: list[Line]) -> int:
    index = first(found, Ready, lambda event: event.seat == 1)
    taken = {line.event.seat for line in found if isinstance(line.event, SeatTaken)}
    ready = {line.event.seat for line in found[:index] if isinstance(line.event, Ready)}
    event = Sealed(None, not_ready(sorted(taken - ready)), SECRET)
    found[index:] = [replace(found[index - 1], event=event, request=b"")]
    return index


def a_request_that_was_made_twice(found: list[Line]) -> int:
    index = first(found, Chosen, after=60)
    found[index] = replace(found[index], request=found[1].request)
    return index


def a_request_on_a_throw(found: list[Line]) -> int:
    index = first(found, Happened, after=60)
    found[index] = replace(found[index], request=bytes(16))
    return index


OPERATORS: list[tuple[Check, Change]] = [
    (Check.ENTROPY, entropy_that_was_not_committed),
    (Check.ENTROPY, entropy_that_is_not_revealed),
    (Check.ENTROPY, readiness_for_other_seats),
    (Check.LIFECYCLE, a_second_start),
    (Check.LIFECYCLE, a_seat_left_after_closing),
    (Check.LIFECYCLE, a_seat_taken_after_closing),
    (Check.LIFECYCLE, a_player_on_two_seats),
    (Check.LIFECYCLE, a_forfeit_without_time_outs),
    (Check.CONTAINER, a_second_opening),
    (Check.CLOCKS, a_time_out_before_its_time),
    (Check.CLOCKS, a_time_out_that_came_before_it_says),
    (Check.TURNS, a_time_out_of_another_seat),
    (Check.CLOCKS, a_pardon_longer_than_the_wait),
    (Check.CLOCKS, a_wait_charged_by_less),
    (Check.RESULT, an_abort_for_a_seat_that_was_ready),
    (Check.CLOCKS, an_abort_before_the_time_to_get_ready_was_over),
    (Check.LIFECYCLE, a_request_that_was_made_twice),
    (Check.LIFECYCLE, a_request_on_a_throw),
]
