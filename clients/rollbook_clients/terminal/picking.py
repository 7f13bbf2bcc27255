"""A turn of Würfelzoo is put together die by die; this says at every moment what the picked dice would do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rollbook.v1.games_pb2 import Choice
from rollbook.v1.wuerfelzoo_pb2 import WuerfelzooChoice, WuerfelzooTurnChoices
from rollbook_clients.terminal.boards.wuerfelzoo import face_name
from rollbook_clients.terminal.language import Words


@dataclass(frozen=True, slots=True)
class Picked:
    """What the picked dice can do now: lie in the middle, be thrown again, or neither."""

    play: Choice | None
    play_note: str
    """What laying them does, or why they cannot be laid."""
    reroll: Choice | None


def picked(dice: Collection[int], offered: WuerfelzooTurnChoices, words: Words) -> Picked:
    """Judge the picked dice by what is legal."""
    named = sorted(dice)
    reroll = Choice(wuerfelzoo=WuerfelzooChoice(reroll=WuerfelzooChoice.Reroll(dice=named))) if named else None
    why_not, play_note = _judge(named, offered, words)
    if why_not:
        return Picked(None, why_not, reroll)
    play = Choice(wuerfelzoo=WuerfelzooChoice(play=WuerfelzooChoice.Play(dice=named)))
    return Picked(play, play_note, reroll)


def _judge(named: list[int], offered: WuerfelzooTurnChoices, words: Words) -> tuple[str, str]:
    """Why the dice cannot be laid, or empty and what laying them does."""
    if not offered.plays:
        return words("picking.none_fits"), ""
    animals = [die for die in named if die not in offered.doubles]
    doubles = len(named) - len(animals)
    if not animals:
        return f"{words('picking.pick')} {_fitting(offered, words)}", ""
    offer = next((offer for offer in offered.plays if animals[0] in offer.dice), None)
    if offer is None:
        return f"{words('picking.does_not_fit')} {_fitting(offered, words)}", ""
    species = face_name(offer.species)
    if not set(animals) <= set(offer.dice):
        return words("picking.one_species"), ""
    if not offer.fewest <= len(animals) <= offer.most:
        return words("picking.number", number=_between(offer, words), animal=words(f"face.{species}")), ""
    times = words("picking.times", count=1 + doubles) if doubles else ""
    return "", f"{words.count(f'animal.{species}', len(animals))}: {words(f'ability.{species}.does')}{times}"


def _fitting(offered: WuerfelzooTurnChoices, words: Words) -> str:
    """Which species in which numbers."""
    return ", ".join(
        f"{_between(offer, words)} × {words(f'face.{face_name(offer.species)}')}" for offer in offered.plays
    )


def _between(offer: WuerfelzooTurnChoices.PlayOffer, words: Words) -> str:
    if offer.fewest == offer.most:
        return str(offer.fewest)
    return words("picking.between", fewest=offer.fewest, most=offer.most)
