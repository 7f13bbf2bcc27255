"""The lobby: the user's own matches, and public matches to join or watch; opens new ones."""

from contextlib import aclosing, suppress
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from rollbook.v1.match_pb2 import MATCH_STATE_OPEN, MatchSummary, OpenMatchRequest
from rollbook_clients.sdk import NotFound, RollbookError, Table
from rollbook_clients.terminal import invitation
from rollbook_clients.terminal.app import Terminal
from rollbook_clients.terminal.errors import said_of
from rollbook_clients.terminal.invitation import Invitation
from rollbook_clients.terminal.own_matches import OwnMatches
from rollbook_clients.terminal.profile import Profile
from rollbook_clients.terminal.screens.dialogues import AskLine, AskWhether, Help
from rollbook_clients.terminal.screens.match import hint
from rollbook_clients.terminal.screens.new_match import NewMatch
from rollbook_clients.terminal.screens.play_now import PlayNowForm, Wish
from rollbook_clients.terminal.screens.table import TableScreen
from rollbook_clients.terminal.widgets.match_line import match_line, state_column
from rollbook_replays.games.words import Words
from rollbook_replays.text import WIDTH, printable

TICK_SECONDS: Final = 1.0
BESIDE_LINES: Final = 3
"""Columns around the lines of the list, including its scroll bar."""
LOOK_SECONDS: Final = 5.0
"""Interval for listing the user's own matches: the lobby's stream leaves out turns."""


