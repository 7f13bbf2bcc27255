"""Raffzahn: every refusal has its reason and changes nothing."""

from __future__ import annotations

import pytest

from rollbook.rules.chance import FirstSeat
from rollbook.rules.raffzahn import GAME
from rollbook.rules.raffzahn.moves import Pass, Roll, Rolled, Surrender, Take
from rollbook.rules.raffzahn.state import FINISHED, State
from rollbook.rules.refusals import Illegal, Invalid, Reason, RefusedByRules
from tests.rules.positions_raffzahn import (
    after_throw,
    position,
)
from tests.rules.questions_raffzahn import (
    HUGE,
    WILLI,
    after,
    refusal,
)

# Refusals


def deciding(**wanted: object) -> State:
    """Willi has thrown 12 with his first throw; the 1, the 2 and the 20 are his."""
    wanted.setdefault("open_tiles", {WILLI: [1, 2, 20]})
    return after_throw(1, "10", "1", "1", on=position(**wanted))  # type: ignore[arg-type]  # as the helper takes them


def missed() -> State:
    """Willi has to give up teeth and owns 1, 2, 8 and 20."""
    return after_throw(3, "20", "5", "star", on=position(open_tiles={WILLI: [1, 2, 8, 20]}, out=[25]))


def finished() -> State:
    """The middle is empty."""
    state = position(middle=[])
    state.stage = FINISHED
    return state


def keeping_the_yellow_die() -> State:
    """Return a state in which the blue dice are thrown again and the yellow one stays at 10."""
    return after(deciding(), Roll((1, 2)))


