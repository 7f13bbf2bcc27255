"""Was das Terminal auf Deutsch sagt, in den Begriffen der Spielregeln."""

from typing import Final

GERMAN: Final = {
    # Words that many sentences need.
    "turn.of": "{name} ist am Zug",
    "turn.own": "Du bist am Zug",
    # Choosing.
    "picking.all": "Alle auswählen, oder keine",
    # Titles and statuses.
    "game.unknown": "Dieses Programm kennt das Spiel noch nicht.",
    "dice.fixed": "feste Würfel, keine fairen",
    "yes": "Ja",
    "no": "Nein",
    "menu.back": "zurück",
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
    "hint.play": "abspielen",
    "hint.faster": "schneller",
    "hint.slower": "langsamer",
    "hint.back": "zurück",
    "hint.forward": "Schritt",
    "hint.last_turn": "Zug zurück",
    "hint.next_turn": "Zug",
    "hint.first": "Anfang",
    "hint.last": "Ende",
    "hint.go_to": "zu Zug",
    "hint.look": "Perspektive",
    "hint.help": "Hilfe",
    "hint.leave": "verlassen",
    # Help.
    "help.close": "Esc schließt die Hilfe.",
    "help.replay": """\
WIEDERGABE
← →   ein Ereignis zurück, vor   ↑ ↓   einen Zug zurück, vor
Pos1 Ende   Anfang, Ende         g   zu einem Zug mit seiner Nummer
Leertaste   abspielen, anhalten  + -   schneller, langsamer
v   mit anderen Augen sehen      esc q   verlassen""",
    # Playing and watching.
    "seat.one": "Platz",
    "seat.many": "Plätze",
    "match.one": "Partie",
    "match.many": "Partien",
    "state.1": "offen",
    "state.2": "macht sich bereit",
    "state.3": "läuft",
    "state.4": "zu Ende",
    "state.5": "abgebrochen",
    "connection.lost": "Verbindung verloren, neuer Versuch …",
    "connection.back": "Die Verbindung ist wieder da; nichts fehlt.",
    "no_service": """\
An {address} antwortet kein Dienst. `rollbook serve` startet hier einen, mit --demo
einen, der immer Partien hat; --service HOST:PORT nennt einen anderen.""",
    "table.looking": "Die Partie wird gesucht …",
    "table.sending": "Wird gesendet …",
    "table.moved_on": "Die Partie ist inzwischen weiter.",
    "table.unknown": "Keine Antwort: Ob es gezählt hat, ist unklar. Dieselbe Wahl zählt nur einmal.",
    "table.delayed": "{seconds} s später zu sehen",
    "table.waits_for": "Warten auf {name}.",
    "table.waits_for_seats": "Warten auf andere: {seats} frei.",
    "table.waits_for_ready": "Warten, bis {names} bereit ist.",
    "table.invite": "Diese Partie: {match}",
    "table.invite.code": "Privat. Andere drücken c in der Lobby und tippen die Partie, Leerzeichen, {code}",
    "table.leave_seat": "Von diesem Tisch aufstehen?",
    "table.give_up": "Endgültig aufgeben? Eine Vertretung spielt für dich weiter.",
    "hint.give_up": "aufgeben",
    # The lobby.
    "hint.sit_down": "hinsetzen",
    "hint.open": "neue Partie",
    "hint.watch": "zusehen",
    "hint.code": "Nummer",
    "hint.rename": "Name",
    "lobby.matches": "{matches} öffentlich",
    "lobby.empty": "Keine Partie ist offen oder läuft: o eröffnet eine.",
    "lobby.empty.watch": "Keine Partie ist offen oder läuft.",
    "lobby.free": "frei",
    "lobby.clock": "{seconds} s pro Zug",
    "lobby.you_are": "du bist {name}",
    "lobby.ask_code": "Partie, bei einer privaten dahinter Leerzeichen und Einladungscode:",
    "lobby.ask_name": "Wie heißt du am nächsten Tisch?",
    # NewMatch a match.
    "opening.title": "Eine neue Partie",
    "opening.open": "Partie eröffnen und hinsetzen",
    "opening.game": "Spiel",
    "opening.seats": "Plätze",
    "opening.turn": "Uhr",
    "opening.turn.value": "{seconds} s pro Zug",
    "opening.turn.none": "keine",
    "opening.delay": "Zuschauer sehen es",
    "opening.delay.value": "{seconds} s später",
    "opening.delay.none": "sofort",
    "opening.private": "Privat, mit Einladung",
    "help.lobby": """\
LOBBY
↑ ↓   Partie wählen           Enter   hinsetzen, oder zurück an den Tisch (►)
o   neue Partie eröffnen      w   bei einer Partie zusehen
c   mit Nummer und Code       n   Namen ändern
esc q   verlassen""",
    "opening.keys": "↑ ↓ Zeile   ← → ändern   ⏎ eröffnen   ? Hilfe   esc verlassen",
    "help.opening": """\
EINE NEUE PARTIE
↑ ↓   Zeile wählen            ← →   ändern
Enter   eröffnet auf der letzten Zeile, auf anderen der nächste Wert
Die Uhr gilt für jeden Zug. In eine private Partie kommt, wer ihren Code hat.
esc   verlassen""",
    "help.lobby.watch": """\
LOBBY
↑ ↓   Partie wählen           Enter   bei ihr zusehen
esc q   verlassen""",
    "help.table": """\
TISCH
Das Menü enthält, was du darfst: ↑ ↓ und Enter, eine Zahl oder ein Klick;
Rücktaste führt ein Menü zurück. Wo Würfel gewählt werden, wählen Buchstaben.
ctrl+x   aufstehen oder aufgeben   esc   Lobby; dein Platz bleibt dir
► am Zug   die Uhr: dieser Zug + Reserve""",
    "help.watch": """\
ZUSEHEN
Du siehst, was Zuschauer sehen dürfen, um die Verzögerung später.
esc   verlassen         ► am Zug   die Uhr: dieser Zug + Reserve""",
}
