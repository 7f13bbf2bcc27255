"""Was das Terminal auf Deutsch sagt, in den Begriffen der Spielregeln."""

from typing import Final

GERMAN: Final = {
    # Words that many sentences need.
    "turn.of": "{name} ist am Zug",
    "turn.own": "Du bist am Zug",
    # Choosing.
    "picking.all": "Alle auswählen, oder keine",
    # Titles and statuses.
    "size.too_small": """\
Dieses Terminal hat {wide}×{high}.
Rollbook braucht mindestens {columns}×{rows}.
Mach das Fenster größer.""",
    "game.unknown": "Diese Version von Rollbook kennt das Spiel noch nicht.",
    "dice.fixed": "feste Würfel, keine fairen",
    "copied": "Kopiert",
    "yes": "Ja",
    "no": "Nein",
    "menu.back": "zurück",
    "menu.more": "… noch {count} {where}",
    # Clocks.
    "clock.none": "keine Uhr",
    "clock.seconds": "{number} s pro Zug",
    "clock.minute": "1 min pro Zug",
    "clock.minutes": "{number} min pro Zug",
    "clock.hour": "1 Stunde pro Zug",
    "clock.hours": "{number} Stunden pro Zug",
    "clock.day": "ein Tag pro Zug",
    "clock.days": "{number} Tage pro Zug",
    "clock.left": "noch {left}",
    "delay.none": "keine",
    "delay.seconds": "{number} s",
    "delay.minutes": "{number} min",
    "away": "weg",
    "away.minutes": "seit {number} min weg",
    # Replays.
    "replay.turn": "Zug {number} von {most}",
    "replay.event": "Ereignis {number} von {most}",
    "replay.go_to": "Gehe zu Zug (1 bis {most}):",
    "event.one": "Ereignis",
    "event.many": "Ereignisse",
    "replay.playing": "Spielt {speed} pro Sekunde",
    "replay.paused": "Angehalten; Tempo {speed} pro Sekunde",
    "eyes.public": "gesehen von Zuschauern",
    "eyes.judge": "alles offen",
    "eyes.seat": "gesehen von {name}",
    "key.space": "Leertaste",
    "key.home": "Pos1",
    "key.end": "Ende",
    "hint.play": "abspielen",
    "hint.faster": "schneller",
    "hint.slower": "langsamer",
    "hint.back": "zurück",
    "hint.forward": "Schritt",
    "hint.last_turn": "voriger Zug",
    "hint.next_turn": "nächster Zug",
    "hint.turn": "Zug",
    "hint.first": "Anfang",
    "hint.last": "Ende",
    "hint.go_to": "zu Zug",
    "hint.look": "Perspektive",
    "hint.help": "Hilfe",
    "hint.rules": "Hilfe",
    "hint.leave": "gehen",
    "hint.copy": "ID",
    "hint.present": "jetzt",
    "hint.pace": "Tempo",
    "hint.bell": "Ton",
    # Help.
    "help.close": "Esc schließt die Hilfe.",
    "help.replay": """\
WIEDERGABE
← →   ein Ereignis zurück, vor   ↑ ↓   einen Zug zurück, vor
Pos1 Ende   Anfang, Ende         g   zu einem Zug mit seiner Nummer
Leertaste   abspielen, anhalten  + -   schneller, langsamer
v   mit anderen Augen sehen      ctrl+y   ID der Partie kopieren
esc q   verlassen""",
    # Playing and watching.
    "seat.one": "Platz",
    "seat.many": "Plätze",
    "match.one": "Partie",
    "match.many": "Partien",
    "move.one": "Spielzug",
    "move.many": "Spielzüge",
    "state.1": "Offen",
    "state.2": "Vorbereitung",
    "state.3": "Läuft",
    "state.4": "Beendet",
    "state.5": "Abgebrochen",
    "connection.lost": "Verbindung verloren, neuer Versuch …",
    "connection.back": "Die Verbindung ist wieder da; dir fehlt nichts.",
    "no_service": """\
An {address} antwortet kein Dienst. `rollbook serve` startet hier einen (mit --demo
einen, der immer Partien hat), und --service HOST:PORT nennt einen anderen.""",
    "no_file": "Eine Datei {source} gibt es nicht; und bei {service}: {why}",
    "no_source": "{source}: keine solche Datei, und weder ID einer Partie noch Einladung (HOST:PORT/MATCH).",
    "table.looking": "Die Partie wird gesucht …",
    "table.sending": "Wird gesendet: {choice} …",
    "table.behind": "{moves} in Verzug, Leertaste holt auf",
    "table.catching_up": "Du bist am Zug, sobald du aufgeholt hast (Leertaste).",
    "choice.waiting": "Noch nicht gesendet: {choice}\nEs geht hinaus, sobald der Dienst wieder da ist.",
    "choice.arrived": "Deine Wahl ist angekommen: {choice}",
    "choice.lost": "Deine Wahl kam zu spät und zählt nicht: {choice}",
    "choice.unknown": """\
Keine Antwort: Ob das gezählt hat, ist noch unklar: {choice}
Noch einmal gewählt zählt es nur einmal.""",
    "timeout.own": """\
Deine Zeit war um, ein Bot hat für dich gewählt ({number} von {most} Zügen in Folge; dann scheidest du aus).""",
    "timeout.out": "Du bist ausgeschieden: {number} Züge in Folge war deine Zeit um.",
    "resigned.own": "Du hast aufgegeben.",
    "seat.played_out": "Ein Bot spielt deinen Platz zu Ende.",
    "pace": "Züge der anderen: je {seconds} s",
    "bell.on": "Es klingelt, wenn du am Zug bist.",
    "bell.off": "Der Ton ist aus.",
    "leave.seat": "Den Tisch verlassen? Komm jederzeit wieder, dein Platz bleibt dir.",
    "leave.clock": """\
Deine Uhr läuft weiter: Ist deine Zeit um, wählt ein Bot für dich, und nach drei
Zügen in Folge scheidest du aus.""",
    "leave.no_clock": "Es läuft keine Uhr: Die anderen warten auf dich.",
    "leave.under_way": "Deine letzte Wahl ist noch nicht angekommen und ginge verloren: {choice}",
    "leave.lobby": """\
Verlassen? In {matches} läuft deine Uhr. Ist deine Zeit um, wählt ein Bot für
dich, und nach drei Zügen in Folge scheidest du aus.""",
    "leave.yes": "Verlassen",
    "leave.no": "Bleiben",
    "table.delayed": "{seconds} s verzögert",
    "table.waits_for": "Warten auf {name}.",
    "table.waits_for_seats": "Warten auf Mitspieler: {seats} frei.",
    "table.waits_for_rematch": "5 Minuten lang für die Spieler von eben frei.",
    "table.waits_for_ready": "Noch nicht bereit: {names}.",
    "table.invite": "Andere kommen mit der Zeile oben; i kopiert sie.",
    "table.leave_seat": "Diesen Platz verlassen? Dann kann ihn jemand anderes nehmen.",
    "table.give_up": "Aufgeben? Ein Bot spielt deinen Platz zu Ende.",
    "hint.give_up": "aufgeben",
    "hint.leave_seat": "Platz verlassen",
    # What the opener can do.
    "host.bot": "Einen Bot dazusetzen",
    "host.bot.about": "Ein Bot setzt sich, macht sich bereit und spielt.",
    "host.bot.random": "Schwach: Er spielt, wie es kommt",
    "host.bot.heuristic": "Mittel: Er weiß, was gut ist",
    "host.bot.monte_carlo": "Stark: Er denkt voraus",
    "host.free": "Den Platz von {name} freigeben",
    "host.free.about": "Dann kann ihn jemand anderes nehmen.",
    "host.withdraw": "Die Partie zurückziehen",
    "host.withdraw.about": "Sie endet für alle, die hier sitzen.",
    "host.withdraw.sure": "Die Partie zurückziehen? Sie endet für alle, die hier sitzen.",
    "hint.invite": "einladen",
    # The end.
    "end.won": "Du gewinnst!",
    "end.shared": "Du gewinnst, zusammen mit {names}!",
    "end.place": "{names} gewinnt, du wirst {place}.",
    "end.places": "{names} gewinnen, du wirst {place}.",
    "end.wins": "{names} gewinnt.",
    "end.win": "{names} gewinnen.",
    "come.2": "Zweiter",
    "come.3": "Dritter",
    "come.4": "Vierter",
    "come.5": "Fünfter",
    "come.6": "Sechster",
    "place.1": "Platz 1",
    "place.2": "Platz 2",
    "place.3": "Platz 3",
    "place.4": "Platz 4",
    "place.5": "Platz 5",
    "place.6": "Platz 6",
    "end.gave_up": "ausgeschieden",
    "end.again": "Noch einmal spielen",
    "end.again.about": "Dieselbe Partie noch einmal: Die Plätze bleiben 5 Minuten lang für euch frei.",
    "end.decline": "Nein danke",
    "end.decline.about": "Die anderen erfahren es, und dein Platz wird frei. Taste: x.",
    "rematch.wants": "{names} will noch einmal spielen.",
    "rematch.want": "{names} wollen noch einmal spielen.",
    "rematch.waits": "Warten auf {names}, {left}",
    "rematch.declined": "Abgelehnt: {names}.",
    "rematch.left": "Ist gegangen: {names}.",
    "rematch.you_declined": "Du hast abgelehnt.",
    "end.replay": "Wiedergabe ansehen",
    "end.replay.about": "Schritt für Schritt, vorwärts und rückwärts.",
    "end.save": "Als Datei speichern",
    "end.save.about": "Eine beendete Partie ist eine einzige Datei, in der alles steht.",
    "end.save.where": "Speichern als:",
    "end.saved": "Gespeichert als {path}",
    "end.fetching": "Die Partie wird geholt …",
    "end.verify": "Nachprüfen",
    "end.verify.about": "Prüft jeden Wurf und jeden Zug auf diesem Rechner.",
    "end.verifying": "Wird geprüft …",
    "end.leave": "Zurück in die Lobby",
    "end.leave.about": "Du findest die Partie wieder unter „Meine Partien“.",
    "verdict.exact": "Geprüft: Alle {events} Ereignisse stimmen.",
    "verdict.unverified": "Nichts ist falsch in {events} Ereignissen, aber nicht alles ließ sich prüfen: {why}",
    "verdict.diverged": "Nach Ereignis {events} stimmt etwas nicht: {why}",
    "verdict.unreadable": "Nach Ereignis {events} nicht lesbar: {why}",
    "result.won": "gewonnen",
    "result.place": "{place} von {most}",
    "result.gave_up": "ausgeschieden",
    # The lobby.
    "hint.sit_down": "setzen",
    "hint.go_back": "Tisch",
    "hint.open": "neu",
    "hint.watch": "zusehen",
    "hint.code": "Code",
    "hint.rename": "Name",
    "hint.play_now": "sofort",
    "lobby.mine": "Meine Partien",
    "lobby.public": "Öffentliche Partien",
    "lobby.matches": "{matches} offen oder im Gange",
    "lobby.called": "Du bist am Zug in {matches}",
    "lobby.asks": "Noch einmal?",
    "lobby.own_turn": "du bist am Zug",
    "lobby.own_turn.clock": "am Zug, noch {left}",
    "lobby.private": "privat",
    "lobby.id": "Partie {match}",
    "lobby.empty": "Keine Partie ist offen oder läuft. Drücke o, um eine zu eröffnen.",
    "lobby.empty.watch": "Keine Partie ist offen oder läuft.",
    "lobby.free": "frei",
    "lobby.you_are": "du bist {name}",
    "lobby.ask_code": "Einladung, oder die ID einer Partie:",
    "lobby.no_invitation": "Das ist keine Einladung. Sie lautet HOST:PORT/PARTIE oder HOST:PORT/PARTIE/CODE.",
    "lobby.elsewhere": "Diese Partie ist nicht hier, sondern bei {service}; führe die Zeile der Einladung aus.",
    "lobby.sits_already": "Du sitzt hier schon als {name}.",
    "lobby.ask_name": "Dein Name:",
    # Playing now.
    "now.title": "Sofort spielen: welches Spiel?",
    "now.waiting": "{title} · {count} warten",
    "now.people": "Nur mit Menschen",
    "now.slow": "Ein Tag je Zug",
    "now.keys": "↑ ↓ Zeile   ⏎ spielen oder umschalten   Esc zurück",
    "now.looking": "Suche einen Tisch …",
    "now.unready": "Keine Antwort von {names}. Ein anderer Tisch wird gesucht.",
    "table.bots_join": "Bots kommen in {left}",
    "table.bots_busy": "Bots kommen, sobald welche frei sind",
    # A new match.
    "opening.title": "Eine neue Partie",
    "opening.open": "Partie eröffnen und hinsetzen",
    "opening.game": "Spiel",
    "opening.seats": "Plätze",
    "opening.turn": "Uhr",
    "opening.delay": "Verzögerung für Zuschauer",
    "opening.private": "Privat, mit Einladung",
    "help.lobby": """\
LOBBY
↑ ↓   Partie wählen           Enter   hinsetzen, oder zurück an den Tisch
p   sofort spielen, mit Menschen oder Bots
o   neue Partie eröffnen      w   bei einer Partie zusehen
c   mit einer Einladung       n   Namen ändern
y   ID der Partie kopieren    ctrl+g   Ton an oder aus
► du bist am Zug              esc q   verlassen""",
    "opening.keys": "↑ ↓ Zeile   ← → ändern   ⏎ eröffnen   ? Hilfe, Regeln   esc verlassen",
    "help.opening": """\
EINE NEUE PARTIE
↑ ↓   Zeile wählen            ← →   ändern
Enter   eröffnet die Partie, auf jeder Zeile
Die Uhr gilt für jeden Zug. Ist deine Zeit um, wählt ein Bot für dich;
nach drei Zügen in Folge scheidest du aus, und der Bot spielt weiter.
Zuschauer sehen die Partie später, um die Verzögerung für Zuschauer.
Eine private Partie braucht ihren Code.
esc   verlassen""",
    "help.lobby.watch": """\
LOBBY
↑ ↓   Partie wählen           Enter   bei ihr zusehen
y   ID der Partie kopieren    esc q   verlassen""",
    "help.table": """\
TISCH
Das Menü enthält alles, was du darfst: ↑ ↓ und Enter, eine Zahl oder ein
Klick; Rücktaste führt zurück. Würfel werden mit Buchstaben gewählt.
Was auf dem Tisch liegt, kann auch angeklickt werden und zeigt, worauf du
gerade stehst. ► ist am Zug; die Uhr zeigt den Rest des Zuges.
Leertaste   sofort zeigen, was geschah
ctrl+p   Züge schneller, langsamer   ctrl+g   Ton an oder aus
ctrl+y   ID der Partie kopieren      ctrl+x   Platz verlassen, aufgeben
i        Einladung kopieren, solange Plätze frei sind
n        nach einer Partie: sofort die nächste
esc      Lobby; dein Platz bleibt dir""",
    "help.watch": """\
ZUSEHEN
Du siehst, was Zuschauer sehen dürfen, um die Verzögerung später. ► ist am
Zug; die Uhr zeigt den Rest des Zuges.
Leertaste   sofort zeigen, was geschah   ctrl+p   schneller, langsamer
ctrl+y      ID der Partie kopieren       esc      verlassen""",
}
