"""A turn of Würfelzoo step by step, and the odds of its dice."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from rollbook.rules.chance import FirstSeat
from rollbook.rules.wuerfelzoo.moves import FACES, FACES_OF_KIND, Drawn, Fox, Play, Reroll, Rolled, Squirrel, Worm
from rollbook_replays.games.chart import Chart, enumerate_items
from rollbook_replays.games.lesson import Lesson, Step, chance
from rollbook_replays.games.words import Words
from rollbook_replays.games.wuerfelzoo.animals import LARGE_TO_SMALL, capital, name_of


def odds(words: Words) -> Iterator[Chart]:
    """What a die from the bag shows, and what a die of each kind does."""
    every = Counter(face for faces in FACES for face in faces)
    shown = [face for face in LARGE_TO_SMALL if face]
    rows = tuple((capital(face, words), chance(every[face], every.total())) for face in shown)
    yield Chart("bag", words("odds.bag"), (words("chart.face"), words("odds.chance")), rows)
    kinds = tuple(
        (
            enumerate_items((name_of(face, words) for face in dict.fromkeys(faces)), words),
            *(chance(faces.count(face), len(faces)) for face in shown),
        )
        for faces in FACES_OF_KIND.values()
    )
    yield Chart("kinds", words("odds.kinds"), (words("odds.die"), *(capital(face, words) for face in shown)), kinds)


MINE: Final = (0, 1, 10, 11, 20, 21, 22, 30, 31, 32, 40, 41)
TOMS: Final = (2, 3, 12, 13, 23, 24, 25, 33, 34, 35, 42, 43)
MY_FACES: Final = (
    "worm", "trap", "squirrel", "squirrel", "fox", "boar", "x2", "fox", "squirrel", "elephant", "worm", "bear",
)  # fmt: skip
TOMS_FACES: Final = (
    "trap", "elephant", "bear", "squirrel", "fox", "boar", "fox", "elephant", "squirrel", "fox", "worm", "boar",
)  # fmt: skip

LESSON: Final = Lesson(
    2,
    (
        Step(
            (FirstSeat(0), Drawn(0, MINE), Rolled(MINE, MY_FACES), Drawn(1, TOMS), Rolled(TOMS, TOMS_FACES)),
            "All draw dice and throw them. The middle is empty, so you may lay any number of one animal. You lay two "
            "worms.",
            "Alle ziehen Würfel und werfen sie. Die Mitte ist leer, also darfst du beliebig viele eines Tieres "
            "ausspielen. Du spielst zwei Regenwürmer.",
        ),
        Step(
            (Play((0, 40)),),
            "After laying, the animal's ability is used once. The worm: you give Tom (▲) a die, and choose your trap, "
            "which can never be laid.",
            "Nach dem Ausspielen wird die Eigenschaft des Tieres genutzt. Der Regenwurm: Du schenkst Tom (▲) einen "
            "Würfel, und zwar deine Falle, die nie ausgespielt werden kann.",
        ),
        Step(
            (Worm(1, 1),),
            "Tom has to lay three worms or more, or exactly two of a larger animal. He lays two squirrels.",
            "Tom muss drei oder mehr Regenwürmer ausspielen oder genau zwei eines größeren Tieres. Er spielt zwei "
            "Eichhörnchen.",
        ),
        Step(
            (Play((13, 34)),),
            "The worms are in the bag. A squirrel makes another player draw a die: you.",
            "Die Regenwürmer sind im Beutel. Ein Eichhörnchen lässt jemand anderen einen Würfel ziehen: dich.",
        ),
        Step(
            (Squirrel(0), Drawn(0, (14,)), Rolled((14,), ("squirrel",))),
            "You have one die more. Two foxes beat two squirrels, and you lay your ×2 with them: it doubles their "
            "ability.",
            "Du hast einen Würfel mehr. Zwei Füchse schlagen zwei Eichhörnchen, und du spielst dein ×2 dazu: Es "
            "verdoppelt ihre Eigenschaft.",
        ),
        Step(
            (Play((20, 22, 30)), Fox(33)),
            "A fox puts another player's die back into the bag. One is gone, and with the ×2 you remove a second.",
            "Ein Fuchs legt einen fremden Würfel zurück in den Beutel. Einer ist weg, und mit dem ×2 entfernst du "
            "noch einen.",
        ),
        Step(
            (Fox(3), Reroll((1, 2)), Rolled((1, 2), ("worm", "elephant"))),
            "Tom lays nothing and throws his two traps again, which ends his turn. Your foxes still lay in the middle "
            "at your turn, so they are in the bag, and the middle is empty for you.",
            "Tom spielt nichts aus und würfelt seine zwei Fallen neu; damit endet sein Zug. Deine Füchse lagen noch in "
            "der Mitte, als du wieder dran warst: Sie sind im Beutel, und die Mitte ist leer für dich.",
        ),
    ),
    odds,
)
