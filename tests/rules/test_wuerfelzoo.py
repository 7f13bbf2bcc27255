"""Würfelzoo: material, setup, playing and throwing again, the rulings, and the caretaker."""

from __future__ import annotations

from collections import Counter

import pytest

from rollbook.rules.chance import Draw, FirstSeat, Throw
from rollbook.rules.game import OVER, Listed, ToChoose, Watcher
from rollbook.rules.refusals import Invalid, Reason
from rollbook.rules.wuerfelzoo import GAME
from rollbook.rules.wuerfelzoo.moves import FACES, SPECIES, Bear, Boar, Drawn, Fox, Play, Reroll, Rolled, Squirrel, Worm
from rollbook.rules.wuerfelzoo.turn_choices import TurnChoices
from rollbook.rules.wuerfelzoo.view import DieInFront
from tests.rules.positions_wuerfelzoo import after, bag, box, deal, dice, die, position, shows, unthrown
from tests.rules.questions_wuerfelzoo import illegal, plays, seen, turn

# Components ("Spielzubehör", "Hinweis zu den Würfeln", and the ruling on kinds)


def test_the_box_holds_fifty_dice_in_five_kinds_of_ten() -> None:
    """Identities run 0 to 49, ten of a kind, in the order of the ruling's table, because logs name dice by them."""
    material = GAME.components["dice"]
    assert isinstance(material, list)
    assert 50 == len(material)
    assert [["elephant", "elephant"], ["worm", "worm"], ["trap", "trap"]] == material[0] == material[9]
    assert [["bear", "bear"], ["squirrel", "squirrel"], ["trap", "trap"]] == material[10] == material[19]
    assert [["boar", "boar"], ["fox", "fox"], ["trap", "x2"]] == material[20] == material[29]
    assert [["elephant", "elephant"], ["fox", "fox"], ["squirrel", "squirrel"]] == material[30] == material[39]
    assert [["bear", "bear"], ["boar", "boar"], ["worm", "worm"]] == material[40] == material[49]


def test_every_animal_is_on_two_kinds_of_dice() -> None:
    """The published count: two kinds with two faces for each animal; 50 trap faces and 10 x2 among all dice."""
    count = Counter(face for faces in FACES for face in faces)
    assert dict.fromkeys(SPECIES, 40) | {"trap": 50, "x2": 10} == dict(count)


def test_two_to_five_seats_can_play_and_others_cannot() -> None:
    """The game is for two to five seats, and the refusal has these numbers."""
    assert [2, 3, 4, 5] == list(GAME.seats)
    for seats in (1, 6, True):
        with pytest.raises(Invalid) as caught:
            GAME.start({}, seats)
        assert Reason.SEATS_OUT_OF_RANGE == caught.value.reason


def test_every_choice_and_outcome_has_the_name_that_notation_gives_it() -> None:
    """Notation is derived from these names and fields, so old logs depend on them."""
    assert {
        "play": ["dice"],
        "reroll": ["dice"],
        "bear": ["die"],
        "boar": ["own", "other"],
        "fox": ["die"],
        "squirrel": ["target"],
        "worm": ["own", "target"],
        "first_seat": ["seat"],
        "draw": ["seat", "dice"],
        "roll": ["dice", "faces"],
    } == {name: list(kind.__dataclass_fields__) for name, kind in [*GAME.choices.items(), *GAME.outcomes.items()]}


# Setup of a round ("Spielvorbereitung")


