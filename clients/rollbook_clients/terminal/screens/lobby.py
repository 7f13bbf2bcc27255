"""The lobby: the matches that are open or running, to join, to watch, and to open a new one."""

from contextlib import aclosing
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from rollbook.v1.match_pb2 import MATCH_STATE_OPEN, MatchSummary, OpenMatchRequest
from rollbook_clients.sdk import Lobby, RollbookError, Table
from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.terminal.known_game import known_game
from rollbook_clients.terminal.profile import Profile
from rollbook_clients.terminal.screens.dialogues import AskLine, Help
from rollbook_clients.terminal.screens.match import hint
from rollbook_clients.terminal.screens.new_match import NewMatch
from rollbook_clients.terminal.screens.table import TableScreen
from rollbook_replays.games.presentation import differing
from rollbook_replays.games.seats import Seating, sign
from rollbook_replays.games.words import Words
from rollbook_replays.renderers import as_rich


class LobbyScreen(Screen[None]):
    """Enter sits down, or goes back to where one sits; `w` looks on."""

    BINDINGS: ClassVar = [
        ("o", "open", ""),
        ("w", "watch", ""),
        ("c", "code", ""),
        ("n", "rename", ""),
        ("question_mark", "help", ""),
        ("escape,q", "leave", ""),
    ]

    def __init__(self, table: Table, words: Words, profile: Profile, *, watch_only: bool = False) -> None:
        super().__init__()
        self.words = words
        self._table = table
        self._profile = profile
        self._watch_only = watch_only
        self._shown: list[MatchSummary] = []
        self._mine: dict[str, MatchSummary] = {}
        self._public: tuple[MatchSummary, ...] = ()
        self._entered = ""
        """The match that one went to last, to come back to."""
        self._title = Static(id="title", classes="bar", markup=False)
        self._status = Static(id="status", classes="bar", markup=False)
        self._list = OptionList(id="matches")
        self._hints = Static(id="hints", classes="bar", markup=False)

    def compose(self) -> ComposeResult:
        """From above."""
        yield self._title
        yield self._status
        yield self._list
        yield self._hints

    def on_mount(self) -> None:
        """Begin to follow."""
        keys = [("?", "help"), ("esc", "leave")]
        playing = [("⏎", "sit_down"), ("o", "open"), ("w", "watch"), ("c", "code"), ("n", "rename")]
        self._hints.update(hint(self.words, *([("⏎", "watch")] if self._watch_only else playing), *keys))
        self._show_title()
        self._list.focus()
        self.run_worker(self._follow(), exit_on_error=False)

    def on_screen_resume(self) -> None:
        """What one opened meanwhile is there at once."""
        self._look_for_mine()

    # Following

    async def _follow(self) -> None:
        try:
            async with aclosing(self._table.lobby()) as lobbies:
                async for lobby in lobbies:
                    self._status.update(self._said_of(lobby))
                    self._public = lobby.matches
                    if self._shown:
                        self._fill()
                    if not lobby.is_away:
                        self._look_for_mine()
        except RollbookError as error:
            self._status.update(str(error))

    def _look_for_mine(self) -> None:
        """Beside the lobby, which goes on to say whether the connection is lost; of a failure it is told next time."""
        self.run_worker(self._find_mine(), exclusive=True, group="mine", exit_on_error=False)

    async def _find_mine(self) -> None:
        """Matches in which one sits stand first; private ones are told to nobody else."""
        if not self._watch_only:
            found = [summary async for summary in self._table.matches(mine=True)]
            self._mine = {summary.match_id: summary for summary in found if summary.state not in OVER}
        self._fill()
        if self.is_current:
            self._entered = ""

    def _fill(self) -> None:
        others = [summary for summary in self._public if summary.match_id not in self._mine]
        others.sort(key=lambda summary: summary.state != MATCH_STATE_OPEN)
        fresh = {summary.match_id: summary for summary in self._public}
        mine = [fresh.get(match_id, summary) for match_id, summary in self._mine.items()]
        at = self._list.highlighted
        chosen = self._entered or (self._shown[at].match_id if at is not None and at < len(self._shown) else "")
        self._shown = [*mine, *others]
        self._list.clear_options()
        self._list.add_options(self._line(summary) for summary in self._shown)
        self._list.highlighted = next(
            (number for number, summary in enumerate(self._shown) if summary.match_id == chosen),
            0 if self._shown else None,
        )

    def _said_of(self, lobby: Lobby) -> Text:
        if lobby.is_away:
            return Text(self.words("connection.lost"), "bold #ff7b72")
        if not lobby.matches:
            return Text(self.words("lobby.empty.watch" if self._watch_only else "lobby.empty"))
        return Text(self.words("lobby.matches", matches=self.words.count("match", len(lobby.matches))))

    def _line(self, summary: MatchSummary) -> Option:
        words = self.words
        known = known_game(summary.game, summary.ruleset)
        title, options = summary.game, ""
        seating = Seating(tuple(seat.name for seat in summary.seats), None, {}, words)
        if known is not None:
            seating = known.seating(summary, None, words)
            title, options = known.rules.title, ", ".join(differing(known.rules, seating.options, seating.words))
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(("► " if summary.match_id in self._mine else "  "), "bold #7ee787")
        line.append(f"{title:<12} ", "bold")
        line.append(f"{words(f'state.{summary.state}'):<14} ", "#8b949e")
        for number, seat in enumerate(summary.seats):
            if seat.taken:
                line.append_text(as_rich([seating.mark(number)], {}))
                line.append(f" {seating.name(number)}  ")
            else:
                line.append(f"{sign(number)} {words('lobby.free')}  ", "dim")
        clock = words("lobby.clock", seconds=summary.turn_seconds) if summary.turn_seconds else ""
        line.append(" · ".join(part for part in (clock, options) if part), "dim")
        return Option(line)

    def _show_title(self) -> None:
        words = self.words
        who = "" if self._watch_only else f" · {words('lobby.you_are', name=self._profile.name)}"
        self._title.update(Text(f"Rollbook · {self._table.address}{who}", no_wrap=True, overflow="ellipsis"))

    # Doing

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Sit down, or look on."""
        if event.option_index < len(self._shown):
            self._enter(self._shown[event.option_index])

    def action_sit_down(self) -> None:
        """For the mouse on the hint."""
        self._list.action_select()

    def _enter(self, summary: MatchSummary) -> None:
        is_mine = summary.match_id in self._mine
        if self._watch_only or (not is_mine and summary.state != MATCH_STATE_OPEN):
            self._go_to(summary.match_id, public_only=True)
        elif is_mine:
            self._go_to(summary.match_id)
        else:
            self.run_worker(self._join(summary.match_id))

    async def _join(self, match_id: str, code: str = "") -> None:
        try:
            await self._table.match(match_id, code).join(name=self._profile.name)
        except RollbookError as error:
            self._status.update(Text(str(error), "bold #ff7b72"))
            return
        self._go_to(match_id)

    def _go_to(self, match_id: str, *, public_only: bool = False) -> None:
        self._entered = match_id
        self.app.push_screen(TableScreen(self._table.match(match_id), self.words, public_only=public_only))

    def action_watch(self) -> None:
        """Look on at the match that is highlighted."""
        at = self._list.highlighted
        if at is not None and at < len(self._shown):
            self._go_to(self._shown[at].match_id, public_only=True)

    def action_open(self) -> None:
        """Agree on a new match."""
        if not self._watch_only:
            self.app.push_screen(NewMatch(self.words), self._opened)

    def _opened(self, agreed: OpenMatchRequest | None) -> None:
        if agreed is not None:
            self.run_worker(self._open(agreed))

    async def _open(self, agreed: OpenMatchRequest) -> None:
        game = agreed.options.WhichOneof("game") or ""
        try:
            match = await self._table.open(
                game,
                agreed.seats,
                getattr(agreed.options, game),
                turn_seconds=agreed.turn_seconds,
                spectator_delay_seconds=agreed.spectator_delay_seconds,
                is_private=agreed.is_private,
            )
        except RollbookError as error:
            self._status.update(Text(str(error), "bold #ff7b72"))
            return
        await self._join(match.id, match.invitation_code)

    def action_code(self) -> None:
        """Join a match by what somebody sent."""
        if not self._watch_only:
            self.app.push_screen(AskLine(self.words("lobby.ask_code")), self._join_by_code)

    def _join_by_code(self, answer: str | None) -> None:
        if answer and answer.split():
            match_id, *code = answer.split()
            self.run_worker(self._join(match_id, "".join(code)))

    def action_rename(self) -> None:
        """Be called something else at the next table."""
        if not self._watch_only:
            self.app.push_screen(AskLine(self.words("lobby.ask_name"), self._profile.name), self._rename)

    def _rename(self, answer: str | None) -> None:
        if answer and answer.strip():
            self._profile.rename(answer.strip())
            self._show_title()

    def action_help(self) -> None:
        """Keys."""
        self.app.push_screen(Help(self.words, "lobby.watch" if self._watch_only else "lobby"))

    def action_leave(self) -> None:
        """Out."""
        self.app.exit(0)
