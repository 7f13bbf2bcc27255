"""One match: its state, seats, choices, events and replay file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from google.protobuf.message import Message

from rollbook.files import write_file
from rollbook.match.chain import Position, entropy_commitment
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.v1.games_pb2 import Choice
from rollbook.v1.match_pb2 import (
    AbortMatchRequest,
    AddBotRequest,
    ChooseRequest,
    EventsMade,
    FreeSeatRequest,
    GetMatchRequest,
    LeaveSeatRequest,
    OpenMatchRequest,
    ReadyRequest,
    ResignRequest,
    TakeSeatRequest,
)
from rollbook.v1.replay_pb2 import GetReplayRequest
from rollbook_clients.sdk.choices import from_words
from rollbook_clients.sdk.commands import MatchCommands
from rollbook_clients.sdk.commitments import Commitments
from rollbook_clients.sdk.frames import Away, CaughtUp, Confirmed, Events, FellBehind, Frame, Made, State, TakenSeat
from rollbook_clients.sdk.guests import Caller
from rollbook_clients.sdk.legal import Legal, choice_of
from rollbook_clients.sdk.refusals import Malformed, NotAllowed, NotNow, Refused
from rollbook_clients.sdk.rematches import LINGER_SECONDS, Offer, offers
from rollbook_clients.sdk.watch import Watch
from rollbook_clients.sdk.witness import Witness

if TYPE_CHECKING:
    from rollbook_replays.audit.verdicts import Audited

_MOST_TOLD: Final = 20
"""Most legal choices that an error message lists."""


class Match:
    """A match at a table, created by `table.match` or `table.open`.

    By default a choice answers the last position that this object has received, by `state`, `watch` or `play`, or in
    the reply to a command.
    """

    def __init__(
        self, caller: Caller, witness: Witness, another: Callable[[str, str], Match], invitation_code: str = ""
    ) -> None:
        """`another` creates another match of the same table, by id and invitation code. Sends no request."""
        self.id = witness.match_id
        self.invitation_code = invitation_code
        """The code for joining a private match; empty if the match is public or the code is unknown. Keep it secret."""
        self._caller = caller
        self._witness = witness
        self._another = another
        self._commands = MatchCommands(caller, witness)
        self._shown: Position | None = None
        self._legal: Legal | None = None
        """The legal choices of the last state or events that this object has received."""

    def __repr__(self) -> str:
        return f"Match({self.id!r})"

    @property
    def address(self) -> str:
        """The address of the service."""
        return self._caller.connection.address

    @property
    def head(self) -> WitnessedHead | None:
        """The last head of the match that the service signed and this client checked; None before the first."""
        return self._witness.head

    @property
    def position(self) -> Position | None:
        """The position that a choice answers by default: the last one received. None before the first."""
        return self._shown

    async def state(self) -> State:
        """Request the current state of the match, with the legal choices of this client's seat."""
        request = GetMatchRequest(match_id=self.id, invitation_code=self.invitation_code)
        try:
            answer = await self._caller.call(lambda line: line.matches.GetMatch, request)
        except Refused as refused:
            raise self._witness.convert_refusal(refused) from None
        head = await self._witness.check(answer.head)
        self._show(head.position)
        self._legal = Legal(answer.legal) if answer.HasField("legal") else None
        self.invitation_code = answer.invitation_code or self.invitation_code
        return State(
            answer.summary,
            answer.perspective,
            answer.view,
            self._legal,
            answer.clocks if answer.HasField("clocks") else None,
            head.position,
            head,
            answer.is_opener,
        )

    # Seats

    async def join(self, seat: int | None = None, name: str | None = None) -> TakenSeat:
        """Take this seat, or the free one with the lowest number.

        The seat adds entropy to the dice: this call sends the commitment to it, and `ready` reveals it.
        """
        request = TakeSeatRequest(
            match_id=self.id,
            seat=seat,
            invitation_code=self.invitation_code,
            entropy_commitment=entropy_commitment(self._caller.entropy(self.id)),
            name=name or "",
        )
        answer = await self._commands.send(lambda line: line.matches.TakeSeat, request)
        return TakenSeat(answer.seat, answer.closed_seats, await self.take_in(answer.made))

    async def leave(self) -> Made:
        """Leave the seat, before all seats are taken."""
        answer = await self._commands.send(lambda line: line.matches.LeaveSeat, LeaveSeatRequest(match_id=self.id))
        return await self.take_in(answer.made)

    async def add_bot(self, strategy: str = "", seat: int | None = None) -> TakenSeat:
        """Add a bot of the house to a match that this caller has opened; the bot gets ready and plays by itself.

        Strategies from weak to strong: "random", "heuristic" (the default) and "monte_carlo".
        """
        request = AddBotRequest(match_id=self.id, seat=seat, strategy=strategy)
        answer = await self._commands.send(lambda line: line.matches.AddBot, request)
        return TakenSeat(answer.seat, answer.closed_seats, await self.take_in(answer.made))

    async def free_seat(self, seat: int) -> Made:
        """Free a seat of a match that this caller has opened: any seat of a private match, else only a house bot's."""
        request = FreeSeatRequest(match_id=self.id, seat=seat)
        answer = await self._commands.send(lambda line: line.matches.FreeSeat, request)
        return await self.take_in(answer.made)

    async def withdraw(self) -> Made:
        """Abort a match that this caller has opened, before all seats are taken."""
        answer = await self._commands.send(lambda line: line.matches.AbortMatch, AbortMatchRequest(match_id=self.id))
        return await self.take_in(answer.made)

    async def abort(self) -> Made | None:
        """Abort any match, for operators; returns None if only its lobby entry was left and has been removed."""
        answer = await self._commands.send(lambda line: line.matches.AbortMatch, AbortMatchRequest(match_id=self.id))
        return None if answer.is_gone else await self.take_in(answer.made)

    async def ready(self) -> Made:
        """Wait until all seats are taken, check the log so far, and reveal this seat's entropy.

        The entropy is revealed only after a signed head of one chain that holds the commitments of the service and of
        all seats, including this one. From then on the dice cannot be influenced any more.
        """
        entropy = self._caller.entropy(self.id)
        closed = await self._check_closing(entropy_commitment(entropy))
        request = ReadyRequest(
            match_id=self.id, position=self._witness.message(closed), closing_link=closed.link, entropy=entropy
        )
        answer = await self._commands.send(lambda line: line.matches.Ready, request)
        return await self.take_in(answer.made)

    async def _check_closing(self, commitment: bytes) -> Position:
        """The position at which the last seat was taken, after all checks; raises NotNow if the match was aborted."""
        commitments = Commitments(self._witness)
        seat = 0
        followed = 0
        watch = Watch(self._caller, self._witness, invitation_code=self.invitation_code)
        async with aclosing(watch.frames()) as frames:
            async for frame in frames:
                if isinstance(frame, Confirmed):
                    if not frame.perspective.HasField("seat"):
                        raise NotAllowed("NOT_SEATED", "this client has no seat in the match")
                    seat = frame.perspective.seat
                if isinstance(frame, Events):
                    if frame.sealed is not None:
                        raise NotNow("MATCH_ABORTED", "the match has ended before it began")
                    commitments.take(frame.events)
                    followed = frame.position.sequence
                closed, head = commitments.position, self.head
                if closed is not None and head is not None and closed.sequence <= head.sequence <= followed:
                    commitments.check(seat, commitment)
                    return closed
        raise NotNow("MATCH_ABORTED", "the match has ended before it began")

    async def begins(self) -> bool:
        """Wait until the match has started; returns False if it ended before that."""
        watch = Watch(self._caller, self._witness, invitation_code=self.invitation_code, views=False)
        async with aclosing(watch.frames()) as frames:
            async for frame in frames:
                if isinstance(frame, Events):
                    if any(event.kind == "started" for event in frame.events):
                        return True
                    if frame.sealed is not None:
                        return False
        return False

    # Playing

    async def choose(self, choice: Message | str, *, at: Position | None = None, request_id: str = "") -> Made:
        """Choose for this client's seat, in answer to the last position received, or to the position `at`.

        `choice` is one of the legal choices, a choice of the match's game made by `rollbook_clients.sdk.choices`, or
        its words as returned by `str`, such as "roll" or "advance 2 8". It is made at most once.

        Raises IllegalChoice, with the legal choices, if the rules forbid this one, and MovedOn if the match has moved
        on. Raises OutcomeUnknown if no reply arrived; the next command then settles the choice first. If that command
        is the same choice, it counts only once, even if another client sends it with the same `request_id`.
        """
        message = self._readable(choice)
        position = at or self._shown
        if position is None:
            raise Malformed("POSITION_MISSING", "look at the match before choosing: state, watch or play show it")
        request = ChooseRequest(match_id=self.id, position=self._witness.message(position), choice=message)
        request.request_id = request_id
        answer = await self._commands.send(lambda line: line.matches.Choose, request)
        return await self.take_in(answer.made)

    def _readable(self, choice: Message | str) -> Choice:
        try:
            return self._find_choice(choice) if isinstance(choice, str) else choice_of(choice)
        except (TypeError, AttributeError):
            why = f"{choice!r} is no choice; those of a game are made by rollbook_clients.sdk.choices"
        except ValueError as wrong:
            why = str(wrong)
        few = self._legal is not None and len(self._legal) <= _MOST_TOLD
        legal = f"; legal here: {', '.join(map(str, self._legal or ()))}" if few else ""
        raise Malformed("NOTHING_CHOSEN", why + legal, position=self._shown, legal=self._legal)

    def _find_choice(self, words: str) -> Choice:
        game = None if self._legal is None else self._legal.game
        if game is None:
            raise ValueError(f"{words!r} names no choice: this seat was not shown what it may choose")
        return from_words(game, words)

    async def resign(self) -> Made:
        """Give up for good: a caretaker plays on for this seat."""
        answer = await self._commands.send(lambda line: line.matches.Resign, ResignRequest(match_id=self.id))
        return await self.take_in(answer.made)

    async def play(self) -> AsyncGenerator[Events, None]:
        """Yield the newest state of the match, from now to its end, for a player to react to.

        While it is this seat's turn, the same state is yielded again every few seconds and after a lost connection. So
        a player that chooses whenever `legal` is set plays the whole match, and repeats choices that failed.
        """
        newest: Events | None = None
        is_current = False
        async with aclosing(self.watch()) as frames:
            async for frame in frames:
                match frame:
                    case Events():
                        newest = frame
                    case CaughtUp():
                        is_current = True
                    case Away() | FellBehind():
                        is_current = False
                # The reply to a command may be ahead of the events that the feed has delivered.
                if is_current and newest is not None and not self._is_past(newest.position):
                    yield newest
                    newest = newest if newest.legal else None

    # Watching

    async def watch(
        self, after: Position | None = None, *, public_only: bool = False, views: bool = True, each_event: bool = False
    ) -> AsyncGenerator[Frame, None]:
        """Yield everything that happens after a position, or from the start, to the end of the match.

        A lost connection does not end the watch: it yields Away and Back, and all events exactly once. With
        `views=False` the service sends neither views nor legal choices, which is cheaper. With `each_event=True` every
        Events has one event and the view right after it, unless more than 8 events are missing.
        """
        watch = Watch(
            self._caller,
            self._witness,
            after,
            public_only=public_only,
            invitation_code=self.invitation_code,
            views=views,
            each_event=each_event,
        )
        async with aclosing(watch.frames()) as frames:
            async for frame in frames:
                if isinstance(frame, Events):
                    self._show(frame.position)
                    self._legal = frame.legal
                yield frame

    async def rematch(self) -> Match:
        """The rematch of this match, for callers who had a seat in it; the match must have a result. Takes no seat.

        The first caller opens the rematch, the others get the same one: same game, options, clocks and seats, which are
        reserved for these players for five minutes.
        """
        request = OpenMatchRequest(request_id=str(uuid4()), rematch_of=self.id)
        try:
            answer = await self._caller.call(lambda line: line.matches.OpenMatch, request)
        except Refused as refused:
            raise self._witness.convert_refusal(refused) from None
        match = self._another(answer.match_id, answer.invitation_code)
        await match.take_in(answer.made)
        return match

    def other(self, match_id: str) -> Match:
        """Another match at the same service, for the same caller."""
        return self._another(match_id, "")

    async def rematches(self, seconds: int = LINGER_SECONDS) -> AsyncGenerator[Offer, None]:
        """Yield the offer of a rematch, at once and whenever it changes, until `seconds` after the end of this match.

        For callers who had a seat in it. The seats are kept while the others have not answered: `offer.accept()` takes
        one, `offer.decline()` frees it for others. `seconds` is at most 600.
        """
        code = self.invitation_code
        watch = Watch(
            self._caller, self._witness, self._shown, invitation_code=code, views=False, linger_seconds=seconds
        )
        async with aclosing(offers(self._caller, watch, self._another)) as found:
            async for offer in found:
                yield offer

    # Taking it home

    async def replay(self, *, public_only: bool = False, without_names: bool = False) -> bytes:
        """Download the match as a replay file."""
        request = GetReplayRequest(
            match_id=self.id, public_only=public_only, invitation_code=self.invitation_code, without_names=without_names
        )
        try:
            return await self._caller.collect(request)
        except Refused as refused:
            raise self._witness.convert_refusal(refused) from None

    async def export(self, path: Path | str, *, public_only: bool = False, without_names: bool = False) -> Path:
        """Write the match as a replay file, atomically: to this path, or into this folder under the match's id.

        The file holds the whole match if it is over; before that, only what this client may see.
        """
        from rollbook.replay_file.container import SUFFIX  # noqa: PLC0415 - it loads rules, which most clients do not need

        path = Path(path)
        path = path / f"{self.id}{SUFFIX}" if path.is_dir() else path
        write_file(path, await self.replay(public_only=public_only, without_names=without_names), 0o600)
        return path

    async def verify(self) -> Audited:
        """Audit the match locally, by its replay file, the service's published keys and the last head received.

        The verdict is EXACT only after the seal. Loads the rules of the games.
        """
        from rollbook_replays.audit.audit import audit  # noqa: PLC0415 - only the audit needs the rules

        replay, keys = await self.replay(), await self._witness.keys.all()
        return await asyncio.to_thread(audit, replay, keys, [] if self.head is None else [self.head])

    def _is_past(self, position: Position) -> bool:
        return self._shown is not None and position.sequence < self._shown.sequence

    def _show(self, position: Position) -> None:
        if not self._is_past(position):
            self._shown = position

    async def take_in(self, made: EventsMade) -> Made:
        """Check the events and the head in the reply to a command, and convert them."""
        events = self._witness.follow(made.events)
        head = await self._witness.check(made.head)
        if not events or head.position != events[-1].position:
            raise self._witness.broken_error(
                "the head of an answer is not that of its last event", made.SerializeToString()
            )
        self._show(head.position)
        return Made(events, head.position, head)
