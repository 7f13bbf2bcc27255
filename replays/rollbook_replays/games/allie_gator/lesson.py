"""A turn of Allie Gator step by step, and the odds of its cards."""

from collections.abc import Iterator
from math import comb
from typing import Final

from rollbook.rules.allie_gator.moves import (
    COPIES,
    DECK,
    GIFT,
    HAND,
    NUMBERS,
    RAISE,
    REVERSE,
    SPECIALS,
    Card,
    Drawn,
    Gift,
    Number,
    Raise,
    Snap,
    Target,
)
from rollbook.rules.chance import FirstSeat
from rollbook_replays.games.chart import Chart
from rollbook_replays.games.lesson import Lesson, Step, chance
from rollbook_replays.games.words import Words

ROOMS: Final = (1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 40)


def odds(words: Words) -> Iterator[Chart]:
    """How often a fresh hand has a number that fits, and what the first card of the stock is."""
    hands = comb(len(DECK), HAND)
    fits = tuple((str(room), chance(hands - comb(len(DECK) - room, HAND), hands)) for room in ROOMS)
    yield Chart("fits", words("odds.fits"), (words("odds.room"), words("odds.chance")), fits)
    kinds = (
        (words("odds.number"), len(NUMBERS)),
        *((words(f"special.{SPECIALS[card]}"), COPIES[card]) for card in COPIES),
    )
    rows = tuple((name, str(count), chance(count, len(DECK))) for name, count in kinds)
    yield Chart("deck", words("odds.deck"), (words("odds.card"), words("odds.copies"), words("odds.chance")), rows)


def _cards(*cards: int) -> tuple[Card, ...]:
    return tuple(map(Card, cards))


LESSON: Final = Lesson(
    3,
    (
        Step(
            (
                FirstSeat(0),
                Target(0, Card(57)),
                Target(1, Card(44)),
                Drawn(0, _cards(5, 9, 36, 62, RAISE)),
                Drawn(1, _cards(12, 20, 41, 60, GIFT)),
                Drawn(2, _cards(3, 28, 33, 50, REVERSE)),
            ),
            "Two piles, with the targets 57 and 44. You have five cards, and lay the 9 below the 44.",
            "Zwei Ablagen mit den Zielkarten 57 und 44. Du hast fünf Karten und spielst die 9 bei der 44 aus.",
        ),
        Step(
            (Number(Card(9), 1), Drawn(0, _cards(11)), Number(Card(20), 1), Drawn(1, _cards(30))),
            "You drew a card. Tom (▲) laid the 20 on your 9: numbers rise towards the target. The bar shows what still "
            "fits. Clara (◆) lays the 28.",
            "Du hast eine Karte gezogen. Tom (▲) legte die 20 auf deine 9: Die Zahlen steigen bis zur Zielkarte. Der "
            "Balken zeigt, was noch passt. Clara (◆) spielt die 28.",
        ),
        Step(
            (Number(Card(28), 1), Drawn(2, _cards(43))),
            "You play Raise: your 62 covers the target 44, so that there is more room again.",
            "Du spielst Erhöhen: Deine 62 verdeckt die Zielkarte 44, und es ist wieder mehr Platz.",
        ),
        Step(
            (Raise(Card(62), 1), Drawn(0, _cards(14, 39))),
            "The special card lies before you as a penalty card. Tom plays Allie's gift: you have to take the 28.",
            "Die Sonderkarte liegt als Minuspunkt vor dir. Tom spielt Allies Geschenk: Du musst die 28 nehmen.",
        ),
        Step(
            (Gift(1, 0), Drawn(1, _cards(66))),
            "Now you have two penalty cards, and the 20 is on top again. Clara lays the 50 below the 57.",
            "Jetzt hast du zwei Minuspunkte, und oben liegt wieder die 20. Clara spielt die 50 bei der 57 aus.",
        ),
        Step(
            (Number(Card(50), 0), Drawn(2, _cards(1))),
            "Only 51 to 56 fit there now. You could lay the 36 or the 39 on the 20, but you snap: Allie's chip lies at "
            "this small pile, which will only grow.",
            "Dort passen nur noch 51 bis 56. Auf die 20 ginge deine 36 oder 39, aber du machst Happs: Allies Chip "
            "liegt bei dieser kleinen Ablage, und sie wird nur größer.",
        ),
        Step(
            (Snap(Card(39)), Drawn(0, _cards(68))),
            "You took the 50 and the target 57 as penalty cards, the chip went to the other pile, and your 39 is the "
            "new target.",
            "Du hast die 50 und die Zielkarte 57 als Minuspunkte genommen, der Chip liegt jetzt bei der anderen "
            "Ablage, und deine 39 ist die neue Zielkarte.",
        ),
    ),
    odds,
)
