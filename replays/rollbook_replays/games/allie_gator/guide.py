"""The rules of Allie Gator in words, for beginners."""

from collections.abc import Mapping
from typing import Final

GUIDE: Final[Mapping[str, str]] = {
    "en": """\
# What it is about
Lay number cards under two targets, and leave it to others to take the piles. Every card that you take is a penalty.
Players who take few cards get teeth, and most teeth win.

# The table
There are two piles. Each has a target, and the numbers laid on it rise towards that target. Allie's chip lies at one
of the piles. You hold five cards: numbers from 1 to 70, and special cards.

# Your turn
Do one of three things; then you draw up to five cards.

- Lay a number: higher than the top card of a pile, lower than its target.
- Play a special card. It lies before you as a penalty card.
- Snap: take the target and all cards of the pile at the chip as penalty cards. The chip goes to the other pile, and
the emptied pile gets a new target: a number card of your hand, or the first one of the stock if you have none. You
may always snap, and must when nothing else is possible.

Example: the target is 43 and the top card 20. You may lay any number from 21 to 42. After your 41 only the 42 fits.

# Special cards
- Change of direction (⇄): play goes round the other way. With two players nothing happens.
- Steal (⇐): take a card of another player's hand unseen; they draw one from the stock.
- Raise (⇑): a number card of your hand, higher than a target, covers it. The old target stays beneath.
- Allie's gift (♥): another player takes the top card of a pile as a penalty card.

# The end of a round
When the stock is empty nobody draws any more. The next snap ends the round. Every penalty card counts 1, and cards in
hands count nothing. The fewest get 2 teeth, the second fewest 1. If it is equal, fewer special cards among them are
better. With two players only the best gets teeth.

# The end of the match
The match ends after the round in which somebody reaches the teeth agreed on. Most teeth win, at most six; if it is
equal, fewer special cards in the last round.

# Rulings
Where the rulebook is silent:
- Allie's chip begins at the left pile.
- Of several winners of a round, the first clockwise from the player who began it begins the next.
- Steal may be played without a target when no other player has a card.
- A round also ends when a new target is needed and neither hand nor stock has a number card.
- Players behind a shared first place are second, and get their tooth.
""",
    "de": """\
# Worum es geht
Lege Zahlenkarten unter zwei Zielkarten, und überlass es anderen, die Stapel zu nehmen. Jede Karte, die du nimmst, ist
ein Minuspunkt. Wer wenige Karten nimmt, bekommt Zähne, und die meisten Zähne gewinnen.

# Der Tisch
Es gibt zwei Ablagen. Jede hat eine Zielkarte, und die Zahlen darauf steigen bis zu ihr an. Der Allie-Gator-Chip liegt
bei einer der beiden. Du hast fünf Karten: Zahlen von 1 bis 70 und Sonderkarten.

# Dein Zug
Tu eines von dreien; danach ziehst du auf fünf Karten nach.

- Eine Zahlenkarte ausspielen: höher als die oberste Karte der Ablage, niedriger als ihre Zielkarte.
- Eine Sonderkarte ausspielen. Sie liegt dann als Minuspunkt vor dir.
- Happs: Nimm die Zielkarte und alle Karten der Ablage beim Chip als Minuspunkte. Der Chip wandert zur anderen Ablage,
und die leere bekommt eine neue Zielkarte: eine Zahlenkarte aus deiner Hand, oder die erste vom Nachziehstapel, wenn
du keine hast. Happs geht immer, und du musst, wenn nichts anderes geht.

Beispiel: Die Zielkarte ist 43, oben liegt die 20. Du darfst jede Zahl von 21 bis 42 legen. Nach deiner 41 passt nur
noch die 42.

# Sonderkarten
- Richtungswechsel (⇄): Es geht andersherum weiter. Zu zweit geschieht nichts.
- Karte klauen (⇐): Zieh verdeckt eine Karte aus einer fremden Hand; wer beklaut wird, zieht eine nach.
- Zielkarte erhöhen (⇑): Eine höhere Zahlenkarte aus deiner Hand verdeckt die Zielkarte. Die alte bleibt darunter.
- Allies Geschenk (♥): Jemand anderes nimmt die oberste Karte einer Ablage als Minuspunkt.

# Ende einer Runde
Ist der Nachziehstapel leer, zieht niemand mehr. Das nächste Happs beendet die Runde. Jede Karte vor dir ist ein
Minuspunkt, Karten auf der Hand zählen nicht. Die wenigsten bekommen 2 Zähne, die zweitwenigsten 1. Bei Gleichstand
sind weniger Sonderkarten darunter besser. Zu zweit bekommt nur der Beste Zähne.

# Ende der Partie
Sie endet nach der Runde, in der jemand die vereinbarten Zähne erreicht. Die meisten Zähne gewinnen, höchstens sechs;
bei Gleichstand weniger Sonderkarten in der letzten Runde.

# Festlegungen
Wo die Anleitung schweigt:
- Allies Chip beginnt bei der linken Ablage.
- Von mehreren Siegern einer Runde beginnt der nächste im Uhrzeigersinn ab dem, der sie begonnen hat, die folgende.
- Karte klauen geht ohne Ziel, wenn sonst niemand eine Karte hat.
- Eine Runde endet auch, wenn eine neue Zielkarte nötig ist und weder Hand noch Nachziehstapel eine Zahl haben.
- Wer hinter einem geteilten ersten Platz liegt, ist Zweiter und bekommt seinen Zahn.
""",
}
