"""The rules of Raffzahn in words, for beginners."""

from collections.abc import Mapping
from typing import Final

GUIDE: Final[Mapping[str, str]] = {
    "en": """\
# What it is about
Forty tiles lie in the middle, each with one to seven teeth: the higher its number, the more teeth. Take tiles, from
the middle and from each other. When the last one leaves the middle, most teeth win.

# Your turn
Throw all three dice. Then you may throw any of them again, twice at most. The yellow die shows 10, 20, 30, two stars
(★) and a rotten tooth; the blue ones 1 to 5 and a star. Yellow plus blue is the number of a tile. A star counts 0.

Example: 20 + ★ + 3 is tile 23.

# What a throw can do
- Hit: the tile lies in the middle, or face up before another player. You may take it, and your turn ends.
- Own hit: the tile is yours. If it was face down, it is turned face up; if it was face up, it leaves the game. That
happens at once, and your turn ends.
- Miss: the tile lies face down before another player, or is out of the game. On the first two throws nothing happens.
On the third you give up tiles with at least three teeth together. You get no change.
- Rotten tooth: your turn ends at once, without a penalty.

Example: with 30 + 1 + 2 you hit tile 33. If it lies face up before Tom, it is yours now.

# Stars
- Two stars: the third die does not count. Take the lowest tile of the middle, or throw again if you still may.
- Three stars: you take the highest tile of the middle.

# Face up, face down
Your first three tiles lie face up, and others can take them. With three or more face up you may lay each new one face
down, in brackets on the board: [27]. Nobody can take it then, but your own hit turns it up.

# Passing
You may end your turn without a tile, except where a throw says what must happen.

# Options
- Edition. In the original edition two stars are first added like any other throw, and only if that hits nothing may
you take the lowest tile; three stars may be declined.
- Announcements: before the second or third throw you may name a tile of the middle, or one face up before another
player. If you take that tile with that throw, you have another turn.

# Places
Most teeth, then the highest single tile.

# Rulings
Where the rulebooks are silent:
- No source prints the teeth of all tiles; these are the even division that fits what the rulebooks show.
- A miss costs teeth on the third throw only. Stars or a rotten tooth are never a miss.
- You may pass after any throw that did not end your turn, unless you have to take or to give up teeth.
- Of tiles with at least three teeth you never give one that can be spared, but need not choose exactly three.
- Only a tile that you can win may be announced, and an extra turn may earn another.
""",
    "de": """\
# Worum es geht
Vierzig Plättchen liegen in der Tischmitte, jedes mit einem bis sieben Zähnen: je höher die Zahl, desto mehr. Hol dir
welche, aus der Mitte und voneinander. Ist das letzte aus der Mitte weg, gewinnen die meisten Zähne.

# Dein Zug
Wirf alle drei Würfel. Danach darfst du beliebige noch einmal werfen, höchstens zweimal. Der gelbe zeigt 10, 20, 30,
zwei Sterne (★) und einen faulen Zahn, die blauen 1 bis 5 und einen Stern. Gelb plus Blau ist die Nummer eines
Plättchens. Ein Stern zählt 0.

Beispiel: 20 + ★ + 3 ist Plättchen 23.

# Was ein Wurf bewirkt
- Beutetreffer: Das Plättchen liegt in der Mitte oder ungeschützt bei jemand anderem. Du darfst es nehmen, und dein Zug
ist zu Ende.
- Eigentreffer: Es gehört dir. War es geschützt, wird es aufgedeckt; war es ungeschützt, geht es aus dem Spiel. Das
geschieht sofort, und dein Zug ist zu Ende.
- Fehltreffer: Es liegt geschützt bei jemand anderem oder ist aus dem Spiel. Beim ersten und zweiten Wurf macht das
nichts. Beim dritten gibst du Plättchen mit zusammen mindestens drei Zähnen ab. Herausgegeben wird nichts.
- Fauler Zahn: Dein Zug ist sofort zu Ende, ohne Strafe.

Beispiel: 30 + 1 + 2 trifft Plättchen 33. Liegt es ungeschützt bei Tom, gehört es jetzt dir.

# Sterne
- Zwei Sterne: Der dritte Würfel zählt nicht. Nimm das niedrigste Plättchen der Mitte, oder würfle weiter, wenn du noch
darfst.
- Drei Sterne: Du nimmst das höchste Plättchen der Mitte.

# Ungeschützt und geschützt
Deine ersten drei Plättchen liegen ungeschützt, andere können sie nehmen. Sind es drei oder mehr, darfst du jedes
weitere geschützt legen; auf dem Tisch steht es in Klammern: [27]. Dann nimmt es dir niemand, aber ein Eigentreffer
deckt es auf.

# Weitergeben
Du darfst deinen Zug ohne Plättchen beenden, außer wo ein Wurf sagt, was geschehen muss.

# Möglichkeiten
- Ausgabe. In der ursprünglichen werden auch zwei Sterne erst addiert, und nur wenn das nichts trifft, darfst du das
niedrigste Plättchen nehmen; bei drei Sternen darfst du verzichten.
- Ansage: Vor dem zweiten oder dritten Wurf darfst du ein Plättchen aus der Mitte oder ein ungeschütztes der anderen
nennen. Nimmst du genau dieses mit genau diesem Wurf, hast du noch einen Zug.

# Plätze
Die meisten Zähne, dann das höchste einzelne Plättchen.

# Festlegungen
Wo die Anleitungen schweigen:
- Die Zähne aller Plättchen stehen nirgends; dies ist die gleichmäßige Verteilung, die zu den Abbildungen passt.
- Ein Fehltreffer kostet nur beim dritten Wurf Zähne. Sterne oder ein fauler Zahn sind nie ein Fehltreffer.
- Du darfst nach jedem Wurf weitergeben, der deinen Zug nicht beendet hat, außer du musst nehmen oder Zähne abgeben.
- Von Plättchen mit mindestens drei Zähnen gibst du keines ab, das entbehrlich ist; genau drei müssen es nicht sein.
- Nur ein Plättchen, das du bekommen kannst, darfst du ansagen, und ein Zug mehr kann noch einen einbringen.
""",
}