@pytest.mark.parametrize(("seats", "dealt"), [(2, 12), (3, 12), (4, 12), (5, 10)])
def test_each_seat_draws_and_throws_its_dice_from_the_first_seat_on(seats: int, dealt: int) -> None:
    """Twelve dice a seat, ten with five seats; each draw and each throw is one event; faces are thrown by identity."""
    state = GAME.start({}, seats)
    assert Draw("first_seat", tuple(range(seats))) == GAME.awaited(state)
    state = after(state, GAME.outcome(state, (seats - 1,)))
    left = list(range(50))
    for number in range(seats):
        seat = (seats - 1 + number) % seats
        assert Draw("draw", tuple(left), dealt) == GAME.awaited(state)
        drawn = tuple(reversed(left[-dealt:]))
        assert Drawn(seat, drawn) == GAME.outcome(state, drawn)
        state = after(state, GAME.outcome(state, drawn))
        del left[-dealt:]
        thrown = tuple(sorted(drawn))
        assert Throw("roll", tuple(FACES[die] for die in thrown)) == GAME.awaited(state)
        faces = tuple(FACES[die][2] for die in thrown)
        assert Rolled(thrown, faces) == GAME.outcome(state, faces)
        state = after(state, GAME.outcome(state, faces))
        assert thrown == dice(state, seat)
    assert ToChoose(seats - 1) == GAME.awaited(state)
    assert tuple(left) == bag(state)
    assert turn(state)


def test_dice_are_open_to_everybody_and_a_drawn_die_shows_nothing_before_it_is_thrown() -> None:
    """All perspectives have the same view, and a drawn die has no face before its throw."""
    state = after(GAME.start({}, 2), FirstSeat(1), Drawn(1, tuple(range(12))))
    view = seen(state, Watcher.PUBLIC)
    assert view == seen(state, 0) == seen(state, 1) == seen(state, Watcher.JUDGE)
    assert ((), tuple(DieInFront(die, None) for die in range(12))) == view.dice
    assert tuple(range(12)) == view.thrown
    outcome = Rolled((1,), ("worm",))
    assert outcome == GAME.seen(state, outcome, Watcher.PUBLIC)


def test_view_shows_the_whole_table() -> None:
    """Seats' dice with faces, the middle with its owner, played x2, bag, box, uses left, points, round, places."""
    state = position(
        "boar x2 trap elephant",
        "bear worm",
        middle="fox",
        box=2,
        bag=3,
        points=(4, 9),
        options={"rounds_to": 50, "box": True},
    )
    view = seen(state, Watcher.PUBLIC)
    assert (1, 0, (4, 9), 0, ()) == (view.round, view.seat, view.points, view.uses, view.doubles)
    assert ("fox", state.middle, 1) == (view.species, view.middle, view.owner)
    assert (3, 2) == (len(view.bag), len(view.box))
    assert (1, 2) == view.places
    assert tuple(DieInFront(die, state.faces[die]) for die in dice(state, 1)) == view.dice[1]
    state = after(state, Play((die(state, 0, "boar"), die(state, 0, "x2"))))
    view = seen(state, 1)
    assert (2, 1, "boar", 0) == (view.uses, len(view.doubles), view.species, view.owner)


def test_view_names_no_seat_before_the_start_and_after_the_end() -> None:
    """No seat has to act then."""
    assert seen(GAME.start({}, 2), 0).seat is None
    state = position("elephant", "trap")
    assert seen(after(state, Play(dice(state, 0)))).seat is None


# "Würfel ausspielen"


def test_an_empty_middle_takes_any_number_of_one_species() -> None:
    """Section "Es liegen keine Würfel in der Tischmitte": at least one, all of one species."""
    state = position("worm worm worm fox trap", "trap")
    worms = dice(state, 0, "worm")
    assert [
        *[Play((worm,)) for worm in worms],
        Play(worms[:2]),
        Play((worms[0], worms[2])),
        Play(worms[1:]),
        Play(worms),
        Play(dice(state, 0, "fox")),
    ] == plays(state)


def test_example_michaela_replaces_one_elephant_by_three_of_four() -> None:
    """Example under "Die gleiche Tierart spielen": more of the same replace fewer, which go into the bag."""
    state = position("elephant elephant elephant elephant", "trap", middle="elephant")
    elephants = dice(state, 0)
    (lying,) = state.middle
    assert {2, 3, 4} == {len(play.dice) for play in plays(state)}
    assert Reason.COUNT_DOES_NOT_FIT == illegal(state, Play(elephants[:1]))
    state = after(state, Play(elephants[:3]))
    assert elephants[:3] == state.middle
    assert lying in bag(state)
    assert elephants[3:] == dice(state, 0)


