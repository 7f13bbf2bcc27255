"""The texts of a language, and the texts that every narration of a match needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

Texts: TypeAlias = Mapping[str, Mapping[str, str]]
"""Texts by language, then by key; all languages have the same keys, with the same facts in braces."""

SHARED: Final[Texts] = {
    "en": {
        "and": "and",
        "seat.number": "Seat {number}",
        "bot.0": "bot",
        "bot.1": "bot, weak",
        "bot.2": "bot, medium",
        "bot.3": "bot, strong",
        "awaited.choice": "Waiting for {name} to choose",
        "awaited.chance": "Chance decides next",
        "awaited.first_seat": "Chance decides next who starts",
        "awaited.roll": "The dice are thrown next",
        "standing": "Standing: {places}",
        "chart.seat": "Seat",
        "chart.turn": "On turn",
        "chart.place": "Place",
        "chart.seats": "Seats",
        "chart.table": "Table",
        "chart.none": "none",
        "chart.no_seat": "none",
        "chart.yes": "yes",
        "chart.no": "no",
        "told.opened": "The match is open.",
        "told.seat_taken": "{name} sits down",
        "told.seat_left": "{name} leaves the seat",
        "told.ready": "{name} is ready",
        "told.ready.entropy": "{name} is ready (adds randomness)",
        "told.started": "The match begins.",
        "told.first_seat": "{name} starts",
        "told.timed_out": "{name} has run out of time",
        "told.forfeited": "{name} is out: no time left three turns in a row",
        "told.resigned": "{name} resigns",
        "told.resumed": "The service was away; no clock ran.",
        "told.by_caretaker": "(by a bot)",
        "told.over": "Finished:",
        "told.aborted.not_ready": "Aborted, not ready in time: {name}.",
        "told.aborted.log_lost": "Aborted: the service lost a part of the log.",
        "told.aborted.by_operator": "Aborted by its opener or by the operator.",
        "told.aborted.unplayed": "Ended: no player made a move.",
        "told.aborted.expired": "Aborted: nothing happened for too long.",
        "told.throws": "{name} throws {dice}",
        "told.move": "{name}: {move}",
    },
    "de": {
        "and": "und",
        "seat.number": "Platz {number}",
        "bot.0": "Bot",
        "bot.1": "Bot, schwach",
        "bot.2": "Bot, mittel",
        "bot.3": "Bot, stark",
        "awaited.choice": "{name} wählt",
        "awaited.chance": "Als Nächstes entscheidet der Zufall",
        "awaited.first_seat": "Als Nächstes entscheidet der Zufall, wer beginnt",
        "awaited.roll": "Als Nächstes wird gewürfelt",
        "standing": "Stand: {places}",
        "chart.seat": "Platz",
        "chart.turn": "Am Zug",
        "chart.place": "Rang",
        "chart.seats": "Plätze",
        "chart.table": "Tisch",
        "chart.none": "keine",
        "chart.no_seat": "keiner",
        "chart.yes": "ja",
        "chart.no": "nein",
        "told.opened": "Die Partie ist offen.",
        "told.seat_taken": "{name} setzt sich",
        "told.seat_left": "{name} verlässt den Platz",
        "told.ready": "{name} ist bereit",
        "told.ready.entropy": "{name} ist bereit (steuert Zufall bei)",
        "told.started": "Die Partie beginnt.",
        "told.first_seat": "{name} beginnt",
        "told.timed_out": "Die Zeit von {name} ist um",
        "told.forfeited": "{name} scheidet aus: drei Züge in Folge war die Zeit um",
        "told.resigned": "{name} gibt auf",
        "told.resumed": "Der Dienst war weg; keine Uhr lief.",
        "told.by_caretaker": "(durch einen Bot)",
        "told.over": "Beendet:",
        "told.aborted.not_ready": "Abgebrochen, nicht rechtzeitig bereit: {name}.",
        "told.aborted.log_lost": "Abgebrochen: Dem Dienst fehlt ein Teil des Protokolls.",
        "told.aborted.by_operator": "Vom Betreiber abgebrochen, oder von dem, der sie eröffnet hat.",
        "told.aborted.unplayed": "Beendet: Kein Spieler hat einen Zug gemacht.",
        "told.aborted.expired": "Abgebrochen: Zu lange ist nichts geschehen.",
        "told.throws": "{name} würfelt {dice}",
        "told.move": "{name}: {move}",
    },
}


class Words:
    """The texts of one language: the shared ones and additional ones."""

    def __init__(self, language: str = "en", *others: Texts) -> None:
        """An unknown language means English; a later one of `others` overrides earlier texts."""
        self.language = language if language in SHARED else "en"
        self._texts: dict[str, str] = {}
        for texts in (SHARED, *others):
            self._texts.update(texts.get(self.language) or texts.get("en", {}))
        self._others = others

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def __call__(self, key: str, **facts: object) -> str:
        """The text of this key with these facts.

        >>> Words("de")("told.first_seat", name="Anna")
        'Anna beginnt'
        """
        return self._texts[key].format(**facts)

    def count(self, key: str, number: float) -> str:
        """A number with the noun in the singular or plural.

        >>> Words("en", {"en": {"tooth.one": "tooth", "tooth.many": "teeth"}}).count("tooth", 3)
        '3 teeth'
        """
        return f"{number} {self._texts[f'{key}.one' if number == 1 else f'{key}.many']}"

    def both(self, items: Iterable[object]) -> str:
        """The items as an enumeration.

        >>> Words("en").both([3, 7, 9])
        '3, 7 and 9'
        """
        *others, last = map(str, items)
        return f"{', '.join(others)} {self('and')} {last}" if others else last

    def also(self, texts: Texts) -> Words:
        """These texts and those of a game."""
        return Words(self.language, *self._others, texts)
