"""What is said of Can't Stop, in the words of its rulebooks."""

from typing import Final

from rollbook_replays.games.words import Texts

TEXTS: Final[Texts] = {
    "en": {
        "step.one": "step",
        "picture.board": "Eleven columns, 2 to 12.",
        "picture.dice": "Dice: {dice}.",
        "picture.at": "field {height} of column {column}",
        "picture.runners": "Runners: {places}.",
        "picture.no_runners": "No runners on the board.",
        "step.many": "steps",
        "board.columns_held": "columns",
        "board.runners": "Runners",
        "board.survival": "{percent} % go on",
        "menu.advance": "Advance in {columns}",
        "menu.advance.note": "next throw: {percent} %",
        "menu.two_steps": "Two steps in {column}",
        "menu.reaches_top": "top of {columns}",
        "menu.roll": "Throw again",
        "menu.roll.note": "{percent} % to survive it",
        "menu.stop": "Stop",
        "menu.stop.note": "keeps {steps}",
        "menu.wins": "wins column {columns}",
        "told.rolls_on": "{name} throws again",
        "told.bust": "{name} is bust!",
        "told.advances": "{name} advances in {columns}",
        "told.two_steps": "{name} advances two steps in {column}",
        "told.stops": "{name} stops",
        "option.columns_to_win": "Columns that win",
        "option.hasty": "Runners as fast as possible",
        "option.free_fields": "Stop on free fields only",
        "differs.columns_to_win": "{value} columns to win",
        "differs.hasty": "hasty runners",
        "differs.free_fields": "stopping on free fields only",
        "help": """\
Four dice make two pairs, in any way; the sums say in which columns your
three runners (●) advance. After each advance: throw again, or stop. Stopping
turns runners into markers. A throw that no runner can use is a bust: all of
this turn is lost. The top of a column wins it; enough columns win the match.""",
    },
    "de": {
        "step.one": "Feld",
        "picture.board": "Elf Spalten, 2 bis 12.",
        "picture.dice": "Würfel: {dice}.",
        "picture.at": "Feld {height} in Spalte {column}",
        "picture.runners": "Läufer: {places}.",
        "picture.no_runners": "Keine Läufer auf dem Plan.",
        "step.many": "Felder",
        "board.columns_held": "Spalten",
        "board.runners": "Läufer",
        "board.survival": "{percent} % weiter",
        "menu.advance": "Vorrücken in {columns}",
        "menu.advance.note": "nächster Wurf: {percent} %",
        "menu.two_steps": "Zwei Felder in {column}",
        "menu.reaches_top": "Zahlenfeld {columns}",
        "menu.roll": "Weiterwürfeln",
        "menu.roll.note": "{percent} % Chance zu bestehen",
        "menu.stop": "Aufhören",
        "menu.stop.note": "sichert {steps}",
        "menu.wins": "gewinnt Spalte {columns}",
        "told.rolls_on": "{name} würfelt weiter",
        "told.bust": "{name} verliert alles in diesem Zug!",
        "told.advances": "{name} rückt vor in {columns}",
        "told.two_steps": "{name} rückt zwei Felder vor in {column}",
        "told.stops": "{name} hört auf",
        "option.columns_to_win": "Spalten zum Sieg",
        "option.hasty": "Läufer schnellstmöglich ins Spiel",
        "option.free_fields": "Aufhören nur auf freien Feldern",
        "differs.columns_to_win": "{value} Spalten zum Sieg",
        "differs.hasty": "Läufer schnellstmöglich",
        "differs.free_fields": "Aufhören nur auf freien Feldern",
        "help": """\
Vier Würfel ergeben zwei Paare; ihre Summen sagen, in welchen Spalten deine
drei Läufer (●) vorrücken. Danach: weiterwürfeln oder aufhören. Wer aufhört,
markiert das Erreichte mit Spielsteinen. Kann ein Wurf nicht genutzt werden,
verfällt alles in diesem Zug Erreichte. Wer das Zahlenfeld erreicht und
aufhört, gewinnt die Spalte; genug Spalten gewinnen das Spiel.""",
    },
}