REFUSALS: list[tuple[str, State, object, type[RefusedByRules], Reason]] = [
    ("a string", deciding(), "roll", Invalid, Reason.MOVE_OF_ANOTHER_GAME),
    ("a throw instead of a choice", deciding(), Rolled(("10", "1", "1")), Illegal, Reason.OTHER_CHOICE_AWAITED),
    ("a choice before the throw", position(), Pass(), Illegal, Reason.CHANCE_AWAITED),
    ("a choice before the start", GAME.start({}, 3), Roll((0,)), Illegal, Reason.CHANCE_AWAITED),
    ("a throw before the start", GAME.start({}, 3), Rolled(("10", "1", "1")), Illegal, Reason.CHANCE_AWAITED),
    ("a second start", position(), FirstSeat(1), Illegal, Reason.CHANCE_AWAITED),
    ("a surrender without a miss", deciding(), Surrender((20,)), Illegal, Reason.OTHER_CHOICE_AWAITED),
    ("a pass after a miss", missed(), Pass(), Illegal, Reason.OTHER_CHOICE_AWAITED),
    ("a throw after a miss", missed(), Roll((0,)), Illegal, Reason.OTHER_CHOICE_AWAITED),
    ("a tile after a miss", missed(), Take(25, safe=False), Illegal, Reason.OTHER_CHOICE_AWAITED),
    ("a choice after the end", finished(), Pass(), Illegal, Reason.MATCH_OVER),
    ("a throw after the end", finished(), Rolled(("10", "1", "1")), Illegal, Reason.MATCH_OVER),
    ("a seat too many", GAME.start({}, 3), FirstSeat(3), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("a negative seat", GAME.start({}, 3), FirstSeat(-1), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("a huge seat", GAME.start({}, 3), FirstSeat(HUGE), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("two dice", position(), Rolled(("10", "1")), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("no dice", position(), Rolled(()), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("an unknown face", position(), Rolled(("40", "1", "1")), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("a blue tooth", position(), Rolled(("10", "rotten", "1")), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("faces as numbers", position(), Rolled((10, 1, HUGE)), Illegal, Reason.OUTCOME_IMPOSSIBLE),  # type: ignore[arg-type]  # whatever a stranger sends
    ("a kept die", keeping_the_yellow_die(), Rolled(("20", "1", "1")), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("a kept die, rotten", keeping_the_yellow_die(), Rolled(("rotten", "1", "1")), Illegal, Reason.OUTCOME_IMPOSSIBLE),
    ("roll no die", deciding(), Roll(()), Invalid, Reason.NOTHING_NAMED),
    ("roll four dice", deciding(), Roll((0, 1, 2, 2)), Invalid, Reason.TOO_MANY_NAMED),
    ("roll many dice", deciding(), Roll((0,) * 100_000), Invalid, Reason.TOO_MANY_NAMED),
    ("roll die 3", deciding(), Roll((0, 3)), Invalid, Reason.DIE_UNKNOWN),
    ("roll die -1", deciding(), Roll((-1,)), Invalid, Reason.DIE_UNKNOWN),
    ("roll a huge die", deciding(), Roll((HUGE,)), Invalid, Reason.DIE_UNKNOWN),
    ("roll a die twice", deciding(), Roll((1, 1)), Invalid, Reason.NAMED_TWICE),
    ("announce tile 0", deciding(announce=True), Roll((0,), 0), Invalid, Reason.TILE_UNKNOWN),
    ("announce tile 41", deciding(announce=True), Roll((0,), 41), Invalid, Reason.TILE_UNKNOWN),
    ("announce tile -1", deciding(announce=True), Roll((0,), -1), Invalid, Reason.TILE_UNKNOWN),
    ("announce a huge tile", deciding(announce=True), Roll((0,), HUGE), Invalid, Reason.TILE_UNKNOWN),
    ("announce one's own", deciding(announce=True), Roll((0,), 1), Illegal, Reason.ANNOUNCEMENT_NOT_ALLOWED),
    ("announce without the option", deciding(), Roll((0,), 30), Illegal, Reason.ANNOUNCEMENT_NOT_ALLOWED),
    (
        "a fourth throw",
        after_throw(3, "10", "1", "1", on=position()),
        Roll((0,)),
        Illegal,
        Reason.NO_THROWS_LEFT,
    ),
    (
        "a throw after three stars",
        after_throw(1, "star", "star", "star", on=position()),
        Roll((0,)),
        Illegal,
        Reason.OTHER_CHOICE_AWAITED,
    ),
    ("take another tile", deciding(), Take(13, safe=False), Illegal, Reason.TILE_NOT_OFFERED),
    ("take tile 0", deciding(), Take(0, safe=False), Invalid, Reason.TILE_UNKNOWN),
    ("take tile -12", deciding(), Take(-12, safe=False), Invalid, Reason.TILE_UNKNOWN),
    ("take a huge tile", deciding(), Take(HUGE, safe=False), Invalid, Reason.TILE_UNKNOWN),
    ("take no tile", deciding(out=[12]), Take(None, safe=False), Invalid, Reason.TILE_UNKNOWN),  # type: ignore[arg-type]  # whatever a stranger sends
    ("take a missed tile", deciding(out=[12]), Take(12, safe=False), Illegal, Reason.TAKE_NOT_OFFERED),
    ("lay safe too early", deciding(open_tiles={}), Take(12, safe=True), Illegal, Reason.SAFE_NOT_ALLOWED),
    (
        "pass on a star throw",
        after_throw(2, "star", "star", "1", on=position()),
        Pass(),
        Illegal,
        Reason.PASS_NOT_ALLOWED,
    ),
    ("surrender nothing", missed(), Surrender(()), Invalid, Reason.NOTHING_NAMED),
    ("surrender four tiles", missed(), Surrender((1, 2, 8, 20)), Invalid, Reason.TOO_MANY_NAMED),
    ("surrender many tiles", missed(), Surrender((1,) * 100_000), Invalid, Reason.TOO_MANY_NAMED),
    ("surrender tile 41", missed(), Surrender((8, 41)), Invalid, Reason.TILE_UNKNOWN),
    ("surrender tile -8", missed(), Surrender((-8,)), Invalid, Reason.TILE_UNKNOWN),
    ("surrender a huge tile", missed(), Surrender((HUGE,)), Invalid, Reason.TILE_UNKNOWN),
    ("surrender a tile twice", missed(), Surrender((8, 8)), Invalid, Reason.NAMED_TWICE),
    ("surrender another's", missed(), Surrender((40,)), Illegal, Reason.TILE_NOT_OWNED),
    ("surrender too little", missed(), Surrender((1, 2)), Illegal, Reason.TOO_FEW_TEETH),
    ("surrender too much", missed(), Surrender((8, 20)), Illegal, Reason.TILE_NOT_NEEDED),
]


@pytest.mark.parametrize(
    ("state", "move", "kind", "reason"), [case[1:] for case in REFUSALS], ids=[case[0] for case in REFUSALS]
)
def test_what_is_not_allowed_is_refused_for_its_reason_and_changes_nothing(
    state: State, move: object, kind: type[RefusedByRules], reason: Reason
) -> None:
    """Invalid moves are unreadable in any state, illegal ones not allowed in this one; both print shortly."""
    refused = refusal(state, move)
    assert (kind, reason) == (type(refused), refused.reason)
    assert 300 > len(str(refused))


def test_a_refusal_of_another_tile_names_the_tile_on_offer() -> None:
    """The refusal names the offered tile, so that a client can show it."""
    refused = refusal(deciding(), Take(13, safe=False))
    assert {"tile": 13, "offered": 12, "dice": ("10", "1", "1")} == refused.facts
    assert "legal now: take 12" == refused.learn


@pytest.mark.parametrize("seats", [2, 7, True, pytest.param(HUGE, id="huge")])
def test_only_3_to_6_seats_can_play(seats: int) -> None:
    """The rulebooks of both editions give 3 to 6 as the numbers of players."""
    with pytest.raises(Invalid) as refused:
        GAME.start({}, seats)
    assert Reason.SEATS_OUT_OF_RANGE == refused.value.reason


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"edition": "first"}, Reason.OPTION_VALUE_UNKNOWN),
        ({"announce": 1}, Reason.OPTION_VALUE_UNKNOWN),
        ({"ansage": True}, Reason.OPTION_UNKNOWN),
    ],
)
def test_options_are_refused_that_there_are_not(options: dict[str, bool | int | str], reason: Reason) -> None:
    """A misspelt option must not become a silent default."""
    with pytest.raises(Invalid) as refused:
        GAME.start(options, 3)
    assert reason == refused.value.reason


def test_the_defaults_are_the_revised_edition_without_announcements() -> None:
    """The reprint is the edition on sale; the variant is optional."""
    assert {"edition": "revised", "announce": False} == GAME.settle({}, 3)
