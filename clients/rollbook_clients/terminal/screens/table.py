"""A match as it happens: played from a seat, or watched."""

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.events import Key
from textual.widget import Widget

from rollbook.v1.events_pb2 import AbortReason
from rollbook.v1.games_pb2 import View
from rollbook.v1.match_pb2 import (
    MATCH_STATE_ABORTED,
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    MatchSummary,
)
from rollbook.v1.table_pb2 import PERSPECTIVE_KIND_SEAT, Perspective
from rollbook_clients.sdk import (
    Away,
    Back,
    Beat,
    CaughtUp,
    Confirmed,
    Events,
    FellBehind,
    Frame,
    Match,
    MovedOn,
    OutcomeUnknown,
    Position,
    Refused,
    RollbookError,
    State,
)
from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.terminal.clocks import TickingClocks
from rollbook_clients.terminal.known_game import KnownGame, Story, known_game
from rollbook_clients.terminal.screens.dialogues import AskWhether
from rollbook_clients.terminal.screens.match import MatchScreen, hint
from rollbook_clients.terminal.widgets.control import Control
from rollbook_clients.terminal.widgets.menu import Menu
from rollbook_replays.games.presentation import differing
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.narration import aborted
from rollbook_replays.renderers import as_rich

TICK_SECONDS: Final = 1.0
OF_SEATS: Final = {"seat_taken", "seat_left", "ready", "forfeited", "resigned", "started", "sealed"}
"""Events after which the summary of a match says something else."""


