"""What the terminal says in English."""

from typing import Final

ENGLISH: Final = {
    # Words that many sentences need.
    "turn.of": "{name} is on turn",
    "turn.own": "It is your turn",
    # Choosing.
    "picking.all": "Pick all, or none",
    # Titles and statuses.
    "game.unknown": "This program does not know the game yet.",
    "dice.fixed": "fixed dice, not fair ones",
    "yes": "Yes",
    "no": "No",
    "menu.back": "back",
    # Replays.
    "replay.turn": "Turn {number} of {most}",
    "replay.event": "event {number} of {most}",
    "replay.go_to": "Go to turn (1 to {most}):",
    "event.one": "event",
    "event.many": "events",
    "replay.playing": "Plays {speed} a second",
    "replay.paused": "Paused; speed {speed} a second",
    "eyes.public": "seen by the public",
    "eyes.judge": "everything open",
    "eyes.seat": "seen by {name}",
    "hint.play": "play",
    "hint.faster": "faster",
    "hint.slower": "slower",
    "hint.back": "back",
    "hint.forward": "step",
    "hint.last_turn": "last turn",
    "hint.next_turn": "turn",
    "hint.first": "start",
    "hint.last": "end",
    "hint.go_to": "go to turn",
    "hint.look": "perspective",
    "hint.help": "help",
    "hint.leave": "leave",
    # Help.
    "help.close": "Esc closes this.",
    "help.replay": """\
REPLAY
← →   one event back, on        ↑ ↓   one turn back, on
home end   start, end           g   go to a turn by its number
space   play, pause             + -   faster, slower
v   look through other eyes     esc q   leave""",
    # Playing and watching.
    "seat.one": "seat",
    "seat.many": "seats",
    "match.one": "match",
    "match.many": "matches",
    "state.1": "open",
    "state.2": "getting ready",
    "state.3": "running",
    "state.4": "over",
    "state.5": "aborted",
    "connection.lost": "Connection lost, trying again …",
    "connection.back": "The connection is back; nothing was missed.",
    "no_service": """\
No service answers at {address}. `rollbook serve` starts one here, with --demo one
that always has matches; --service HOST:PORT names another.""",
    "table.looking": "Looking for the match …",
    "table.sending": "Sending …",
    "table.moved_on": "The match has moved on meanwhile.",
    "table.unknown": "No answer: nobody knows whether it counted. The same choice again counts once.",
    "table.delayed": "seen {seconds} s later",
    "table.waits_for": "Waiting for {name}.",
    "table.waits_for_seats": "Waiting for others: {seats} free.",
    "table.waits_for_ready": "Waiting until {names} got ready.",
    "table.invite": "This match: {match}",
    "table.invite.code": "Private. Others press c in the lobby and type the match, a space, and {code}",
    "table.leave_seat": "Get up from this table?",
    "table.give_up": "Give up for good? A caretaker plays on for you.",
    "hint.give_up": "give up",
    # The lobby.
    "hint.sit_down": "sit down",
    "hint.open": "new match",
    "hint.watch": "watch",
    "hint.code": "by id",
    "hint.rename": "name",
    "lobby.matches": "{matches} in public",
    "lobby.empty": "No match is open or running: o opens one.",
    "lobby.empty.watch": "No match is open or running.",
    "lobby.free": "free",
    "lobby.clock": "{seconds} s a turn",
    "lobby.you_are": "you are {name}",
    "lobby.ask_code": "Match, and for a private one a space and its invitation code:",
    "lobby.ask_name": "How are you called at the next table?",
    # NewMatch a match.
    "opening.title": "A new match",
    "opening.open": "Open the match and sit down",
    "opening.game": "Game",
    "opening.seats": "Seats",
    "opening.turn": "Clock",
    "opening.turn.value": "{seconds} s a turn",
    "opening.turn.none": "none",
    "opening.delay": "Spectators see it",
    "opening.delay.value": "{seconds} s later",
    "opening.delay.none": "at once",
    "opening.private": "Private, by invitation",
    "help.lobby": """\
LOBBY
↑ ↓   choose a match          enter   sit down, or go back to your table (►)
o   open a new match          w   look on at a match
c   join by id and code       n   change your name
esc q   leave""",
    "opening.keys": "↑ ↓ line   ← → change   ⏎ open   ? help   esc leave",
    "help.opening": """\
A NEW MATCH
↑ ↓   choose a line           ← →   change it
enter   on the last line opens the match, on others the next value
The clock is for each turn. Into a private match come those who have its code.
esc   leave""",
    "help.lobby.watch": """\
LOBBY
↑ ↓   choose a match          enter   look on at it
esc q   leave""",
    "help.table": """\
TABLE
The menu holds what you may do: ↑ ↓ and enter, a number, or a click; backspace
goes one menu back. Where dice are picked, letters pick them.
ctrl+x   get up, or give up   esc   lobby; your seat stays yours
► on turn   the clock: this turn + reserve""",
    "help.watch": """\
WATCHING
You see what the public may see, by the spectator delay later.
esc   leave             ► on turn   the clock: this turn + reserve""",
}
