"""A turn of Can't Stop step by step, and the odds of throws."""

from collections.abc import Iterator
from typing import Final

from rollbook.rules.cant_stop.moves import LENGTHS, Advance, Roll, Rolled, Stop
from rollbook.rules.chance import FirstSeat
from rollbook_replays.games.cant_stop.odds import THROWS, usable_throws
from rollbook_replays.games.chart import Chart
from rollbook_replays.games.lesson import Lesson, Step, chance
from rollbook_replays.games.words import Words


def odds(words: Words) -> Iterator[Chart]:
    """How often a throw contains a column, and how often it can be used with three runners."""
    head = (words("chart.column"), words("odds.chance"))
    single = tuple((str(column), chance(usable_throws(frozenset({column})), THROWS)) for column in LENGTHS)
    yield Chart("one", words("odds.one"), head, single)
    columns = tuple(LENGTHS)
    rows = tuple(
        (
            words.both((low, middle)),
            *(
                chance(usable_throws(frozenset({low, middle, high})), THROWS) if high > middle else ""
                for high in columns[2:]
            ),
        )
        for low in columns
        for middle in columns
        if low < middle < columns[-1]
    )
    yield Chart("three", words("odds.three"), (words("odds.runners"), *map(str, columns[2:])), rows)


LESSON: Final = Lesson(
    2,
    (
        Step(
            (FirstSeat(0), Rolled((1, 3, 4, 6))),
            "You throw 1 3 4 6 and make two pairs: 4 and 10, 5 and 9, or 7 and 7. You choose 4 and 10.",
            "Du würfelst 1 3 4 6 und bildest zwei Paare: 4 und 10, 5 und 9 oder 7 und 7. Du wählst 4 und 10.",
        ),
        Step(
            (Advance((4, 10)),),
            "A runner starts on the lowest field of each of the two columns. Now stop, or throw again? You throw.",
            "In beiden Spalten startet ein Läufer auf dem untersten Feld. Aufhören oder weiterwürfeln? Du würfelst.",
        ),
        Step(
            (Roll(), Rolled((5, 2, 3, 4)), Advance((7, 7))),
            "5 2 3 4 makes 7 twice: your third runner goes two steps. From now on only 4, 7 and 10 count, and a "
            "throw without any of them loses all of this turn. You stop.",
            "5 2 3 4 ergibt zweimal die 7: Dein dritter Läufer rückt zwei Felder. Ab jetzt zählen nur 4, 7 und 10, "
            "und ein Wurf ohne sie kostet den ganzen Zug. Du hörst auf.",
        ),
        Step(
            (Stop(),),
            "Your runners become markers. What markers have reached is never lost. Tom (▲) is next.",
            "Aus deinen Läufern werden Spielsteine. Was sie erreicht haben, bleibt. Tom (▲) ist dran.",
        ),
        Step(
            (Rolled((3, 3, 1, 1)), Advance((2, 6)), Roll(), Rolled((4, 4, 5, 6)), Advance((9,))),
            "Tom has taken 2 and 6, and had one runner left for the pairs 9 and 10: he chose the 9. He throws again.",
            "Tom hat 2 und 6 genommen und für die Paare 9 und 10 nur noch einen Läufer: Er wählte die 9. Er würfelt "
            "weiter.",
        ),
        Step(
            (Roll(), Rolled((5, 5, 6, 6))),
            "5 5 6 6 contains no 2, 6 or 9. Bust: his runners leave the board, and all of this turn is lost.",
            "In 5 5 6 6 steckt keine 2, 6 oder 9. Zu viel gewagt: Seine Läufer kommen vom Plan, der ganze Zug ist "
            "verloren.",
        ),
        Step(
            (Rolled((1, 1, 1, 1)), Advance((2, 2)), Roll(), Rolled((1, 1, 3, 4)), Advance((2, 7))),
            "A runner on the flag wins the column, but only when you stop. You do.",
            "Ein Läufer auf der Fahne gewinnt die Spalte, aber erst, wenn du aufhörst. Das tust du.",
        ),
        Step(
            (Stop(),),
            "Column 2 is yours, and closed for all players. Three columns win.",
            "Spalte 2 gehört dir, und in ihr spielt niemand mehr. Drei Spalten gewinnen.",
        ),
    ),
    odds,
)
