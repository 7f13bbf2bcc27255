"""Refusals of moves and options: a stable reason, the facts, and where to learn what is allowed."""

from enum import StrEnum
from typing import TypeAlias

Fact: TypeAlias = int | str | bool | tuple[int, ...] | tuple[str, ...] | None


class Reason(StrEnum):
    """Every reason the rules give. The names are part of the contract with clients and never change."""

    # Unreadable in any state.
    GAME_UNKNOWN = "game_unknown"
    SEATS_OUT_OF_RANGE = "seats_out_of_range"
    OPTION_UNKNOWN = "option_unknown"
    OPTION_VALUE_UNKNOWN = "option_value_unknown"
    OPTIONS_DO_NOT_COMBINE = "options_do_not_combine"
    MOVE_OF_ANOTHER_GAME = "move_of_another_game"
    NOTHING_CHOSEN = "nothing_chosen"
    FIELD_MISSING = "field_missing"
    COLUMN_UNKNOWN = "column_unknown"
    TILE_UNKNOWN = "tile_unknown"
    DIE_UNKNOWN = "die_unknown"
    CARD_UNKNOWN = "card_unknown"
    PILE_UNKNOWN = "pile_unknown"
    SEAT_UNKNOWN = "seat_unknown"
    NOTHING_NAMED = "nothing_named"
    TOO_MANY_NAMED = "too_many_named"
    NAMED_TWICE = "named_twice"
    FIELDS_DO_NOT_COMBINE = "fields_do_not_combine"

    # Readable, but not legal now.
    CHANCE_AWAITED = "chance_awaited"
    OTHER_CHOICE_AWAITED = "other_choice_awaited"
    MATCH_OVER = "match_over"
    OUTCOME_IMPOSSIBLE = "outcome_impossible"
    COLUMNS_NOT_OFFERED = "columns_not_offered"
    STOP_ON_ANOTHERS_FIELD = "stop_on_anothers_field"
    NO_THROWS_LEFT = "no_throws_left"
    TILE_NOT_OFFERED = "tile_not_offered"
    TAKE_NOT_OFFERED = "take_not_offered"
    SAFE_NOT_ALLOWED = "safe_not_allowed"
    PASS_NOT_ALLOWED = "pass_not_allowed"  # noqa: S105 - to pass, not a password
    ANNOUNCEMENT_NOT_ALLOWED = "announcement_not_allowed"
    TILE_NOT_OWNED = "tile_not_owned"
    TOO_FEW_TEETH = "too_few_teeth"
    TILE_NOT_NEEDED = "tile_not_needed"
    DIE_NOT_OWNED = "die_not_owned"
    DIE_NOT_IN_PLAY = "die_not_in_play"
    SPECIES_MIXED = "species_mixed"
    SPECIES_MISSING = "species_missing"
    SPECIES_TOO_SMALL = "species_too_small"
    COUNT_DOES_NOT_FIT = "count_does_not_fit"
    TARGET_IS_ONESELF = "target_is_oneself"
    TARGET_HAS_NONE = "target_has_none"
    CARD_NOT_IN_HAND = "card_not_in_hand"
    CARD_TOO_LOW = "card_too_low"
    CARD_TOO_HIGH = "card_too_high"
    PILE_EMPTY = "pile_empty"
    TARGET_MISSING = "target_missing"
    NEW_TARGET_NEEDED = "new_target_needed"
    NEW_TARGET_NOT_NEEDED = "new_target_not_needed"
    RULE = "rule"
    """A rule of the game's own, which `AgainstRule` names."""


class RefusedByRules(Exception):
    """A move or an option that the rules refuse; nothing has changed.

    `reason` is stable and for programs, `why` is a sentence for people, `facts` are the values that explain it, and
    `learn` names a way to find what is allowed.
    """

    learn = "legal(state) gives every choice that is legal now"

    def __init__(self, reason: Reason, why: str, *, learn: str | None = None, **facts: Fact) -> None:
        super().__init__(reason, why)
        self.reason = reason
        self.why = why
        self.facts = facts
        if learn is not None:
            self.learn = learn

    def __str__(self) -> str:
        return f"{self.why} ({self.learn})"


class Invalid(RefusedByRules):
    """The value is no move of this game, in any state."""


class Illegal(RefusedByRules):
    """The move is not legal in this state."""


class AgainstRule(Illegal):
    """A rule of one game does not allow it; the game names the rule by a word of its own.

    >>> refused = AgainstRule("no_queen_first", "the queen cannot be played first")
    >>> refused.reason.value, refused.facts
    ('rule', {'rule': 'no_queen_first'})
    """

    def __init__(self, rule: str, why: str, *, learn: str | None = None, **facts: Fact) -> None:
        """`rule` becomes one of the facts, where clients find it."""
        super().__init__(Reason.RULE, why, learn=learn, rule=rule, **facts)
