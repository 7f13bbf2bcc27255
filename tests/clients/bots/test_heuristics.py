"""The built-in heuristics in positions with an obvious choice."""

from __future__ import annotations

from typing import Any

import pytest

from rollbook.rules.allie_gator.moves import GIFT, RAISE, Card, Gift, Number, Raise, Snap
from rollbook.rules.allie_gator.state import CHOOSE
from rollbook.rules.catalogue import find
from rollbook.rules.raffzahn.moves import Pass, Roll, Rolled, Surrender, Take, mask
from rollbook.rules.raffzahn.state import ROLL
from rollbook.rules.wuerfelzoo.moves import Bear, Boar, Fox, Play, Reroll, Squirrel, Worm
from rollbook.rules.wuerfelzoo.state import NOBODY, TABLE, TURN, USE
from rollbook_clients.bots import catalogue
from rollbook_clients.bots.bot import Seat


def chosen(name: str, state: Any, seats: int, options: dict[str, Any] | None = None) -> Any:
    """Return the choice of the game's heuristic for seat 0."""
    game = find(name)
    seat = Seat(game, game.settle(options or {}, seats), seats, number=0, seed=0)
    return catalogue.find("heuristic").create(seat).choose(game.view(state, 0), game.legal(state))


# Raffzahn


def thrown(
    dice: tuple[str, str, str],
    *,
    throws: int = 1,
    open_tiles: tuple[int, ...] = (),
    safe_tiles: tuple[int, ...] = (),
    rival: tuple[int, ...] = (),
    gone: tuple[int, ...] = (),
    options: dict[str, Any] | None = None,
) -> Any:
    """Return a state after this many throws of seat 0, with these dice."""
    game = find("raffzahn")
    state = game.start(options or {}, 3)
    state.open_tiles[0] = mask(open_tiles)
    state.safe_tiles[0] = mask(safe_tiles)
    state.open_tiles[1] = mask(rival)
    state.middle &= ~mask((*open_tiles, *safe_tiles, *rival, *gone))
    state.stage = ROLL
    state.throws = throws - 1
    game.play(state, Rolled(dice))
    return state


def raffzahn(dice: tuple[str, str, str], **table: Any) -> Any:
    """Return the choice after such throws."""
    return chosen("raffzahn", thrown(dice, **table), 3, table.get("options"))


def test_a_high_tile_is_taken_at_once_and_laid_safe_where_that_is_allowed() -> None:
    """40 has 7 teeth, and no throw has a higher expected value."""
    assert Take(40, safe=False) == raffzahn(("30", "5", "5"))
    assert Take(40, safe=True) == raffzahn(("30", "5", "5"), open_tiles=(1, 2, 3))


def test_for_a_low_tile_the_dice_are_thrown_again() -> None:
    """After 10, 1 and 1 two throws are left, and 12 has only 3 teeth."""
    assert isinstance(raffzahn(("10", "1", "1")), Roll)


def test_on_the_third_throw_what_is_there_is_taken() -> None:
    """Even a tile with few teeth is taken on the third throw."""
    assert Take(12, safe=False) == raffzahn(("10", "1", "1"), throws=3)


def test_a_rivals_tile_is_worth_more_than_one_of_the_middle() -> None:
    """With the same throw 12 of the middle is not worth it, but 12 of a rival counts half as much again."""
    assert isinstance(raffzahn(("10", "1", "1")), Roll)
    assert Take(12, safe=False) == raffzahn(("10", "1", "1"), rival=(12,))


def test_a_seat_without_a_hit_passes_rather_than_risk_much_for_little() -> None:
    """Only tile 1 is left, and a miss on the third throw would cost the seat's only tile, with 7 teeth."""
    gone = tuple(range(2, 40))
    assert Pass() == raffzahn(("20", "1", "1"), throws=2, safe_tiles=(40,), gone=gone)


def test_as_few_teeth_as_possible_are_given_up_and_safe_tiles_last() -> None:
    """Three teeth are paid exactly if possible; of equal payments the heuristic keeps the safe tiles."""
    assert Surrender((12,)) == raffzahn(("30", "1", "1"), throws=3, open_tiles=(12, 40), gone=(32,))
    assert Surrender((13,)) == raffzahn(("30", "1", "1"), throws=3, open_tiles=(13,), safe_tiles=(12,), gone=(32,))


def test_the_likeliest_tile_is_announced() -> None:
    """With yellow 30 kept, 6 of 36 throws of the blue dice make 35, more than any other tile."""
    assert Roll((1, 2), 35) == raffzahn(("30", "star", "1"), options={"announce": True})
    assert Roll((1, 2)) == raffzahn(("30", "star", "1"))


# Würfelzoo


def zoo_state(*rows: dict[int, str], middle: tuple[int, ...] = (), species: str = "", uses: int = 0) -> Any:
    """Return a state with these dice and faces in front of the seats, and dice of seat 1 in the middle."""
    state = find("wuerfelzoo").start({}, len(rows))
    for seat, row in enumerate(rows):
        for die, face in row.items():
            state.where[die], state.faces[die] = seat, face
    for die in middle:
        state.where[die], state.faces[die] = TABLE, species
    state.middle, state.species, state.owner = middle, species, (0 if uses else 1) if middle else NOBODY
    state.uses = uses
    state.stage = USE if uses else TURN
    return state