class LobbyScreen(Screen[None]):
    """Enter joins the highlighted match or goes back to the user's seat in it; `w` watches it."""

    BINDINGS: ClassVar = [
        ("p", "play_now", ""),
        ("o", "open", ""),
        ("w", "watch", ""),
        ("c", "code", ""),
        ("n", "rename", ""),
        ("y,ctrl+y", "copy", ""),
        ("ctrl+g", "bell", ""),
        ("question_mark", "help", ""),
        ("escape,q", "leave", ""),
    ]

    def __init__(
        self,
        table: Table,
        words: Words,
        profile: Profile,
        *,
        watch_only: bool = False,
        goal: Invitation | Wish | None = None,
    ) -> None:
        """With a goal, the screen leads to that match at once."""
        super().__init__()
        self._goal = goal
        self.words = words
        self._table = table
        self._profile = profile
        self._watch_only = watch_only
        self._shown: list[MatchSummary | None] = []
        """The match of each line of the list; None for a heading."""
        self._own = OwnMatches(table)
        self._called: set[str] = set()
        """The matches in which it was the user's turn, or which asked for a rematch, at the last look."""
        self._public: tuple[MatchSummary, ...] = ()
        self._wide = WIDTH - BESIDE_LINES
        self._state_columns = [0, 0]
        """Cells of the state column in each section of the list: others' matches, own matches."""
        self._entered = ""
        """The match that the user went to last, highlighted on return."""
        self._title = Static(id="title", classes="bar", markup=False)
        self._status = Static(id="status", classes="bar", markup=False)
        self._list = OptionList(id="matches")
        self._detail = Static(id="detail", classes="bar", markup=False)
        self._hints = Static(id="hints", classes="bar", markup=False)

    def compose(self) -> ComposeResult:
        """Yield the bars and the list, from top to bottom."""
        yield self._title
        yield self._status
        yield self._list
        yield self._detail
        yield self._hints

    def on_mount(self) -> None:
        """Follow the lobby and start the timers; accept the invitation if there is one."""
        self._show_title()
        self._show_detail()
        self._list.focus()
        self.run_worker(self._follow(), exit_on_error=False)
        if isinstance(self._goal, Invitation):
            self.run_worker(self._accept(self._goal), exit_on_error=False)
        if isinstance(self.app, Terminal) and not self._watch_only:
            self.app.play_now = self._play_now
        if isinstance(self._goal, Wish):
            self._play_now(self._goal)
        self.set_interval(TICK_SECONDS, self._tick)
        self.set_interval(LOOK_SECONDS, self._look_for_own)

    def on_resize(self, event: Resize) -> None:
        """Format the lines for the new width."""
        self._wide = event.size.width - BESIDE_LINES
        if self._shown:
            self._fill()

    def on_screen_resume(self) -> None:
        """List the user's matches at once: the user may have opened one meanwhile."""
        self._look_for_own()

    # Following

    async def _follow(self) -> None:
        try:
            async with aclosing(self._table.lobby(mine=not self._watch_only)) as lobbies:
                async for lobby in lobbies:
                    self._public = tuple(summary for summary in lobby.matches if not summary.is_private)
                    self._status.update(self._said_of(is_away=lobby.is_away))
                    if self._shown:
                        self._fill()
                    if lobby.is_away:
                        self._own.stop_clocks()
                    else:
                        self._look_for_own()
        except RollbookError as error:
            self._status.update(said_of(error, self.words))

    def _look_for_own(self) -> None:
        """Refresh the user's matches in the background; failures are ignored, as the lobby's stream shows them."""
        self.run_worker(self._find_own(), exclusive=True, group="own", exit_on_error=False)

    async def _find_own(self) -> None:
        """List the user's matches before the public ones, and ring for new turns."""
        if not self._watch_only:
            await self._own.look()
        self._fill()
        self._call()
        if self.is_current and self._at is not None and self._at.match_id == self._entered:
            # A list that was requested before the user entered the match does not have it.
            self._entered = ""

    def _call(self) -> None:
        """Ring for new turns in matches other than the open one, and for rematches; name both in the title."""
        own = self._own.matches.items()
        turns = sum(each.is_on_turn for _, each in own)
        called = {match_id for match_id, each in own if each.is_on_turn or each.summary.asks_you}
        if not isinstance(self.app, Terminal):
            return
        if called - self._called - {self._entered}:
            self.app.ring()
        self._called = called
        if self.is_current:
            words = self.words
            why = [words("lobby.called", matches=words.count("match", turns))] * bool(turns)
            why += [words("lobby.asks")] * (len(called) > turns)
            self.app.entitle(f"● {' · '.join(why)} · Rollbook" if called else "Rollbook")

    def _fill(self) -> None:
        words, own = self.words, self._own.matches
        others = [summary for summary in self._public if summary.match_id not in own]
        others.sort(key=lambda summary: summary.state != MATCH_STATE_OPEN)
        wanted = (self._entered, self._at.match_id if self._at is not None else "")
        mine: list[MatchSummary | None] = [each.summary for each in own.values()]
        self._shown = [*([None, *mine] if mine else []), *([None, *others] if others else [])]
        headings = [words("lobby.mine")] * bool(mine) + [words("lobby.public")] * bool(others)
        sections = ([(each, None) for each in others], [(each.summary, each) for each in own.values()])
        self._state_columns = [state_column(section, words, self._wide) for section in sections]
        self._list.clear_options()
        self._list.add_options(
            Option(Text(headings.pop(0), "bold #79c0ff"), disabled=True) if summary is None else self._line(summary)
            for summary in self._shown
        )
        lines = [number for number, summary in enumerate(self._shown) if summary is not None]
        ids = [summary.match_id for summary in self._shown if summary is not None]
        at = next((ids.index(match_id) for match_id in wanted if match_id in ids), 0)
        self._list.highlighted = lines[at] if lines else None
        self._show_detail()

    def _line(self, summary: MatchSummary) -> Option:
        return Option(self._said_in_a_line(summary))

    def _said_in_a_line(self, summary: MatchSummary) -> Text:
        own = self._own.matches.get(summary.match_id)
        return match_line(summary, own, self.words, self._wide, self._state_columns[own is not None])

    def _tick(self) -> None:
        """Update the clocks in the list."""
        for number, summary in enumerate(self._shown):
            own = None if summary is None else self._own.matches.get(summary.match_id)
            if summary is not None and own is not None and own.is_ticking and number < self._list.option_count:
                self._list.replace_option_prompt_at_index(number, self._said_in_a_line(summary))

    @property
    def _at(self) -> MatchSummary | None:
        """The match that is highlighted; None if there is none."""
        at = self._list.highlighted
        return self._shown[at] if at is not None and at < len(self._shown) else None

    def on_option_list_option_highlighted(self, _event: OptionList.OptionHighlighted) -> None:
        """Show the match's full id below the list."""
        self._show_detail()

    def _show_detail(self) -> None:
        self._detail.update("" if self._at is None else self.words("lobby.id", match=self._at.match_id))
        keys = [("?", "help"), ("y", "copy"), ("esc", "leave")]
        if not self._watch_only:
            watching = [] if self._enters == "watch" else [("w", "watch")]
            keys = [("p", "play_now"), ("o", "open"), *watching, ("c", "code"), ("n", "rename"), keys[0], keys[-1]]
        self._hints.update(hint(self.words, ("⏎", self._enters), *keys))

    @property
    def _enters(self) -> str:
        """The action of Enter on the highlighted match."""
        own = None if self._at is None else self._own.matches.get(self._at.match_id)
        if own is not None and not own.summary.asks_you and not self._watch_only:
            return "go_back"
        is_open = self._at is not None and self._at.state == MATCH_STATE_OPEN
        return "sit_down" if is_open and not self._watch_only else "watch"

    def _said_of(self, *, is_away: bool) -> Text:
        if is_away:
            return Text(self.words("connection.lost"), "bold #ff7b72")
        if not self._public:
            return Text(self.words("lobby.empty.watch" if self._watch_only else "lobby.empty"))
        return Text(self.words("lobby.matches", matches=self.words.count("match", len(self._public))))

    def _show_title(self) -> None:
        words = self.words
        who = "" if self._watch_only else f" · {words('lobby.you_are', name=self._profile.name)}"
        self._title.update(Text(f"Rollbook · {self._table.address}{who}", no_wrap=True, overflow="ellipsis"))

    # Doing

    def on_option_list_option_selected(self, _event: OptionList.OptionSelected) -> None:
        """Join the match, go back to it, or watch it."""
        if self._at is not None:
            self._enter(self._at)

    def action_sit_down(self) -> None:
        """Same as Enter, for a click on the hint."""
        self._list.action_select()

    def action_go_back(self) -> None:
        """Same as Enter, for a click on the hint."""
        self._list.action_select()

    def _enter(self, summary: MatchSummary) -> None:
        match self._enters:
            case "watch":
                self._go_to(summary.match_id, public_only=True)
            case "go_back":
                self._go_to(summary.match_id)
            case _:
                self.run_worker(self._join(summary.match_id))

    async def _join(self, match_id: str, code: str = "", service: str = "") -> None:
        """Join a match and go to it; `service` is the address in the invitation, if there was one."""
        try:
            await self._table.match(match_id, code).join(name=self._profile.name)
        except NotFound as error:
            is_here = service in {"", self._table.address}
            said = said_of(error, self.words) if is_here else self.words("lobby.elsewhere", service=service)
            self._status.update(Text(said, "bold #ff7b72"))
            return
        except RollbookError as error:
            self._status.update(Text(said_of(error, self.words), "bold #ff7b72"))
            return
        self._go_to(match_id)

    async def _accept(self, invited: Invitation) -> None:
        """Join the match of an invitation, or go to it if the user already has a seat there."""
        match = self._table.match(invited.match_id, invited.code)
        with suppress(RollbookError):
            state = await match.state()
            if state.perspective.HasField("seat"):
                self._go_to(invited.match_id)
                name = state.summary.seats[state.perspective.seat].name
                self.app.notify(self.words("lobby.sits_already", name=printable(name)), markup=False)
                return
        await self._join(invited.match_id, invited.code, invited.service)

    def _go_to(self, match_id: str, *, public_only: bool = False) -> None:
        self._entered = match_id
        self.app.push_screen(TableScreen(self._table.match(match_id), self.words, public_only=public_only))

    def action_watch(self) -> None:
        """Watch the highlighted match."""
        if self._at is not None:
            self._go_to(self._at.match_id, public_only=True)

    def action_copy(self) -> None:
        """Copy the match's id to the clipboard."""
        if self._at is not None:
            self.app.copy_to_clipboard(self._at.match_id)
            self.app.notify(self._at.match_id, title=self.words("copied"), markup=False)

    def action_bell(self) -> None:
        """Toggle the bell."""
        if isinstance(self.app, Terminal):
            self.app.preferences.switch_bell()
            self._status.update(self.words("bell.on" if self.app.preferences.bell else "bell.off"))

    def action_play_now(self) -> None:
        """Show the form for playing now."""
        if isinstance(self.app, Terminal) and not self._watch_only:
            self.app.push_screen(PlayNowForm(self.words, self._public, self.app.wish), self._play_now)

    def _play_now(self, wish: Wish | None) -> None:
        """Find a table, or open one, and go there."""
        if wish is not None and isinstance(self.app, Terminal):
            self.app.wish = wish
            self._status.update(self.words("now.looking"))
            self.run_worker(self._sit_now(wish))

    async def _sit_now(self, wish: Wish) -> None:
        try:
            match = await self._table.sit_now(
                wish.game, slow=wish.slow, people_only=wish.people_only, name=self._profile.name
            )
        except RollbookError as error:
            self._status.update(Text(said_of(error, self.words), "bold #ff7b72"))
            return
        self._go_to(match.id)

    def action_open(self) -> None:
        """Show the form for a new match."""
        if not self._watch_only:
            self.app.push_screen(NewMatch(self.words), self._open_match)

    def _open_match(self, agreed: OpenMatchRequest | None) -> None:
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
            self._status.update(Text(said_of(error, self.words), "bold #ff7b72"))
            return
        await self._join(match.id, match.invitation_code)

    def action_code(self) -> None:
        """Ask for an invitation and join its match."""
        if not self._watch_only:
            self.app.push_screen(AskLine(self.words("lobby.ask_code")), self._join_by_code)

    def _join_by_code(self, answer: str | None) -> None:
        if not answer or not answer.strip():
            return
        try:
            invited = invitation.parse_pasted(answer, self._table.address)
        except ValueError:
            self._status.update(Text(self.words("lobby.no_invitation"), "bold #ff7b72"))
        else:
            self.run_worker(self._accept(invited))

    def action_rename(self) -> None:
        """Ask for the user's name at future tables."""
        if not self._watch_only:
            self.app.push_screen(AskLine(self.words("lobby.ask_name"), self._profile.name), self._rename)

    def _rename(self, answer: str | None) -> None:
        if answer and answer.strip():
            self._profile.rename(answer.strip())
            self._show_title()

    def action_help(self) -> None:
        """Show the keys, and the rules of the highlighted match's game."""
        game = "" if self._at is None else self._at.game
        self.app.push_screen(Help(self.words, "lobby.watch" if self._watch_only else "lobby", game))

    def action_leave(self) -> None:
        """Quit; asks first if the user has matches whose clocks run."""
        ticking = sum(own.is_ticking for own in self._own.matches.values())
        if not ticking:
            self.app.exit(0)
            return
        words = self.words
        question = words("leave.lobby", matches=words.count("match", ticking))
        asked = AskWhether(question, words, yes=words("leave.yes"), no=words("leave.no"))
        self.app.push_screen(asked, lambda meant: self.app.exit(0) if meant else None)

    def action_quit_program(self) -> None:
        """Quit like `action_leave`."""
        self.action_leave()