class TableScreen(MatchScreen):
    """Follows a match; offers its own seat what it may choose."""

    BINDINGS: ClassVar = [("ctrl+x", "give_up", "")]

    def __init__(self, match: Match, words: Words, *, public_only: bool = False) -> None:
        super().__init__(words, "watch" if public_only else "table")
        self._match = match
        self._public_only = public_only
        self._control = Control(words)
        self._told = Story()
        self._clocks = TickingClocks()
        self._summary = MatchSummary()
        self._own: int | None = None
        self._newest: Events | None = None
        self._known: KnownGame | None = None
        """Once it is known which game is played."""
        self._view: Any = None
        """The newest view, as the rules give it."""
        self._is_current = False
        self._is_away = False
        self._offered: Position | None = None
        """The position whose choices are, or were, on offer."""

    def control(self) -> Widget:
        """Menu, dice to pick, or whom one waits for."""
        return self._control

    def on_mount(self) -> None:
        """Begin to follow."""
        self._control.say("")
        self.set_interval(TICK_SECONDS, self._show_bars)
        self.run_worker(self._follow(), exit_on_error=False)

    # Following

    async def _follow(self) -> None:
        try:
            await self._look()
            if self._own is not None and self._summary.state in {MATCH_STATE_OPEN, MATCH_STATE_GETTING_READY}:
                self.run_worker(self._get_ready())
            async with aclosing(self._match.watch(public_only=self._public_only)) as frames:
                async for frame in frames:
                    await self._take(frame)
        except RollbookError as error:
            self._control.wait("")
            self._control.say(str(error))

    async def _look(self) -> None:
        """Ask for what the feed does not say: names, and what was agreed."""
        state = await self._match.state()
        self._summary = state.summary
        self.game = state.summary.game
        self._known = known_game(self.game, state.summary.ruleset)
        self._clocks.agree(state.summary)
        self._clocks.take(state.clocks)
        if self._view is None:
            self._see_as(state.perspective)
            self._view = self._read(state.view)
            self._show(state)

    def _see_as(self, perspective: Perspective) -> None:
        is_seat = perspective.kind == PERSPECTIVE_KIND_SEAT and not self._public_only
        self._own = perspective.seat if is_seat else None

    async def _get_ready(self) -> None:
        """Wait for the others, check what they agreed to, and reveal the own entropy."""
        if self._own is not None and self._summary.seats[self._own].ready:
            return
        try:
            await self._match.ready()
        except RollbookError as error:
            self._control.say(str(error))

    async def _take(self, frame: Frame) -> None:
        match frame:
            case Confirmed():
                self._see_as(frame.perspective)
            case Events():
                await self._happened(frame)
            case CaughtUp():
                self._is_current = True
            case FellBehind():
                self._is_current = False
            case Beat():
                self._clocks.take(frame.clocks)
            case Away():
                self._is_away = True
                self._is_current = False
            case Back():
                self._is_away = False
                self._control.say(self.words("connection.back"))
        self._show()

    async def _happened(self, frame: Events) -> None:
        if OF_SEATS & {event.kind for event in frame.events}:
            await self._look()
        self._newest = frame
        self._view = self._read(frame.view)
        self._control.say("")
        seating = self.seating
        for event in frame.events:
            self.story.add(self._told.tell(event, seating), self._palette)
        self._clocks.pass_to(self._on_turn())

    # Choosing

    def on_key(self, event: Key) -> None:
        """Keys are for the control, wherever the mouse has clicked last."""
        if self.focused is None:
            self._control.hear(event)

    def on_menu_chosen(self, event: Menu.Chosen) -> None:
        """Send what was chosen."""
        event.stop()
        self._control.wait(self.words("table.sending"))
        self.run_worker(self._choose(event.choice))

    async def _choose(self, choice: Any) -> None:
        if self._newest is None or self._known is None:
            return
        try:
            await self._match.choose(self._known.choice(choice), at=self._newest.position)
        except MovedOn:
            self._control.say(self.words("table.moved_on"))
        except OutcomeUnknown:
            self._offer_again(self.words("table.unknown"))
        except Refused as refused:
            self._offer_again(refused.why)
        except RollbookError as error:
            self._offer_again(str(error))

    def _offer_again(self, why: str) -> None:
        self._control.say(why)
        self._offered = None
        self._show()

    def action_give_up(self) -> None:
        """Leave the seat while that is possible, else give up, if that is meant."""
        if self._own is None or self._summary.state in OVER:
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
            self._control.say(str(error))

    # Showing

    @property
    def seating(self) -> Seating:
        """Who sits there."""
        if self._known is not None:
            return self._known.seating(self._summary, self._own, self.words)
        return Seating(tuple(seat.name for seat in self._summary.seats), self._own, {}, self.words)

    @property
    def _palette(self) -> Mapping[str, str]:
        return {} if self._known is None else self._known.shown.palette

    def _read(self, view: View) -> Any:
        return None if self._known is None else self._known.view(view)

    def _on_turn(self) -> int | None:
        """Whose turn it is, as far as the view says so."""
        if self._summary.state != MATCH_STATE_RUNNING:
            return None
        seat: int | None = getattr(self._view, "seat", None)
        return seat

    def _show(self, state: State | None = None) -> None:
        if self._known is not None and self._view is not None:
            self.board.show(self._known.shown, self._view, self.seating)
        elif self.game:
            self.board.say(self.words("game.unknown"))
        self._show_bars()
        newest = self._newest
        if newest is None or newest.legal is None or self._own is None:
            if state is None or state.legal is None:
                self._control.wait(self._waiting_for())
        elif self._offered != newest.position and self._is_current and self._known is not None:
            # While the connection is lost, what is on offer stays there: the choice is sent when it is back.
            self._offered = newest.position
            offered = self._known.menu(self._view, newest.legal.message, self.seating)
            self._control.offer(offered, self._known.shown)

    def _waiting_for(self) -> str:
        words, summary = self.words, self._summary
        if summary.state == MATCH_STATE_OPEN:
            said = words(
                "table.waits_for_seats", seats=words.count("seat", sum(not seat.taken for seat in summary.seats))
            )
            said += f"\n\n{words('table.invite', match=summary.match_id)}"
            code = self._match.invitation_code
            return f"{said}\n{words('table.invite.code', code=code)}" if code else said
        if summary.state == MATCH_STATE_GETTING_READY:
            late = [self.seating.name(number) for number, seat in enumerate(summary.seats) if not seat.ready]
            return words("table.waits_for_ready", names=words.both(late))
        if summary.state in OVER:
            return self._result()
        seat = self._on_turn()
        return "" if seat is None or seat == self._own else words("table.waits_for", name=self.seating.name(seat))

    def _result(self) -> str:
        words, summary = self.words, self._summary
        if summary.state == MATCH_STATE_ABORTED:
            reason = AbortReason.Name(summary.aborted.reason).removeprefix("ABORT_REASON_").lower()
            late = ",".join(str(seat) for seat in summary.aborted.seats)
            return aborted(f"{reason}:{late}", self.seating)
        places = sorted((place, seat) for seat, place in enumerate(summary.places.places))
        lines = [f"{place}. {self.seating.name(seat)}" for place, seat in places]
        return "\n".join([words("told.over"), *lines])

    def _show_bars(self) -> None:
        self.title_bar.update(self._title())
        self.status_bar.update(self._status())
        keys = [("?", "help"), ("esc", "leave")]
        if self._own is not None and self._summary.state not in OVER:
            keys.append(("ctrl+x", "give_up"))
        self.hints.update(hint(self.words, *keys))

    def _title(self) -> Text:
        words, summary = self.words, self._summary
        line = Text(no_wrap=True, overflow="ellipsis")
        if not self.game:
            return line.append(words("table.looking"))
        title = self.game if self._known is None else self._known.rules.title
        line.append(f"{title} · {summary.match_id[:8]}…")
        seating = self.seating
        if self._known is not None and (said := differing(self._known.rules, seating.options, seating.words)):
            line.append(f" · {', '.join(said)}")
        if summary.spectator_delay_seconds and self._own is None and summary.state not in OVER:
            line.append(f" · {words('table.delayed', seconds=summary.spectator_delay_seconds)}", "bold #ffdf5d")
        if summary.dice_fixed:
            line.append(f" · {words('dice.fixed')}", "bold #ffdf5d")
        return line

    def _status(self) -> Text:
        words = self.words
        line = Text(no_wrap=True, overflow="ellipsis")
        if self._is_away:
            line.append(f"{words('connection.lost')} ", "bold #ff7b72")
        state = self._summary.state
        seat = self._on_turn()
        if seat is not None:
            line.append_text(as_rich([self.seating.mark(seat)], {}))
            said = words("turn.own") if seat == self._own else words("turn.of", name=self.seating.name(seat))
            line.append(f" {said}", "bold")
        elif state:
            line.append(words(f"state.{state}"))
        if (clock := self._clocks.shown()) is not None and state == MATCH_STATE_RUNNING:
            line.append(f" · {clock[1]}", "bold #e3b341")
        return line
