"""Allie Gator in words: piles, order of play, stock, the seats, and the hands that may be seen."""

from collections.abc import Sequence

from rollbook.rules.allie_gator.moves import SPECIALS
from rollbook.rules.allie_gator.view import View
from rollbook_replays.games.allie_gator.texts import card_name
from rollbook_replays.games.chart import Chart, enumerate_items, facts, seat_name, seats_chart, yes_or_no
from rollbook_replays.games.seats import Seating


def charts(view: View, seating: Seating) -> tuple[Chart, ...]:
    """The round, the piles, the hands, and the seats."""
    words = seating.words

    def cards(held: tuple[int, ...] | None) -> str:
        return enumerate_items((card_name(card, words) for card in held or ()), words)  # type: ignore[arg-type]  # cards

    keys = ("pile", "target", "beneath", "top", "cards", "all_cards", "allie")
    piles = tuple(
        (
            words(f"pile.{number}"),
            cards(pile.targets[-1:]),
            cards(pile.targets[:-1]),
            cards(pile.cards[-1:]),
            str(len(pile.cards)),
            cards(pile.cards),
            yes_or_no(number == view.chip, words),
        )
        for number, pile in enumerate(view.piles)
    )
    hands = tuple(
        (seat_name(seat, seating), cards(each.hand)) for seat, each in enumerate(view.players) if each.hand is not None
    )
    columns: dict[str, Sequence[object]] = {
        words("chart.hand"): [player.hand_size for player in view.players],
        words("chart.penalties"): [len(player.penalties) for player in view.players],
        words("chart.specials"): [sum(card in SPECIALS for card in player.penalties) for player in view.players],
        words("chart.penalty_cards"): [cards(player.penalties) for player in view.players],
        words("tooth.many").capitalize(): [player.teeth for player in view.players],
    }
    return (
        Chart("piles", words("chart.piles"), tuple(words(f"chart.{key}") for key in keys), piles),
        *([facts("hand", words("chart.hands"), hands)] if hands else []),
        _round(view, seating),
        seats_chart(view, seating, columns),
    )


def _round(view: View, seating: Seating) -> Chart:
    words, seats = seating.words, len(view.players)
    step, first = (1 if view.clockwise else -1), view.seat or 0
    order = (seat_name((first + step * number) % seats, seating) for number in range(seats))
    return facts(
        "round",
        words("chart.round"),
        [
            (words("chart.round"), view.round),
            (words("chart.direction"), words("chart.clockwise" if view.clockwise else "chart.anticlockwise")),
            (words("chart.order"), ", ".join(order)),
            (words("chart.stock"), view.stock_size),
        ],
    )