def test_example_peter_michaela_and_rita_raise_two_squirrels_to_elephants() -> None:
    """Example under "Tiere einer größeren Art spielen": two bears, two elephants, and then nothing is larger."""
    state = position("bear bear worm", "elephant elephant worm", "boar boar bear bear", middle="squirrel squirrel")
    squirrels = state.middle
    state = after(state, Play(dice(state, 0, "bear")))
    assert set(squirrels) <= set(bag(state))
    worm = die(state, 0, "worm")
    state = after(state, Bear(worm), Rolled((worm,), (FACES[worm][0],)))
    bears = state.middle
    state = after(state, Play(dice(state, 1, "elephant")))
    assert set(bears) <= set(bag(state))
    assert ToChoose(2) == GAME.awaited(state)
    assert [] == plays(state)
    assert all(isinstance(choice, Reroll) for choice in GAME.legal(state))


def test_example_three_worms_give_one_die_away_once() -> None:
    """Example under "Die Eigenschaft der ausgespielten Tierart nutzen": three worms give one die away, not three."""
    state = position("worm worm worm fox", "trap", "trap")
    fox = die(state, 0, "fox")
    state = after(state, Play(dice(state, 0, "worm")))
    assert Listed((Worm(fox, 1), Worm(fox, 2))) == GAME.legal(state)
    state = position("worm worm worm fox bear", "trap", "trap")
    state = after(state, Play(dice(state, 0, "worm")))
    state = after(state, Worm(die(state, 0, "bear"), 2))
    assert ["bear", "trap"] == shows(state, 2)
    assert ToChoose(1) == GAME.awaited(state)


def test_example_michaela_lays_four_boars_on_two_and_wins() -> None:
    """Example there: without own dice left the boars' ability lapses, and the seat wins."""
    state = position("boar boar boar boar", "bear", middle="boar boar")
    state = after(state, Play(dice(state, 0)))
    assert OVER == GAME.awaited(state)
    assert (1, 2) == GAME.places(state)


def test_a_larger_species_must_have_exactly_as_many_dice() -> None:
    """A larger species replaces the middle only with exactly as many dice."""
    state = position("bear bear bear", "trap", middle="fox fox")
    bears = dice(state, 0)
    assert Reason.COUNT_DOES_NOT_FIT == illegal(state, Play(bears))
    assert Reason.COUNT_DOES_NOT_FIT == illegal(state, Play(bears[:1]))
    assert [Play(bears[:2]), Play((bears[0], bears[2])), Play(bears[1:])] == plays(state)


def test_dice_may_be_named_in_any_order() -> None:
    """Lists in choices are written ascending and accepted in any order."""
    state = position("worm worm x2 fox", "trap")
    named = (*dice(state, 0, "x2"), *dice(state, 0, "worm"))
    assert Play(named[::-1]) in turn(state)
    assert after(state, Play(tuple(sorted(named)))) == after(state, Play(named)) == after(state, Play(named[::-1]))
    assert after(state, Reroll(tuple(sorted(named)))) == after(state, Reroll(named[::-1]))


# "Neu würfeln"


def test_example_rita_throws_her_traps_and_one_of_two_squirrels_again() -> None:
    """Example under "Neu würfeln": any own dice may be thrown again, the middle stays, and the turn ends."""
    state = position(
        "elephant elephant trap trap squirrel squirrel",
        "elephant elephant elephant",
        "bear",
        middle="elephant elephant",
    )
    lying = state.middle
    assert [] == plays(state)
    thrown = tuple(sorted((*dice(state, 0, "trap"), die(state, 0, "squirrel"))))
    state = after(state, Reroll(thrown))
    assert Throw("roll", tuple(FACES[die] for die in thrown)) == GAME.awaited(state)
    assert not GAME.legal(state)
    state = after(state, Rolled(thrown, tuple(FACES[die][4] for die in thrown)))
    assert lying == state.middle
    assert ToChoose(1) == GAME.awaited(state)


