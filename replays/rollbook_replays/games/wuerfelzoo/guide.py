"""The rules of Würfelzoo in words, for beginners."""

from collections.abc import Mapping
from typing import Final

GUIDE: Final[Mapping[str, str]] = {
    "en": """\
# What it is about
Get rid of your animal dice. The first player without dice wins the round. What the others still have are penalty
points.

# The animals, from large to small
- 6 elephant: nothing happens, but no animal is larger.
- 5 bear: throw any die again, yours or another player's.
- 4 boar: swap one of your dice for another player's. Both keep their faces.
- 3 fox: put another player's die back into the bag.
- 2 squirrel: another player draws a die, throws it and keeps it.
- 1 worm: give one of your dice to another player. It keeps its face.

The number is the animal's size. A trap (✗) can never be laid. ×2 is no animal, but doubles what one can do.

# Your turn
Either lay dice or throw dice again.

- Into an empty middle: any number of one animal.
- Onto dice: more of the same animal, or exactly as many of a larger one. The dice below go into the bag.
- After laying, the animal's ability is used once, and once more for each ×2 that you laid with it. It must be used
where it can be.
- Or throw again: pick any of your dice. Your turn ends with that.

Example: two squirrels lie in the middle. You may lay three or more squirrels, or exactly two foxes, boars, bears or
elephants. With two foxes and one ×2 you remove two dice of other players.

If the dice in the middle are still yours when your turn comes, they go into the bag, and the middle is empty.

# The end of a round
Whoever has no dice left when their turn ends wins the round, and so does whoever has none when their turn comes. What
the others still have costs penalty points: an animal its size, a trap 0, a ×2 seven. Fewer points are better.

# Dice are not all alike
Every die has three pairs of faces. "Could also show" names the others, so you can tell what throwing it may give:
- elephant, worm, trap
- bear, squirrel, trap
- boar, fox, trap or ×2
- elephant, fox, squirrel
- bear, boar, worm

# Options
- Points that end it: rounds are played until somebody has so many penalty points; fewest win. 0 is one single round.
- Dice wait in the box: spent dice come back only when the bag is empty.

# Rulings
Where the rulebook is silent:
- The player who begins is drawn again for every round.
- A player who loses the last die to others wins only if there is still none when their own turn begins.
- A squirrel gives a die to another player, never to yourself.
- With nothing but traps and ×2 you can only throw again.
""",
    "de": """\
# Worum es geht
Werde deine Tierwürfel los. Wer keine mehr hat, gewinnt die Runde. Was die anderen noch haben, sind Minuspunkte.

# Die Tiere, von groß nach klein
- 6 Elefant: Es geschieht nichts, aber kein Tier ist größer.
- 5 Bär: Wirf einen beliebigen Würfel neu, einen eigenen oder fremden.
- 4 Wildschwein: Tausche einen deiner Würfel gegen einen fremden. Beide zeigen weiter dasselbe.
- 3 Fuchs: Lege einen fremden Würfel zurück in den Beutel.
- 2 Eichhörnchen: Ein Mitspieler zieht einen Würfel, wirft ihn und behält ihn.
- 1 Regenwurm: Schenke einem Mitspieler einen deiner Würfel. Er zeigt weiter dasselbe.

Die Zahl ist die Größe des Tieres. Eine Falle (✗) kann nie ausgespielt werden. ×2 ist kein Tier, verdoppelt aber, was
eines kann.

# Dein Zug
Spiele Würfel aus, oder würfle neu.

- In die leere Tischmitte: beliebig viele eines Tieres.
- Auf Würfel: mehr von demselben Tier, oder genau so viele eines größeren. Die Würfel darunter kommen in den Beutel.
- Nach dem Ausspielen wird die Eigenschaft des Tieres einmal genutzt, und für jedes mit ausgespielte ×2 noch einmal. Wo
sie genutzt werden kann, muss sie es.
- Oder würfle neu: Wähle beliebige deiner Würfel. Damit endet dein Zug.

Beispiel: Zwei Eichhörnchen liegen in der Mitte. Du darfst drei oder mehr Eichhörnchen ausspielen, oder genau zwei
Füchse, Wildschweine, Bären oder Elefanten. Mit zwei Füchsen und einem ×2 entfernst du zwei fremde Würfel.

Liegen deine eigenen Würfel noch in der Mitte, wenn du wieder an der Reihe bist, kommen sie in den Beutel, und die Mitte
ist leer.

# Ende einer Runde
Wer am Ende seines Zuges keine Würfel mehr hat, gewinnt die Runde, und auch, wer keine hat, wenn er an die Reihe kommt.
Was die anderen noch haben, kostet Minuspunkte: ein Tier seine Größe, eine Falle 0, ein ×2 sieben. Weniger ist besser.

# Nicht alle Würfel sind gleich
Jeder Würfel hat drei Paare von Seiten. „Könnte auch zeigen“ nennt die anderen:
- Elefant, Regenwurm, Falle
- Bär, Eichhörnchen, Falle
- Wildschwein, Fuchs, Falle oder ×2
- Elefant, Fuchs, Eichhörnchen
- Bär, Wildschwein, Regenwurm

# Möglichkeiten
- Minuspunkte zum Ende: Es wird gespielt, bis jemand so viele hat; die wenigsten gewinnen. 0 ist eine einzige Runde.
- Würfel in die Schachtel: Verbrauchte Würfel kommen erst zurück, wenn der Beutel leer ist.

# Festlegungen
Wo die Anleitung schweigt:
- Wer beginnt, wird in jeder Runde neu ausgelost.
- Wem andere den letzten Würfel nehmen, gewinnt erst, wenn zu Beginn des eigenen Zuges immer noch keiner da ist.
- Ein Eichhörnchen gibt den Würfel immer jemand anderem.
- Mit nichts als Fallen und ×2 kannst du nur neu würfeln.
""",
}
