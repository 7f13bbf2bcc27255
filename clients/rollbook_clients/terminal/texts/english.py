"""English texts of the terminal."""

from typing import Final

ENGLISH: Final = {
    # Words that many sentences need.
    "turn.of": "{name}'s turn",
    "turn.own": "Your turn",
    # Choosing.
    "picking.all": "Pick all or none",
    # Titles and statuses.
    "size.too_small": """\
This terminal is {wide}×{high}.
Rollbook needs at least {columns}×{rows}.
Make the window larger.""",
    "game.unknown": "This version of Rollbook does not know the game yet.",
    "dice.fixed": "fixed dice, not fair ones",
    "copied": "Copied",
    "yes": "Yes",
    "no": "No",
    "menu.back": "back",
    "menu.more": "… {count} more {where}",
    # Clocks.
    "clock.none": "no clock",
    "clock.seconds": "{number} s a turn",
    "clock.minute": "1 min a turn",
    "clock.minutes": "{number} min a turn",
    "clock.hour": "1 hour a move",
    "clock.hours": "{number} hours a move",
    "clock.day": "a day a move",
    "clock.days": "{number} days a move",
    "clock.left": "{left} left",
    "delay.none": "none",
    "delay.seconds": "{number} s",
    "delay.minutes": "{number} min",
    "away": "away",
    "away.minutes": "away for {number} min",
    # Replays.
    "replay.turn": "Turn {number} of {most}",
    "replay.event": "event {number} of {most}",
    "replay.go_to": "Go to turn (1 to {most}):",
    "event.one": "event",
    "event.many": "events",
    "replay.playing": "Playing {speed} a second",
    "replay.paused": "Paused; speed {speed} a second",
    "eyes.public": "as the public saw it",
    "eyes.judge": "everything open",
    "eyes.seat": "as {name} saw it",
    "key.space": "space",
    "key.home": "home",
    "key.end": "end",
    "hint.play": "play",
    "hint.faster": "faster",
    "hint.slower": "slower",
    "hint.back": "back",
    "hint.forward": "step",
    "hint.last_turn": "previous turn",
    "hint.next_turn": "next turn",
    "hint.turn": "turn",
    "hint.first": "start",
    "hint.last": "end",
    "hint.go_to": "go to turn",
    "hint.look": "perspective",
    "hint.help": "help",
    "hint.rules": "help, rules",
    "hint.leave": "leave",
    "hint.copy": "id",
    "hint.present": "now",
    "hint.pace": "pace",
    "hint.bell": "bell",
    # Help.
    "help.close": "Esc closes this.",
    "help.replay": """\
REPLAY
← →   one event back, on        ↑ ↓   one turn back, on
home end   start, end           g   go to a turn by its number
space   play, pause             + -   faster, slower
v   look through other eyes     ctrl+y   copy the match's id
esc q   leave""",
    # Playing and watching.
    "seat.one": "seat",
    "seat.many": "seats",
    "match.one": "match",
    "match.many": "matches",
    "move.one": "move",
    "move.many": "moves",
    "state.1": "Open",
    "state.2": "Getting ready",
    "state.3": "Running",
    "state.4": "Finished",
    "state.5": "Aborted",
    "connection.lost": "Connection lost, trying again …",
    "connection.back": "Connected again; you have missed nothing.",
    "no_service": """\
No service answers at {address}. `rollbook serve` starts one here (with --demo one
that always has matches), and --service HOST:PORT names another.""",
    "no_file": "There is no file {source}; and at {service}: {why}",
    "no_source": "{source}: no such file, and neither the id of a match nor an invitation (HOST:PORT/MATCH).",
    "table.looking": "Looking for the match …",
    "table.sending": "Sending {choice} …",
    "table.behind": "{moves} behind, Space to catch up",
    "table.catching_up": "Your turn, as soon as you have caught up (Space).",
    "choice.waiting": "Not sent yet: {choice}\nIt goes out as soon as the service is back.",
    "choice.arrived": "Your choice has arrived: {choice}",
    "choice.lost": "Your choice came too late and did not count: {choice}",
    "choice.unknown": "No answer, so it is unclear whether this counted: {choice}\nChoosing it again counts only once.",
    "timeout.own": "Your time ran out, so a bot chose for you ({number} of {most} turns in a row; then you are out).",
    "timeout.out": "You are out: your time ran out {number} turns in a row.",
    "resigned.own": "You have resigned.",
    "seat.played_out": "A bot plays out your seat.",
    "pace": "Other players' moves: {seconds} s each",
    "bell.on": "The bell rings when it is your turn.",
    "bell.off": "The bell is off.",
    "leave.seat": "Leave the table? Come back any time; your seat is still yours.",
    "leave.clock": """\
Your clock runs on: if your time is up, a bot chooses for you, and after three
turns in a row you are out.""",
    "leave.no_clock": "There is no clock: the others wait for you.",
    "leave.under_way": "Your last choice has not arrived yet and would be lost: {choice}",
    "leave.lobby": """\
Leave? Your clock runs in {matches}. If your time is up, a bot chooses for you,
and after three turns in a row you are out.""",
    "leave.yes": "Leave",
    "leave.no": "Stay",
    "table.delayed": "{seconds} s behind",
    "table.waits_for": "Waiting for {name}.",
    "table.waits_for_seats": "Waiting for players: {seats} free.",
    "table.waits_for_rematch": "Seats kept 5 minutes for the same players.",
    "table.waits_for_ready": "Waiting for {names} to get ready.",
    "table.invite": "Others come with the line at the top; i copies it.",
    "table.leave_seat": "Leave this seat? Another player can take it then.",
    "table.give_up": "Resign? A bot will play out your seat.",
    "hint.give_up": "resign",
    "hint.leave_seat": "leave seat",
    # What the opener can do.
    "host.bot": "Add a bot",
    "host.bot.about": "A bot sits down, gets ready and plays.",
    "host.bot.random": "Weak: it plays at random",
    "host.bot.heuristic": "Medium: it knows what is good",
    "host.bot.monte_carlo": "Strong: it thinks ahead",
    "host.free": "Free the seat of {name}",
    "host.free.about": "Another player can take it then.",
    "host.withdraw": "Withdraw the match",
    "host.withdraw.about": "It ends for all who sit here.",
    "host.withdraw.sure": "Withdraw the match? It ends for all who sit here.",
    "hint.invite": "invite",
    # The end.
    "end.won": "You win!",
    "end.shared": "You win, together with {names}!",
    "end.place": "{names} wins. You come {place}.",
    "end.places": "{names} win. You come {place}.",
    "end.wins": "{names} wins.",
    "end.win": "{names} win.",
    "come.2": "second",
    "come.3": "third",
    "come.4": "fourth",
    "come.5": "fifth",
    "come.6": "sixth",
    "place.1": "1st",
    "place.2": "2nd",
    "place.3": "3rd",
    "place.4": "4th",
    "place.5": "5th",
    "place.6": "6th",
    "end.gave_up": "out",
    "end.again": "Play again",
    "end.again.about": "The same match once more: the seats are kept for all of you for 5 minutes.",
    "end.decline": "No thanks",
    "end.decline.about": "The others learn it, and your seat is free for somebody else. Key: x.",
    "rematch.wants": "{names} wants to play again.",
    "rematch.want": "{names} want to play again.",
    "rematch.waits": "Waiting for {names}, {left}",
    "rematch.declined": "Declined: {names}.",
    "rematch.left": "Has left: {names}.",
    "rematch.you_declined": "You have declined.",
    "end.replay": "Watch the replay",
    "end.replay.about": "Step by step, forwards and backwards.",
    "end.save": "Save it as a file",
    "end.save.about": "A finished match is one self-contained file.",
    "end.save.where": "Save as:",
    "end.saved": "Saved as {path}",
    "end.fetching": "Fetching the match …",
    "end.verify": "Verify it",
    "end.verify.about": "Checks every throw and every move on this machine.",
    "end.verifying": "Verifying …",
    "end.leave": "Back to the lobby",
    "end.leave.about": "You find the match again under “My matches”.",
    "verdict.exact": "Verified: all {events} events check out.",
    "verdict.unverified": "Nothing is wrong in {events} events, but not everything could be checked: {why}",
    "verdict.diverged": "Something is wrong after event {events}: {why}",
    "verdict.unreadable": "Unreadable after event {events}: {why}",
    "result.won": "you won",
    "result.place": "{place} of {most}",
    "result.gave_up": "out",
    # The lobby.
    "hint.sit_down": "sit down",
    "hint.go_back": "table",
    "hint.open": "new match",
    "hint.watch": "watch",
    "hint.code": "by id",
    "hint.rename": "name",
    "hint.play_now": "play",
    "lobby.mine": "My matches",
    "lobby.public": "Public matches",
    "lobby.matches": "{matches} open or running",
    "lobby.called": "Your turn in {matches}",
    "lobby.asks": "Play again?",
    "lobby.own_turn": "your turn",
    "lobby.own_turn.clock": "your turn, {left}",
    "lobby.private": "private",
    "lobby.id": "Match {match}",
    "lobby.empty": "No match is open or running. Press o to open one.",
    "lobby.empty.watch": "No match is open or running.",
    "lobby.free": "free",
    "lobby.you_are": "you are {name}",
    "lobby.ask_code": "Invitation, or the id of a match:",
    "lobby.no_invitation": "That is no invitation. It reads HOST:PORT/MATCH or HOST:PORT/MATCH/CODE.",
    "lobby.elsewhere": "That match is not here but at {service}; run the line of the invitation.",
    "lobby.sits_already": "You already sit here as {name}.",
    "lobby.ask_name": "Your name:",
    # Playing now.
    "now.title": "Play now: which game?",
    "now.waiting": "{title} · {count} waiting",
    "now.people": "People only",
    "now.slow": "A day a turn",
    "now.keys": "↑ ↓ line   ⏎ play, or switch   esc leave",
    "now.looking": "Looking for a table …",
    "now.unready": "{names} did not answer. Looking for another table.",
    "table.bots_join": "bots join in {left}",
    "table.bots_busy": "bots join as soon as some are free",
    # A new match.
    "opening.title": "A new match",
    "opening.open": "Open the match and sit down",
    "opening.game": "Game",
    "opening.seats": "Seats",
    "opening.turn": "Clock",
    "opening.delay": "Spectator delay",
    "opening.private": "Private, by invitation",
    "help.lobby": """\
LOBBY
↑ ↓   choose a match          enter   sit down, or go back to your table
p   play now, with people or bots
o   open a new match          w   watch a match
c   join by an invitation     n   change your name
y   copy the match's id       ctrl+g   bell on or off
► it is your turn             esc q   leave""",
    "opening.keys": "↑ ↓ line   ← → change   ⏎ open   ? help, rules   esc leave",
    "help.opening": """\
A NEW MATCH
↑ ↓   choose a line           ← →   change it
enter   open the match, from any line
The clock is for each turn. When your time is up, a bot chooses for you;
after three turns in a row you are out, and the bot plays on.
Spectators see the match later, by the spectator delay.
A private match needs its invitation code.
esc   leave""",
    "help.lobby.watch": """\
LOBBY
↑ ↓   choose a match          enter   watch it
y   copy the match's id       esc q   leave""",
    "help.table": """\
TABLE
The menu has everything you may do: ↑ ↓ and enter, a number, or a click;
backspace goes one menu back. Where dice are picked, letters pick them.
Pieces on the board can be clicked as well, and show what the cursor
is on. ► marks whose turn it is; the clock is what is left of the turn.
space    show at once what has happened
ctrl+p   others' moves faster or slower    ctrl+g   bell on or off
ctrl+y   copy the match's id               ctrl+x   leave the seat; resign
i        copy the invitation, while seats are free
n        after a match: play the next one now
esc      lobby; your seat is still yours""",
    "help.watch": """\
WATCHING
You see what the public may see, later by the spectator delay. ► marks
whose turn it is; the clock is what is left of the turn.
space    show at once what has happened    ctrl+p   faster or slower
ctrl+y   copy the match's id               esc      leave""",
}