def test_example_peter_throws_again_although_he_could_play() -> None:
    """Example there: a seat may reroll although it could play."""
    state = position("elephant elephant elephant worm", "trap", middle="elephant elephant")
    assert [Play(dice(state, 0, "elephant"))] == plays(state)
    worm = die(state, 0, "worm")
    assert Reroll((worm,)) in turn(state)
    state = after(state, Reroll((worm,)), Rolled((worm,), (FACES[worm][0],)))
    assert ToChoose(1) == GAME.awaited(state)


# "Die eigenen Tiere sind noch da!"


def test_own_animals_still_in_the_middle_go_into_the_bag_when_the_turn_begins() -> None:
    """The seat begins as in a new round: it lays any animals on the empty middle, or rerolls."""
    state = position("elephant worm", "trap", middle="")
    elephant, worm, trap = die(state, 0, "elephant"), die(state, 0, "worm"), die(state, 1, "trap")
    state = after(state, Play((elephant,)))
    assert (elephant,) == state.middle
    state = after(state, Reroll((trap,)), Rolled((trap,), ("trap",)))
    assert () == state.middle
    assert elephant in bag(state)
    assert ToChoose(0) == GAME.awaited(state)
    assert [Play((worm,)), Reroll((worm,))] == list(GAME.legal(state))


def test_animals_that_somebody_else_replaced_stay_replaced() -> None:
    """Only the seat's own animals leave the middle at the beginning of its turn."""
    state = position("elephant worm", "elephant elephant trap")
    elephant = die(state, 0, "elephant")
    state = after(state, Play((elephant,)), Play(dice(state, 1, "elephant")))
    assert 2 == len(state.middle)
    assert ToChoose(0) == GAME.awaited(state)
    assert [] == plays(state)


# Rulings of the page


def test_ruling_the_first_seat_is_drawn_anew_for_every_round() -> None:
    """Every round begins with chance naming the seat that starts, and with all dice in the bag."""
    state = position("worm", "elephant", options={"rounds_to": 7, "box": True}, middle="worm", owner=0, box=3)
    state = GAME.fold(state, [Reroll(dice(state, 0)), Rolled(dice(state, 0), ("worm",))])
    elephant = dice(state, 1)
    state = after(state, Play(elephant))
    assert Draw("first_seat", (0, 1)) == GAME.awaited(state)
    assert tuple(range(50)) == bag(state)
    assert ((), ()) == (box(state), state.middle)
    assert unthrown(state)
    assert [1, 0] == state.points
    assert 2 == state.round
    assert seen(state, 0).seat is None
    state = deal(state, 1, [range(12), range(12, 24)])
    assert ToChoose(1) == GAME.awaited(state)


def test_ruling_a_robbed_seat_wins_nothing_before_its_own_turn() -> None:
    """A seat that loses its last die to a fox goes on until its turn begins, and then the round ends with it."""
    state = position("fox trap", "elephant bear", "worm")
    state = after(state, Play(dice(state, 0, "fox")), Fox(die(state, 2, "worm")))
    assert ToChoose(1) == GAME.awaited(state)
    state = after(state, Play((die(state, 1, "elephant"),)))
    assert OVER == GAME.awaited(state)
    assert (2, 3, 1) == GAME.places(state)
    assert [0, 5, 0] == state.points


def test_ruling_a_robbed_seat_with_own_animals_in_the_middle_still_wins() -> None:
    """Step 0 comes first: its animals leave the middle, and then the round ends."""
    state = position("fox trap", "", "elephant", middle="worm", owner=1)
    lying = state.middle
    state = after(state, Reroll(dice(state, 0, "trap")), Rolled(dice(state, 0, "trap"), ("trap",)))
    assert OVER == GAME.awaited(state)
    assert () == state.middle
    assert set(lying) <= set(bag(state))
    assert (2, 1, 3) == GAME.places(state)


