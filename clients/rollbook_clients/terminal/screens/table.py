"""A running match: played from a seat, or watched."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, ClassVar, Final

from textual.events import Key
from textual.widget import Widget

from rollbook.v1.games_pb2 import View
from rollbook.v1.match_pb2 import MATCH_STATE_ABORTED, MATCH_STATE_GETTING_READY, MATCH_STATE_OPEN
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
    RollbookError,
)
from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.terminal.backlog import Alarm, Backlog
from rollbook_clients.terminal.clocks import TickingClocks
from rollbook_clients.terminal.errors import said_of
from rollbook_clients.terminal.known_game import KnownGame, ShownEvent, Story, known_game
from rollbook_clients.terminal.rematch import RematchNews
from rollbook_clients.terminal.screens.captions import Caption
from rollbook_clients.terminal.screens.opener import Hosting
from rollbook_clients.terminal.screens.result import Afterwards, headline, standing
from rollbook_clients.terminal.screens.seat import SeatScreen
from rollbook_clients.terminal.widgets.menu import Menu
from rollbook_clients.terminal.widgets.panes import BoardPane
from rollbook_replays.games.presentation import NOTHING_MARKED, MenuEntry, Spotlight
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words

TICK_SECONDS: Final = 1.0
END_SECONDS: Final = 0.7
"""Pause between the result and the actions, so that a key meant for the last move does not select an action."""
END: Final = "end"
"""Value of `_offered` once the actions after the end are offered."""
OF_SEATS: Final = {"seat_taken", "seat_left", "ready", "forfeited", "resigned", "started", "sealed"}
"""Kinds of events that change the summary of a match."""


class TableScreen(SeatScreen):
    """Follows a match, and offers the user's seat its legal choices."""

    BINDINGS: ClassVar = [
        ("space", "present", ""),
        ("x", "decline", ""),
    ]

    def __init__(self, match: Match, words: Words, *, public_only: bool = False) -> None:
        super().__init__(match, words, "watch" if public_only else "table")
        self._before = RematchNews()
        self._public_only = public_only
        self._afterwards = Afterwards(self, match, words, self._say, self._sit_down)
        self._hosting = Hosting(self, match, words, self._say)
        self._is_opener = False
        self._told = Story()
        self._backlog = Backlog[ShownEvent]()
        """Events that have happened and are not shown yet."""
        self._alarm = Alarm(self)
        self._clocks = TickingClocks()
        self._newest: Events | None = None
        self._known: KnownGame | None = None
        """None until the first reply of the service."""
        self._view: Any = None
        """The newest view, decoded."""
        self._shown: Any = None
        """The view on the board, which may be a few moves behind the newest."""
        self._spotlight = NOTHING_MARKED
        self._last_seat: int | None = None
        self._was_own_turn = False
        self._is_current = False
        self._is_away = False
        self._offered: Position | tuple[MenuEntry, ...] | str | None = None
        """What is, or was, on offer: the position of the choices, the menu of the opener, or END."""

    def control(self) -> Widget:
        """The control: menu, picker, or text on whom the match waits for."""
        return self._control

    def on_mount(self) -> None:
        """Follow the match."""
        self._say("")
        self.set_interval(TICK_SECONDS, self._show_bars)
        self.run_worker(self._follow(), exit_on_error=False)
        self.run_worker(self._before.follow(self._show))

    def on_unmount(self) -> None:
        """Cancel the alarm; Textual stops only its own timers."""
        self._alarm.stop()

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
            self._say(said_of(error, self.words))

    async def _look(self) -> None:
        """Request what the feed does not contain: names, and the settings of the match."""
        state = await self._match.state()
        self._summary = state.summary
        self._is_opener = state.is_opener and not self._public_only
        self.game = state.summary.game
        self._known = known_game(self.game, state.summary.ruleset)
        self._clocks.compare(state.clocks)
        if self._view is None:
            self._clocks.take(state.clocks)
            self._see_as(state.perspective)
            self._view = self._shown = self._read(state.view)
            if state.legal is None:
                self._show()

    def _see_as(self, perspective: Perspective) -> None:
        is_seat = perspective.kind == PERSPECTIVE_KIND_SEAT and not self._public_only
        self._own = perspective.seat if is_seat else None

    async def _get_ready(self) -> None:
        """Wait for the other seats, check the log, and reveal this seat's entropy."""
        if self._own is not None and self._summary.seats[self._own].ready:
            return
        try:
            await self._match.ready()
        except RollbookError as error:
            self._say(said_of(error, self.words))

    async def _take(self, frame: Frame) -> None:
        match frame:
            case Confirmed():
                self._see_as(frame.perspective)
            case Events():
                await self._take_events(frame)
            case CaughtUp():
                self._is_current = True
            case FellBehind():
                self._is_current = False
            case Beat():
                self._clocks.take(frame.clocks, is_now=True)
                self._absences.take(frame.here)
            case Away():
                self._clocks.take(None)
                self._is_away = True
                self._is_current = False
                if said := self._notices.connection_lost():
                    self._control.wait(said)
            case Back():
                self._is_away = False
                self._say(self.words("connection.back"))
        self._show()

    async def _take_events(self, frame: Events) -> None:
        if OF_SEATS & {event.kind for event in frame.events}:
            await self._look()
            if self._is_current:
                self._play_now_if_unready()
        self._newest = frame
        self._view = self._read(frame.view)
        seating, pace = self.seating, self.terminal.preferences.pace
        for event in frame.events:
            self._hosting.take_event(event)
            if self._own is not None and event.seat == self._own:
                self._notices.take_event(event)
            scene = self._told.scene(event, seating)
            if event is frame.events[-1]:
                scene = ShownEvent(scene.told, scene.seat, self._view, scene.spotlight, scene.is_move)
            # Own moves and moves of the past are shown without a pause.
            is_followed = self._is_current and scene.is_move and {scene.seat, self._last_seat} != {self._own}
            self._last_seat = scene.seat
            self._backlog.add(scene, after=pace if is_followed else 0.0)
        self._clocks.take(frame.clocks)
        self._say("")
        self._advance()

    # Showing one after the other

    def _advance(self) -> None:
        """Show the events that are due, and set a timer for the next one."""
        self._show_scenes(self._backlog.due())
        self._alarm.set(self._backlog.wait, self._advance)
        self._show()

    def _show_scenes(self, scenes: list[ShownEvent]) -> None:
        for scene in scenes:
            self.story.add(scene.told, self._palette)
            if scene.view is not None:
                self._shown = scene.view
            self._spotlight = scene.spotlight

    def action_present(self) -> None:
        """Show all queued events at once."""
        self._show_scenes(self._backlog.all())
        self._show()

    # Choosing

    def on_key(self, event: Key) -> None:
        """Forward keys to the control if no widget has the focus, as after a click elsewhere."""
        if self.focused is None:
            self._control.hear(event)

    def on_board_pane_pointed(self, event: BoardPane.Pointed) -> None:
        """Select the choice or piece that was clicked on the board."""
        event.stop()
        self._control.point(event.spot)

    def on_menu_considered(self, event: Menu.Considered) -> None:
        """Highlight the considered choice on the board."""
        event.stop()
        choice = None if isinstance(event.choice, str) else event.choice
        self._draw(replace(self._spotlight, considered=choice, picked=event.picked, pieces=event.pieces))

    def on_menu_chosen(self, event: Menu.Chosen) -> None:
        """Send the choice; or carry out an action of the opener, or one after the end."""
        event.stop()
        if self._summary.state in OVER:
            self._do_afterwards(event.choice)
            return
        if self._summary.state == MATCH_STATE_OPEN:
            self._offered = None
            self._hosting.do(event.choice)
            self._show()
            return
        self._control.wait(self._notices.sends(event.label, is_away=self._is_away))
        self._say("")
        self.run_worker(self._choose(event.choice))

    async def _choose(self, choice: Any) -> None:
        if self._newest is None or self._known is None:
            return
        try:
            await self._match.choose(self._known.choice(choice), at=self._newest.position)
        except MovedOn:
            self._notices.came_too_late()
            self._say("")
        except OutcomeUnknown:
            self._offer_again(self._notices.is_unknown())
        except RollbookError as error:
            self._offer_again(said_of(error, self.words))
        else:
            self._notices.confirm_choice()
            self._say("")

    def _offer_again(self, why: str) -> None:
        self._notices.was_refused()
        self._say(why)
        self._offered = None
        self._show()

    def _offer_the_end(self) -> None:
        self._afterwards.follow(self._summary, self._own, self._offer_the_end)
        if wanted := self._afterwards.news.wanted(self.words):
            self._say(wanted)
            self.terminal.ring()
            self._call_to_the_table()
        self._control.offer(self._afterwards.entries(self._summary, self._own))

    def action_decline(self) -> None:
        """Decline the rematch that asks the user."""
        if self._afterwards.news.asks_you:
            self._do_afterwards("decline")

    def _do_afterwards(self, name: str) -> None:
        self._offer_the_end()
        if name == "leave":
            self.action_leave()
        else:
            display_name = "" if self._own is None else self._summary.seats[self._own].name
            self.run_worker(self._afterwards.do(name, display_name))

    def _sit_down(self, match: Match, before: RematchNews) -> None:
        """Go to the rematch."""
        table = TableScreen(match, self.words)
        table._before = before
        self.app.switch_screen(table)

    # Showing

    @property
    def seating(self) -> Seating:
        """The names of the seats and the settings of the match."""
        if self._known is not None:
            seating = self._known.seating(self._summary, self._own, self.words)
            return replace(seating, is_over=seating.is_over and not self._backlog)
        return Seating(tuple(seat.name for seat in self._summary.seats), self._own, {}, self.words)

    @property
    def _palette(self) -> Mapping[str, str]:
        return {} if self._known is None else self._known.shown.palette

    def _read(self, view: View) -> Any:
        return None if self._known is None else self._known.view(view)

    @property
    def _caption(self) -> Caption:
        # The board may still show an own turn that is over, because views between hidden events are missing.
        is_own = self._own is not None and getattr(self._shown, "seat", None) == self._own
        is_behind = bool(self._backlog) or not (self._is_current or self._is_away)
        view = self._view if is_own else self._shown
        return Caption(self._summary, self._known, self.seating, view, len(self._backlog), is_behind=is_behind)

    def _score(self, seat: int) -> str:
        return "" if self._known is None else self._known.shown.score(self._view, seat, self.seating.words)

    def _draw(self, spotlight: Spotlight) -> None:
        self.board.invite(str(self._invitation) if self._summary.state == MATCH_STATE_OPEN else "")
        if self._known is not None and self._shown is not None:
            self.board.show(self._known.shown, self._shown, self.seating, spotlight)
        elif self.game:
            self.board.say(self.words("game.unknown"))

    def _show(self) -> None:
        newest = self._newest
        if self._backlog:
            self._draw(self._spotlight)
            self._control.wait(self._caption.waiting())
        elif self._notices.under_way and newest is not None and self._offered == newest.position:
            self._draw(self._spotlight)
        elif newest is None or newest.legal is None or self._own is None:
            self._draw(self._spotlight)
            self._wait_or_end()
        elif self._offered == newest.position or self._is_away or self._known is None:
            # While the connection is lost the menu stays: the SDK sends the choice once the connection is back.
            pass
        elif not self._is_current:
            self._control.wait(self._caption.waiting())
        else:
            self._offered = newest.position
            self._draw(self._spotlight)
            offered = self._known.menu(self._view, newest.legal.message, self.seating)
            self._control.offer(offered, self._known.shown)
        self._show_bars()
        self._call_to_the_table()

    def _wait_or_end(self) -> None:
        summary = self._summary
        is_hosting = self._is_opener and summary.state == MATCH_STATE_OPEN
        waiting = self._before.below(self._caption.waiting(), self.words)
        waiting, shown = (waiting, "") if is_hosting else ("", waiting)
        self._stand(waiting)
        if is_hosting:
            self._host()
        elif summary.state not in OVER or self._newest is None or self._newest.sealed is None:
            self._control.wait(shown)
        elif self._offered != END:
            self._offered = END
            said = [headline(summary, self.seating)]
            if summary.state != MATCH_STATE_ABORTED:
                said.append(standing(summary, self.seating, self._score))
            self._say("\n".join(said))
            self._control.wait("")
            self.set_timer(END_SECONDS, self._offer_the_end)

    def _host(self) -> None:
        """Offer the actions of the opener; updates them when players join or leave."""
        entries = self._hosting.entries(self._summary, self.seating)
        if self._offered != entries:
            self._offered = entries
            self._control.offer(entries)

    def _call_to_the_table(self) -> None:
        """Ring when the user's turn comes, and show whose turn it is in the terminal's title."""
        caption = self._caption
        is_own = caption.is_own_turn and not self._backlog
        if is_own and not self._was_own_turn and self._is_current:
            self.terminal.ring()
        self._was_own_turn = is_own
        title = "" if self._known is None else f" · {self._known.rules.title}"
        wanted = self._afterwards.news.wanted(self.words)
        turn = (wanted or headline(self._summary, self.seating)) if self._offered == END else caption.turn()
        self.terminal.entitle(f"{'● ' if is_own else ''}{turn}{title} · Rollbook")

    def _show_bars(self) -> None:
        caption = self._caption
        self.title_bar.update(caption.title())
        self.status_bar.update(
            caption.status(self._clocks.clock_text(), self._absences.minutes(), is_away=self._is_away)
        )
        self._show_keys(is_behind=bool(self._backlog))
        if self._before.left_ms and self._summary.state == MATCH_STATE_OPEN:
            self._wait_or_end()
