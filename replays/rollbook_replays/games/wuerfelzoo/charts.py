"""Würfelzoo in words: the middle, the dice of each seat, bag and box.

Dice that show the same face and have the same other faces are alike, so they are counted.
"""

from collections import Counter
from collections.abc import Sequence

from rollbook.rules.wuerfelzoo.moves import AXES, FACES_OF_KIND, NO_FACE, PENALTIES
from rollbook.rules.wuerfelzoo.view import View
from rollbook_replays.games.chart import Chart, enumerate_items, facts, seat_name, seats_chart, yes_or_no
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.wuerfelzoo.animals import LARGE_TO_SMALL, count_faces, name_of


def charts(view: View, seating: Seating) -> tuple[Chart, ...]:
    """The middle, the seats, and all dice in front of them."""
    words = seating.words
    none = words("chart.none")
    animals = none if view.species is None else count_faces([view.species] * len(view.middle), words)
    middle = facts(
        "middle",
        words("chart.middle"),
        [
            (words("chart.round"), view.round),
            (words("chart.animals"), animals),
            (words("chart.by"), seat_name(view.owner, seating)),
            (words("chart.doubles"), len(view.doubles)),
            (words("chart.ability"), none if view.species is None else words(f"ability.{view.species}")),
            (words("chart.uses"), view.uses),
            (words("chart.bag"), len(view.bag)),
            (words("chart.box"), len(view.box)),
        ],
    )
    faces = [[die.face or NO_FACE for die in row] for row in view.dice]
    columns: dict[str, Sequence[object]] = {
        words("chart.dice"): [len(row) for row in faces],
        words("chart.shown"): [count_faces(row, words) or none for row in faces],
        words("chart.cost"): [sum(PENALTIES[face] for face in row) for row in faces],
        words("chart.points"): view.points,
    }
    return middle, seats_chart(view, seating, columns), _dice(view, seating)


def _dice(view: View, seating: Seating) -> Chart:
    """A row for dice in front of the same seat that are alike."""
    words = seating.words
    alike = Counter(
        (seat, LARGE_TO_SMALL.index(die.face or NO_FACE), AXES[die.die], die.die in view.thrown)
        for seat, row in enumerate(view.dice)
        for die in row
    )
    rows = []
    for (seat, face, kind, is_thrown), count in sorted(alike.items()):
        shown = LARGE_TO_SMALL[face]
        others = (name_of(each, words) for each in dict.fromkeys(FACES_OF_KIND[kind]) if each != shown)
        rows.append(
            (
                seat_name(seat, seating),
                name_of(shown, words) if shown else words("chart.none"),
                str(count),
                enumerate_items(others, words),
                yes_or_no(is_thrown, words),
            )
        )
    head = tuple(words(f"chart.{key}") for key in ("seat", "face", "count", "others", "thrown"))
    return Chart("dice", words("chart.all_dice"), head, tuple(rows))
