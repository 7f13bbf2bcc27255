"""What is said of Raffzahn, in the words of its rulebooks."""

from typing import Final

from rollbook_replays.games.words import Texts

TEXTS: Final[Texts] = {
    "en": {
        "tooth.one": "tooth",
        "picture.dice": "Dice: {dice}.",
        "picture.star": "star",
        "picture.middle": "Tiles in the middle: {count}.",
        "tooth.many": "teeth",
        "die.all": "all dice",
        "die.0": "yellow",
        "die.1": "1st blue",
        "die.2": "2nd blue",
        "board.out": "Out of the game: {tiles}",
        "board.throw_of": "Throw {number} of {most}",
        "menu.roll": "Throw {dice} again",
        "menu.roll.note": "throw {number} of {most}",
        "menu.roll.announcing": "with an announcement, or without",
        "menu.announce": "Announce tile {tile}",
        "menu.take.open": "Take tile {tile}, face up",
        "menu.take.safe": "Take tile {tile}, face down",
        "menu.in_the_middle": "in the middle",
        "menu.open_at": "open in front of {name}",
        "menu.pass": "Pass",
        "menu.pass.note": "ends the turn without a tile",
        "menu.surrender": "Give up {tiles}",
        "told.throws_sum": "{name} throws {dice} = {sum}",
        "told.rotten_tooth": "rotten tooth",
        "told.own_hit_safe": "{name}: own hit, {tile} is turned face up",
        "told.own_hit_open": "{name}: own hit, {tile} leaves the game",
        "told.loses_all": "{name}: a miss costs all tiles",
        "told.misses": "{name} misses",
        "told.rolls_on": "{name} throws {dice} again",
        "told.announces": "{name} announces {tile}",
        "told.takes": "{name} takes {tile}{how}",
        "told.robs": "{name} takes {tile} from {robbed}{how}",
        "told.face_down": ", face down",
        "told.passes": "{name} passes",
        "told.surrenders": "{name} gives up {tiles}",
        "option.edition": "Edition",
        "option.edition.revised": "revised",
        "option.edition.original": "original",
        "option.announce": "Announcements",
        "differs.edition.original": "original edition",
        "differs.announce": "with announcements",
        "help": """\
Up to three throws; yellow plus blue names a tile, a star counts 0. Take it
from the middle, or where it lies open in front of another (hit). With three
open tiles a new one may be laid face down [safe]. An own tile is turned up, or
leaves the game (own hit). A miss on the third throw costs three teeth. Two
stars: the lowest tile of the middle, three: the highest. A rotten tooth ends
the turn. Most teeth win when the middle is empty.""",
    },
    "de": {
        "tooth.one": "Zahn",
        "picture.dice": "Würfel: {dice}.",
        "picture.star": "Stern",
        "picture.middle": "Plättchen in der Tischmitte: {count}.",
        "tooth.many": "Zähne",
        "die.all": "Alle Würfel",
        "die.0": "Gelb",
        "die.1": "Blau 1",
        "die.2": "Blau 2",
        "board.out": "Aus dem Spiel: {tiles}",
        "board.throw_of": "Wurf {number} von {most}",
        "menu.roll": "{dice} neu würfeln",
        "menu.roll.note": "Wurf {number} von {most}",
        "menu.roll.announcing": "mit oder ohne Ansage",
        "menu.announce": "Plättchen {tile} ansagen",
        "menu.take.open": "Plättchen {tile} ungeschützt nehmen",
        "menu.take.safe": "Plättchen {tile} geschützt nehmen",
        "menu.in_the_middle": "in der Tischmitte",
        "menu.open_at": "ungeschützt bei {name}",
        "menu.pass": "Würfel weitergeben",
        "menu.pass.note": "beendet den Zug ohne Plättchen",
        "menu.surrender": "{tiles} abgeben",
        "told.throws_sum": "{name} würfelt {dice} = {sum}",
        "told.rotten_tooth": "fauler Zahn",
        "told.own_hit_safe": "{name}: Eigentreffer, {tile} wird aufgedeckt",
        "told.own_hit_open": "{name}: Eigentreffer, {tile} geht aus dem Spiel",
        "told.loses_all": "{name}: Fehltreffer kostet alle Plättchen",
        "told.misses": "{name}: Fehltreffer",
        "told.rolls_on": "{name} würfelt neu: {dice}",
        "told.announces": "{name} sagt {tile} an",
        "told.takes": "{name} nimmt {tile}{how}",
        "told.robs": "{name} nimmt {tile} von {robbed}{how}",
        "told.face_down": ", geschützt",
        "told.passes": "{name} gibt die Würfel weiter",
        "told.surrenders": "{name} gibt {tiles} ab",
        "option.edition": "Ausgabe",
        "option.edition.revised": "überarbeitet",
        "option.edition.original": "ursprünglich",
        "option.announce": "Ansage",
        "differs.edition.original": "Originalausgabe",
        "differs.announce": "mit Ansage",
        "help": """\
Bis zu drei Würfe; Gelb plus Blau nennt ein Plättchen, ein Stern zählt 0.
Beutetreffer: aus der Tischmitte oder ungeschützt bei Mitspielern nehmen. Wer
drei ungeschützte hat, darf das neue geschützt legen [so]. Eigentreffer: das
eigene wird aufgedeckt oder geht aus dem Spiel. Fehltreffer im dritten Wurf:
drei Zähne abgeben. Zwei Sterne: das niedrigste der Tischmitte, drei: das
höchste. Fauler Zahn beendet den Zug. Am Ende gewinnen die meisten Zähne.""",
    },
}
