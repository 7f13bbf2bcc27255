"""What a seat may choose, as the service says: to be listed, counted, or asked about, without knowing the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb
from typing import Any, Final

from google.protobuf.message import Message

from rollbook.v1.table_pb2 import Choice, LegalChoices
from rollbook.v1.wuerfelzoo_pb2 import WuerfelzooChoice, WuerfelzooTurnChoices

_TURN: Final = "wuerfelzoo_turn"


@dataclass(frozen=True, slots=True)
class Legal:
    """All legal choices of a seat at a position; iterating gives each once, as `match.choose` takes it.

    Those of a turn in Würfelzoo are described in `message` and made as they are asked for: there may be thousands.

    >>> legal = Legal(LegalChoices(cant_stop={"choices": [{"roll": {}}, {"stop": {}}]}))
    >>> len(legal), [choice.cant_stop.WhichOneof("kind") for choice in legal]
    (2, ['roll', 'stop'])
    """

    message: LegalChoices

    def __len__(self) -> int:
        """How many there are."""
        kind = self.message.WhichOneof("choices")
        if kind == _TURN:
            return _turn_count(self.message.wuerfelzoo_turn)
        return len(getattr(self.message, kind).choices) if kind else 0

    def __iter__(self) -> Iterator[Choice]:
        """Each choice once, always in the same order."""
        kind = self.message.WhichOneof("choices")
        if kind == _TURN:
            yield from (Choice(wuerfelzoo=choice) for choice in _turn_choices(self.message.wuerfelzoo_turn))
        elif kind:
            yield from map(choice_of, getattr(self.message, kind).choices)


def choice_of(choice: Message) -> Choice:
    """A choice of whatever game, from one of a game.

    >>> from rollbook.v1.cant_stop_pb2 import CantStopChoice
    >>> choice_of(CantStopChoice(roll={})).WhichOneof("choice")
    'cant_stop'
    """
    if isinstance(choice, Choice):
        return choice
    for option in Choice.DESCRIPTOR.oneofs_by_name["choice"].fields:
        if option.message_type is choice.DESCRIPTOR:
            fields: dict[str, Any] = {option.name: choice}
            return Choice(**fields)
    raise TypeError(f"{type(choice).__name__} is no choice of any game")


def _subsets(dice: list[int], fewest: int, most: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(dice, count) for count in range(fewest, most + 1))


def _turn_choices(turn: WuerfelzooTurnChoices) -> Iterator[WuerfelzooChoice]:
    for offer in turn.plays:
        for animals in _subsets(list(offer.dice), offer.fewest, offer.most):
            for doubles in _subsets(list(turn.doubles), 0, len(turn.doubles)):
                yield WuerfelzooChoice(play=WuerfelzooChoice.Play(dice=sorted(animals + doubles)))
    for dice in _subsets(list(turn.rerolls), 1, len(turn.rerolls)):
        yield WuerfelzooChoice(reroll=WuerfelzooChoice.Reroll(dice=dice))


def _turn_count(turn: WuerfelzooTurnChoices) -> int:
    plays = sum(comb(len(offer.dice), count) for offer in turn.plays for count in range(offer.fewest, offer.most + 1))
    return (plays << len(turn.doubles)) + (1 << len(turn.rerolls)) - 1
