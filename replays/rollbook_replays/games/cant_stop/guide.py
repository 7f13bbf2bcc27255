"""The rules of Can't Stop in words, for beginners."""

from collections.abc import Mapping
from typing import Final

GUIDE: Final[Mapping[str, str]] = {
    "en": """\
# What it is about
Climb the eleven columns, numbered 2 to 12. Whoever first holds three of them wins. You may throw as often as you
dare, but one throw too many costs everything you gained in this turn.

# Your turn
- Throw four dice and make two pairs of them. The sum of each pair is a column.
- Put a runner (●) into each of the two columns, one step above your own marker, or on the lowest field if you have
none there. If a runner is there already, it goes one step up. If both sums are equal, it goes two steps.
- Then decide: throw again, or stop.

Example: 1 3 4 6 makes 4 and 10 (1+3, 4+6), 5 and 9 (1+4, 3+6), or 7 and 7 (1+6, 3+4). You choose one of the three.

You have three runners. If both pairs can be used, both must be. If only one runner is left for two new columns, you
choose which of them gets it. A pair that no runner can use lapses; you may also choose two pairs of which only one
can be used.

# Bust
If no pair of a throw can be used by any runner, you are bust: the runners leave the board and your markers stay where
they were.

Example: your runners stand in 7, 8 and 9 and you throw 1 1 2 2. There is no 7, 8 or 9 in it, so the turn is lost.

# Stopping
Your runners become markers (each player has a sign) and the next player throws. What markers have reached is never
lost. Several markers may share a field, and nobody blocks anybody.

# Winning a column
A runner on the number at the top wins the column when you stop. All other markers in it are taken off, and nobody
plays there any more. Until you stop it is not won, and the runner on top is still one of your three.

# Variants
- Columns that win: 4 or 5 instead of 3, for three or two players.
- Runners as fast as possible: you must choose pairs that bring new runners into play where there are any, and then
those that move the most.
- Stop on free fields only: you may not stop while a runner shares a field with another player's marker.

# The others' places
Whoever holds more columns is ahead, then whoever has climbed more in the columns that nobody has won.

# Rulings
Where the rulebook is silent:
- A second step beyond the top of a column lapses.
- A runner on the top still counts as one of the three.
- With runners as fast as possible, new runners go before two steps as long as one is off the board.
""",
    "de": """\
# Worum es geht
Es gibt elf Spalten mit den Zahlen 2 bis 12. Wer zuerst drei davon besetzt, gewinnt. Du darfst würfeln, so oft du dich
traust, aber ein Wurf zu viel kostet alles, was du in diesem Zug erreicht hast.

# Dein Zug
- Wirf vier Würfel und bilde zwei Paare. Die Summe jedes Paares ist eine Spalte.
- In jede der beiden Spalten kommt ein Läufer (●): ein Feld über deinen Spielstein, oder auf das unterste Feld, wenn du
dort keinen hast. Steht dort schon ein Läufer, rückt er ein Feld vor. Sind beide Summen gleich, rückt er zwei Felder.
- Dann entscheide: weiterwürfeln oder aufhören.

Beispiel: 1 3 4 6 ergibt 4 und 10 (1+3, 4+6), 5 und 9 (1+4, 3+6) oder 7 und 7 (1+6, 3+4). Eine der drei wählst du.

Du hast drei Läufer. Können beide Paare genutzt werden, müssen es beide. Ist nur noch ein Läufer für zwei neue Spalten
da, wählst du eine davon. Ein Paar, das kein Läufer nutzen kann, verfällt; du darfst auch Paare wählen, von denen nur
eines etwas bringt.

# Zu viel gewagt
Kann kein Läufer auch nur ein Paar nutzen, ist dein Zug verloren: Die Läufer kommen vom Plan, deine Spielsteine
bleiben, wo sie waren.

Beispiel: Deine Läufer stehen in 7, 8 und 9, und du würfelst 1 1 2 2. Darin steckt keine 7, 8 oder 9.

# Aufhören
Aus Läufern werden Spielsteine (jeder Spieler hat ein Zeichen), und der Nächste würfelt. Was Spielsteine erreicht
haben, bleibt. Mehrere dürfen auf einem Feld stehen, niemand hält jemanden auf.

# Eine Spalte gewinnen
Ein Läufer auf dem Zahlenfeld ganz oben gewinnt die Spalte, wenn du aufhörst. Alle anderen Spielsteine darin kommen
weg, und niemand spielt dort mehr. Bis du aufhörst, ist nichts gewonnen, und der Läufer oben zählt zu deinen dreien.

# Varianten
- Spalten zum Sieg: 4 oder 5 statt 3, zu dritt oder zu zweit.
- Läufer schnellstmöglich: Du musst Paare wählen, die neue Läufer ins Spiel bringen, wo es geht, und unter diesen
solche, die am meisten bewegen.
- Aufhören nur auf freien Feldern: Steht ein Läufer bei einem fremden Spielstein, darfst du nicht aufhören.

# Die übrigen Plätze
Wer mehr Spalten hat, liegt vorn; danach zählt, wer in den offenen Spalten höher steht.

# Festlegungen
Wo die Anleitung schweigt:
- Ein zweiter Schritt über das Zahlenfeld hinaus verfällt.
- Ein Läufer auf dem Zahlenfeld zählt weiter zu den dreien.
- Bei „Läufer schnellstmöglich“ gehen neue Läufer vor zwei Schritten, solange einer nicht auf dem Plan ist.
""",
}
