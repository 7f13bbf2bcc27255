"""A turn of Raffzahn step by step, and the odds of throws."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Final

from rollbook.rules.chance import FirstSeat
from rollbook.rules.raffzahn.moves import DICE, GREAT_STAR_THROW, SMALL_STAR_THROW, TILES, Pass, Roll, Rolled, Take
from rollbook.rules.raffzahn.throws import THROWN
from rollbook_replays.games.chart import Chart
from rollbook_replays.games.lesson import Lesson, Step, chance
from rollbook_replays.games.words import Words


def odds(words: Words) -> Iterator[Chart]:
    """What one throw of all dice brings."""
    # Faces that a die has twice count twice.
    throws = [THROWN[dice] for dice in product(*DICE)]
    head = (words("odds.throw"), words("odds.chance"))
    numbers = Counter(each.number for each in throws if not each.rotten and each.stars < SMALL_STAR_THROW)
    cases = {
        "odds.number": numbers.total(),
        "odds.two_stars": sum(not each.rotten and each.stars == SMALL_STAR_THROW for each in throws),
        "odds.three_stars": sum(each.stars == GREAT_STAR_THROW for each in throws),
        "odds.rotten": sum(each.rotten for each in throws),
    }
    rows = tuple((words(key), chance(number, len(throws))) for key, number in cases.items())
    yield Chart("throw", words("odds.of_throws"), head, rows)
    tiles = tuple((str(tile), chance(numbers[tile], len(throws))) for tile in TILES)
    yield Chart("tiles", words("odds.of_tiles"), (words("chart.tile"), words("odds.chance")), tiles)


LESSON: Final = Lesson(
    3,
    (
        Step(
            (FirstSeat(0), Rolled(("20", "star", "3"))),
            "You throw all three dice: 20, a star and 3. A star counts 0, so this is tile 23. It lies in the middle.",
            "Du wirfst alle drei Würfel: 20, ein Stern und 3. Ein Stern zählt 0, das ist also Plättchen 23. Es liegt "
            "in der Mitte.",
        ),
        Step(
            (Take(23, safe=False), Rolled(("10", "1", "1"))),
            "You took it: it lies face up before you, and its place shows your sign. Tom (▲) throws 12 and wants more: "
            "he throws the blue dice again.",
            "Du hast es genommen: Es liegt ungeschützt vor dir, und an seinem Ort steht dein Zeichen. Tom (▲) würfelt "
            "12 und will mehr: Er wirft die blauen noch einmal.",
        ),
        Step(
            (Roll((1, 2)), Rolled(("10", "5", "4"))),
            "10 + 5 + 4 is tile 19 with four teeth. Any dice may be thrown again, twice at most. Tom takes it.",
            "10 + 5 + 4 ist Plättchen 19 mit vier Zähnen. Beliebige Würfel darf man noch einmal werfen, höchstens "
            "zweimal. Tom nimmt es.",
        ),
        Step(
            (Take(19, safe=False), Rolled(("10", "4", "5"))),
            "Clara (◆) throws 19 as well. The tile lies face up before Tom: that is a hit, too, and she takes it.",
            "Auch Clara (◆) würfelt 19. Das Plättchen liegt ungeschützt bei Tom: Auch das ist ein Treffer, und sie "
            "nimmt es.",
        ),
        Step(
            (Take(19, safe=False), Rolled(("star", "star", "4"))),
            "Two stars: the third die does not count. You take the lowest tile of the middle, or throw again.",
            "Zwei Sterne: Der dritte Würfel zählt nicht. Du nimmst das niedrigste Plättchen der Mitte oder würfelst "
            "weiter.",
        ),
        Step(
            (Take(1, safe=False), Rolled(("rotten", "2", "4")), Rolled(("20", "5", "2"))),
            "You took tile 1. Tom threw a rotten tooth, which ended his turn at once. Clara throws 27 and passes: "
            "a hit is an offer.",
            "Du hast Plättchen 1 genommen. Tom warf einen faulen Zahn, und sein Zug war sofort zu Ende. Clara würfelt "
            "27 und gibt weiter: Niemand muss nehmen.",
        ),
        Step(
            (Pass(), Rolled(("20", "star", "3"))),
            "You throw 23 again: your own hit. As the tile lies face up before you, it leaves the game at once.",
            "Du würfelst wieder 23: ein Eigentreffer. Weil das Plättchen ungeschützt vor dir liegt, geht es sofort aus "
            "dem Spiel.",
        ),
    ),
    odds,
)
