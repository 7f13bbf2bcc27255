"""Raffzahn in words: the place of every tile, the dice, and the teeth of each seat."""

from collections.abc import Sequence

from rollbook.rules.raffzahn.moves import TEETH, THROWS
from rollbook.rules.raffzahn.view import View
from rollbook_replays.games.chart import Chart, enumerate_items, facts, seat_name, seats_chart
from rollbook_replays.games.raffzahn.picture import face_text
from rollbook_replays.games.seats import Seating


def charts(view: View, seating: Seating) -> tuple[Chart, ...]:
    """The dice, the tiles, and the seats."""
    words = seating.words
    dice = [(words(f"die.{die}"), face_text(face, words)) for die, face in enumerate(view.dice)]
    throw = facts(
        "dice",
        words("chart.throw"),
        [
            (words("chart.throws"), words("chart.throws.of", number=view.throws, most=THROWS)),
            *dice,
            (words("chart.announced"), view.announced or words("chart.none")),
        ],
    )
    places = dict.fromkeys(view.middle, words("chart.middle")) | dict.fromkeys(view.out, words("chart.out"))
    for seat, row in enumerate(view.rows):
        name = seat_name(seat, seating)
        places |= dict.fromkeys(row.open_tiles, words("chart.open_at", name=name))
        places |= dict.fromkeys(row.safe_tiles, words("chart.safe_at", name=name))
    head = (words("chart.tile"), words("tooth.many").capitalize(), words("chart.where"))
    rows = tuple((str(tile), str(teeth), places[tile]) for tile, teeth in TEETH.items())
    columns: dict[str, Sequence[object]] = {
        head[1]: [row.teeth for row in view.rows],
        words("chart.open"): [enumerate_items(row.open_tiles, words) for row in view.rows],
        words("chart.safe"): [enumerate_items(row.safe_tiles, words) for row in view.rows],
    }
    return throw, seats_chart(view, seating, columns), Chart("tiles", words("chart.tiles"), head, rows)
