"""Can't Stop in words: every column with its runner and markers, the throw, and what each seat holds."""

from rollbook.rules.cant_stop.view import View
from rollbook_replays.games.chart import Chart, enumerate_items, facts, seat_name, seats_chart
from rollbook_replays.games.seats import Seating


def charts(view: View, seating: Seating) -> tuple[Chart, ...]:
    """The throw, the columns, and the seats."""
    words = seating.words
    seats = range(len(view.places))
    thrower = view.seat if view.dice else None
    throw = facts(
        "dice",
        words("chart.throw"),
        [(words("chart.dice"), enumerate_items(view.dice, words)), (words("chart.by"), seat_name(thrower, seating))],
    )
    head = (words("chart.column"), words("chart.fields"), words("chart.won_by"), words("chart.runner"))
    rows = (
        (
            str(column.number),
            str(column.length),
            seat_name(column.winner, seating),
            str(column.runner or words("chart.none")),
            *map(str, column.markers),
        )
        for column in view.columns
    )
    columns = Chart(
        "columns", words("chart.columns"), (*head, *(seat_name(seat, seating) for seat in seats)), tuple(rows)
    )
    won = [
        enumerate_items((column.number for column in view.columns if column.winner == seat), words) for seat in seats
    ]
    return throw, columns, seats_chart(view, seating, {words("chart.won"): won})