def test_the_largest_group_is_laid_with_all_doubles() -> None:
    """Three squirrels and an x2 rather than one elephant."""
    own = {0: "elephant", 10: "squirrel", 11: "squirrel", 12: "squirrel", 20: "x2", 1: "trap"}
    assert Play((10, 11, 12, 20)) == chosen("wuerfelzoo", zoo_state(own, {2: "worm"}), 2)


def test_of_equal_groups_worms_go_first_for_they_take_others_along() -> None:
    """Worms are laid first, because two worms give a third die away."""
    own = {0: "worm", 1: "worm", 2: "elephant", 3: "elephant", 4: "trap"}
    assert Play((0, 1)) == chosen("wuerfelzoo", zoo_state(own, {5: "worm"}), 2)


def test_without_a_play_all_but_the_largest_group_and_the_doubles_are_thrown_again() -> None:
    """Three elephants are in the middle, and two bears cannot beat them."""
    own = {10: "bear", 11: "bear", 12: "trap", 13: "squirrel", 20: "x2"}
    state = zoo_state(own, {5: "worm"}, middle=(0, 1, 2), species="elephant")
    assert Reroll((12, 13)) == chosen("wuerfelzoo", state, 2)


@pytest.mark.parametrize(
    ("species", "expected"),
    [
        ("bear", Bear(1)),  # the own trap
        ("boar", Boar(1, 10)),  # the own trap for a squirrel to go with two others
        ("fox", Fox(10)),  # from the seat with fewer dice, but not the last die of the third
        ("squirrel", Squirrel(2)),  # to the seat that is nearest to its end
        ("worm", Worm(1, 2)),  # the trap, to the same
    ],
)
def test_abilities_get_rid_of_traps_and_turn_against_whoever_is_nearest_to_the_end(species: str, expected: Any) -> None:
    """A fox never takes a last die, which would lose the round."""
    rows = ({1: "trap", 11: "squirrel", 12: "squirrel"}, {10: "squirrel", 2: "trap"}, {3: "trap"})
    state = zoo_state(*rows, middle=(40,), species=species, uses=1)
    assert expected == chosen("wuerfelzoo", state, 3)


# Allie Gator


def alligators_state(
    hand: tuple[int, ...],
    *,
    targets: tuple[int, int],
    laid: tuple[tuple[int, ...], tuple[int, ...]] = ((), ()),
    rival: tuple[int, ...] = (1, 2, 3, 4, 5),
    chip: int = 0,
) -> Any:
    """Return a state of two seats with seat 0 on turn; all other cards are in the stock."""
    state = find("allie_gator").start({}, 2)
    state.hands = [sorted(map(Card, hand)), sorted(map(Card, rival))]
    state.targets = [[Card(target)] for target in targets]
    state.laid = [list(map(Card, cards)) for cards in laid]
    for cards in (*state.hands, *state.targets, *state.laid):
        for card in cards:
            state.stock.remove(card)
    state.chip = chip
    state.stage = CHOOSE
    return state


def test_a_pile_is_closed_against_the_next_seat_when_the_other_is_closed_already() -> None:
    """Ten cards are at the chip for the next snap: a high card under 69 leaves little room, a low one much."""
    laid = ((2, 3, 4, 5, 6, 7, 8, 9, 10), (62, 63))
    state = alligators_state((31, 40, 50, 60, 68), targets=(69, 64), laid=laid, rival=(20, 21, 22, 23, 24))
    choice = chosen("allie_gator", state, 2)
    assert isinstance(choice, Number)
    assert (0, True) == (choice.pile, choice.card >= 60)


def test_a_cheap_pile_is_snapped_rather_than_a_dear_one_left_to_come() -> None:
    """The pile at the chip has only its target: one penalty card, when no card can be played."""
    state = alligators_state((50, 51, 52, 53, 54), targets=(20, 30))
    assert isinstance(chosen("allie_gator", state, 2), Snap)


def test_a_special_card_is_better_than_a_dear_pile() -> None:
    """A special card costs one penalty card instead of eight."""
    laid = ((2, 3, 4, 5, 6, 7, 8), (20, 21))
    state = alligators_state((50, 51, 52, 53, GIFT), targets=(9, 22), laid=laid, rival=(11, 12, 13, 14, 15))
    assert isinstance(chosen("allie_gator", state, 2), Gift)
    raised = alligators_state((50, 51, 52, 53, RAISE), targets=(9, 22), laid=laid, rival=(11, 12, 13, 14, 15))
    assert isinstance(chosen("allie_gator", raised, 2), Raise)


def test_a_gift_goes_to_a_rival_with_a_card() -> None:
    """A gift with an effect is worth more than one without."""
    laid = ((2, 3, 4, 5, 6, 7, 8), (20, 21))
    state = alligators_state((50, 51, 52, 53, GIFT), targets=(9, 22), laid=laid, rival=(11, 12, 13, 14, 15))
    gift = chosen("allie_gator", state, 2)
    assert isinstance(gift, Gift)
    assert 1 == gift.target