def test_ruling_a_robbed_seat_that_was_given_a_die_plays_on() -> None:
    """Only the beginning of its own turn counts: with a die received before, it plays on."""
    state = position("squirrel trap", "", bag=1)
    state = after(state, Play(dice(state, 0, "squirrel")), Squirrel(1))
    (drawn,) = bag(state)
    state = after(state, Drawn(1, (drawn,)), Rolled((drawn,), (FACES[drawn][0],)))
    assert ToChoose(1) == GAME.awaited(state)


def test_ruling_the_squirrels_target_is_another_seat() -> None:
    """The short table's "any player" means another seat, as in the long text."""
    state = position("squirrel trap", "trap")
    state = after(state, Play(dice(state, 0, "squirrel")))
    assert Listed((Squirrel(1),)) == GAME.legal(state)
    assert Reason.TARGET_IS_ONESELF == illegal(state, Squirrel(0))


def test_ruling_a_seat_with_only_traps_and_x2_can_only_reroll() -> None:
    """Traps and x2 dice cannot be laid without an animal."""
    state = position("trap trap x2", "worm")
    assert TurnChoices((), dice(state, 0, "x2"), dice(state, 0)) == turn(state)
    assert 7 == len(list(turn(state)))
    assert all(isinstance(choice, Reroll) for choice in turn(state))


# Caretaker


def test_caretaker_lays_the_fewest_dice_of_the_smallest_species() -> None:
    """The lowest dice, as few as may be laid, and no x2 with them."""
    state = position("squirrel squirrel fox elephant x2", "trap")
    assert Play(dice(state, 0, "squirrel")[:1]) == GAME.caretaker(state)
    state = position("squirrel squirrel squirrel fox fox elephant x2", "trap", middle="squirrel squirrel")
    assert Play(dice(state, 0, "squirrel")) == GAME.caretaker(state)
    state = position("worm squirrel squirrel fox fox fox elephant x2", "trap", middle="squirrel squirrel")
    assert Play(dice(state, 0, "fox")[:2]) == GAME.caretaker(state)


def test_caretaker_throws_traps_and_x2_again_when_nothing_can_be_laid() -> None:
    """All traps and x2 dice, or without any of them all dice."""
    state = position("worm trap x2 trap fox", "trap", middle="elephant elephant")
    assert Reroll(dice(state, 0, "trap", "x2")) == GAME.caretaker(state)
    state = position("worm fox", "trap", middle="elephant elephant")
    assert Reroll(dice(state, 0)) == GAME.caretaker(state)


@pytest.mark.parametrize("species", ["bear", "boar", "fox", "squirrel", "worm"])
def test_caretaker_uses_an_ability_in_the_first_legal_way(species: str) -> None:
    """The first use in sorted order that does not take a seat's last die."""
    state = position(f"{species} trap trap", "worm elephant", "boar boar")
    state = after(state, Play((die(state, 0, species),)))
    assert next(iter(GAME.legal(state))) == GAME.caretaker(state)


def test_caretaker_spares_the_last_die_of_a_seat_while_it_can() -> None:
    """A robbed seat wins when its turn begins, so the caretaker avoids that if it can."""
    state = position("fox trap", "elephant", "elephant elephant")
    state = after(state, Play(dice(state, 0, "fox")))
    assert Fox(dice(state, 2)[0]) == GAME.caretaker(state)
    state = position("fox trap", "elephant", "elephant")
    state = after(state, Play(dice(state, 0, "fox")))
    assert Fox(dice(state, 1)[0]) == GAME.caretaker(state)
    state = position("boar trap", "elephant", "elephant elephant")
    state = after(state, Play(dice(state, 0, "boar")))
    assert Boar(die(state, 0, "trap"), dice(state, 2)[0]) == GAME.caretaker(state)
