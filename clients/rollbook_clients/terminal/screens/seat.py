"""Base of a screen whose user may have a seat: messages, leaving, giving up, inviting, pace and bell."""

from collections.abc import Callable
from typing import ClassVar

from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_OPEN, MATCH_STATE_RUNNING, MatchSummary
from rollbook_clients.sdk import Match, RollbookError
from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.terminal.app import Terminal
from rollbook_clients.terminal.clocks import DAY, AwayPlayers
from rollbook_clients.terminal.errors import said_of
from rollbook_clients.terminal.invitation import Invitation
from rollbook_clients.terminal.notices import Notices
from rollbook_clients.terminal.screens.dialogues import AskWhether
from rollbook_clients.terminal.screens.match import MatchScreen, hint
from rollbook_clients.terminal.screens.play_now import Wish, unready
from rollbook_clients.terminal.widgets.control import Control
from rollbook_replays.games.presentation import Sentence
from rollbook_replays.games.words import Words
from rollbook_replays.text import STRONG, Text, printable


class SeatScreen(MatchScreen):
    """Tracks who has which seat of a match, and asks before the user leaves a running match."""

    BINDINGS: ClassVar = [
        ("ctrl+x", "give_up", ""),
        ("i", "invite", ""),
        ("n", "play_now", ""),
        ("ctrl+p", "pace", ""),
        ("ctrl+g", "bell", ""),
    ]

    def __init__(self, match: Match, words: Words, topic: str) -> None:
        super().__init__(words, topic)
        self._match = match
        self._summary = MatchSummary()
        self._own: int | None = None
        self._absences = AwayPlayers()
        self._control = Control(words)
        self._notices = Notices(words, self._log)
        self._standing = ""
        """Text shown above all messages for as long as it applies."""
        self._message = ""

    @property
    def terminal(self) -> Terminal:
        """The application that shows this screen."""
        assert isinstance(self.app, Terminal)  # noqa: S101 - only this application shows the screen
        return self.app

    @property
    def match_id(self) -> str:
        """The id of the match."""
        return self._match.id

    @property
    def _invitation(self) -> Invitation:
        """The command line with which others join this match."""
        return Invitation(self._match.address, self._match.id, self._match.invitation_code)

    def action_invite(self) -> None:
        """Copy the invitation to the clipboard, and show it in full."""
        if self._summary.state == MATCH_STATE_OPEN:
            self.app.copy_to_clipboard(str(self._invitation))
            self.app.notify(str(self._invitation), title=self.words("copied"), markup=False)

    @property
    def _is_playing(self) -> bool:
        """Whether the user has a seat in a match that has begun, and has not given it up."""
        if self._own is None or self._summary.state not in {MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING}:
            return False
        return not self._summary.seats[self._own].forfeited

    def action_pace(self) -> None:
        """Change the pace at which others' moves are shown."""
        self.terminal.preferences.change_pace()
        self._say(self.words("pace", seconds=f"{self.terminal.preferences.pace:g}"))

    def action_bell(self) -> None:
        """Toggle the bell."""
        self.terminal.preferences.switch_bell()
        self._say(self.words("bell.on" if self.terminal.preferences.bell else "bell.off"))

    def action_leave(self) -> None:
        """Leave the screen; asks first if the user is playing."""
        self._ask_before(super().action_leave)

    def action_quit_program(self) -> None:
        """Quit; asks first if the user is playing. Quitting again from the question needs no answer."""
        self._ask_before(lambda: self.app.exit(0))

    def _ask_before(self, leave: Callable[[], None]) -> None:
        if not self._is_playing:
            leave()
            return
        words = self.words
        said = [words("leave.seat"), words("leave.clock" if self._summary.turn_seconds else "leave.no_clock")]
        if self._notices.under_way:
            said.append(words("leave.under_way", choice=self._notices.under_way))
        question = AskWhether("\n".join(said), words, yes=words("leave.yes"), no=words("leave.no"))
        self.app.push_screen(question, lambda meant: leave() if meant else None)

    @property
    def _can_give_up(self) -> bool:
        """Whether the user can leave the seat or resign: before the match begins to get ready, or while playing."""
        if self._own is None:
            return False
        state = self._summary.state
        return state == MATCH_STATE_OPEN or (state == MATCH_STATE_RUNNING and self._is_playing)

    def _show_keys(self, *, is_behind: bool) -> None:
        """Show the keys that work at this moment in the last line."""
        keys = [("?", "rules"), ("esc", "leave"), ("^y", "copy"), ("^p", "pace"), ("^g", "bell")]
        if self._summary.state == MATCH_STATE_OPEN:
            keys.insert(1, ("i", "invite"))
        if self._can_give_up:
            keys.append(("^x", "leave_seat" if self._summary.state == MATCH_STATE_OPEN else "give_up"))
        if self._can_play_now:
            keys.insert(0, ("n", "play_now"))
        if is_behind:
            keys.insert(0, ("space", "present"))
        self.hints.update(hint(self.words, *keys))

    @property
    def _can_play_now(self) -> bool:
        """Whether the user's match is over and there is a lobby that finds another one."""
        has_lobby = isinstance(self.app, Terminal) and self.app.play_now is not None
        return has_lobby and self._own is not None and self._summary.state in OVER

    def action_play_now(self) -> None:
        """After a match, find a table for the same game and go there."""
        if self._can_play_now and isinstance(self.app, Terminal) and self.app.play_now is not None:
            game, slow = self._summary.game, self._summary.turn_seconds >= DAY
            people_only = self.app.wish is not None and self.app.wish.people_only
            self.dismiss()
            self.app.play_now(Wish(game, slow, people_only))

    def _play_now_if_unready(self) -> None:
        """Find another table if this one was aborted because others were not ready."""
        if seats := unready(self._summary, self._own):
            names = [printable(self._summary.seats[seat].name) for seat in seats]
            self.app.notify(self.words("now.unready", names=self.words.both(names)), markup=False)
            self.action_play_now()

    def action_leave_seat(self) -> None:
        """Give up, for a click on the hint."""
        self.action_give_up()

    def action_give_up(self) -> None:
        """Leave the seat of an open match, or resign from a running one; asks first."""
        if not self._can_give_up:
            return
        is_open = self._summary.state == MATCH_STATE_OPEN
        question = self.words("table.leave_seat" if is_open else "table.give_up")
        self.app.push_screen(AskWhether(question, self.words), self._give_up)

    def _give_up(self, meant: bool | None) -> None:  # noqa: FBT001 - the answer of a dialogue
        if meant:
            self.run_worker(self._leave_or_resign())

    async def _leave_or_resign(self) -> None:
        try:
            if self._summary.state == MATCH_STATE_OPEN:
                await self._match.leave()
                self.action_leave()
            else:
                await self._match.resign()
        except RollbookError as error:
            self._say(said_of(error, self.words))

    def _say(self, message: str) -> None:
        """Show a message below the notices that still apply."""
        self._message = message
        notice = self._notices.said
        if self._summary.state not in OVER and self._own is not None and self._summary.seats[self._own].forfeited:
            notice = f"{notice} {self.words('seat.played_out')}".strip()
        self._control.say(self._standing, notice, message)

    def _stand(self, standing: str) -> None:
        """Show this text above all messages from now on."""
        if standing != self._standing:
            self._standing = standing
            self._say(self._message)

    def _log(self, line: str) -> None:
        """Add a line to the log as well, where it stays."""
        self.story.add([Sentence(Text.of((line, f"gold {STRONG}")))], {})
