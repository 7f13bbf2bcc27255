"""One match: look at it, sit down, play, watch, take it home."""

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
from rollbook_clients.sdk.watch import Watch
from rollbook_clients.sdk.witness import Witness

if TYPE_CHECKING:
    from rollbook_replays.audit.verdicts import Audited

_MOST_TOLD: Final = 20
"""So many legal choices are told in a sentence."""


class Match:
    """A match at a table; `table.match` and `table.open` give it.

    What a choice answers is the last that this object has shown of the match: by `state`, `watch`, `play`, or as the
    answer to a command.
    """

    def __init__(
        self, caller: Caller, witness: Witness, another: Callable[[str, str], Match], invitation_code: str = ""
    ) -> None:
        """Nothing is asked yet. `another` gives another match of the same table, by id and invitation code."""
        self.id = witness.match_id
        self.invitation_code = invitation_code
        """What opens a seat of a private match to whoever has it; empty if it is public, or not known."""
        self._caller = caller
        self._witness = witness
        self._another = another
        self._commands = MatchCommands(caller, witness)
        self._shown: Position | None = None
        self._legal: Legal | None = None
        """What was legal where the match was last looked at, or watched."""

    def __repr__(self) -> str:
        return f"Match({self.id!r})"

    @property
    def address(self) -> str:
        """Where the service is."""
        return self._caller.connection.address

    @property
    def head(self) -> WitnessedHead | None:
        """The last head of the match that the service signed and this client has checked; none before it saw any."""
        return self._witness.head

    @property
    def position(self) -> Position | None:
        """What a choice answers unless it is told otherwise: the last that was shown."""
        return self._shown

    async def state(self) -> State:
        """The match as it stands, with what this client's seat may choose."""
        request = GetMatchRequest(match_id=self.id, invitation_code=self.invitation_code)
        try:
            answer = await self._caller.call(lambda line: line.matches.GetMatch, request)
        except Refused as refused:
            raise self._witness.judged(refused) from None
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
        """Sit down, on this seat or on the free one with the lowest number.

        The seat brings entropy of its own to the dice: it is committed to here, and `ready` reveals it.
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
        """Get up again, before all seats are taken."""
        answer = await self._commands.send(lambda line: line.matches.LeaveSeat, LeaveSeatRequest(match_id=self.id))
        return await self.take_in(answer.made)

    async def add_bot(self, strategy: str = "", seat: int | None = None) -> TakenSeat:
        """Have a bot of the house sit down in a match that this caller has opened; it gets ready and plays by itself.

        From weak to strong it plays by "random", "heuristic" (the default) or "monte_carlo".
        """
        request = AddBotRequest(match_id=self.id, seat=seat, strategy=strategy)
        answer = await self._commands.send(lambda line: line.matches.AddBot, request)
        return TakenSeat(answer.seat, answer.closed_seats, await self.take_in(answer.made))

    async def free_seat(self, seat: int) -> Made:
        """Free a seat of a match that this caller has opened: any of a private one, and that of a bot of the house."""
        request = FreeSeatRequest(match_id=self.id, seat=seat)
        answer = await self._commands.send(lambda line: line.matches.FreeSeat, request)
        return await self.take_in(answer.made)

    async def withdraw(self) -> Made:
        """End a match that this caller has opened, before all seats are taken; it is aborted, for all who watch it."""
        answer = await self._commands.send(lambda line: line.matches.AbortMatch, AbortMatchRequest(match_id=self.id))
        return await self.take_in(answer.made)

    async def abort(self) -> Made | None:
        """End any match without a result, for operators; none if nothing was left of it but its place in the lobby."""
        answer = await self._commands.send(lambda line: line.matches.AbortMatch, AbortMatchRequest(match_id=self.id))
        return None if answer.is_gone else await self.take_in(answer.made)

    async def ready(self) -> Made:
        """Wait until all seats are taken, check what stands in the log so far, and reveal this seat's entropy.

        It is revealed only behind a signed head of one chain that holds the service's commitment, those of all seats,
        and among them this one's: from then on nobody can choose anything that the dice depend on.
        """
        entropy = self._caller.entropy(self.id)
        closed = await self._closed(entropy_commitment(entropy))
        request = ReadyRequest(
            match_id=self.id, position=self._witness.message(closed), closing_link=closed.link, entropy=entropy
        )
        answer = await self._commands.send(lambda line: line.matches.Ready, request)
        return await self.take_in(answer.made)

    async def _closed(self, commitment: bytes) -> Position:
        """Where the seats were closed, once everything up to there is checked."""
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

    # Playing

    async def choose(self, choice: Message | str, *, at: Position | None = None, request_id: str = "") -> Made:
        """Choose for this client's seat, in answer to the last that was shown, or to another position.

        `choice` is one of the legal ones, or a choice of the match's game as `rollbook_clients.sdk.choices` makes it,
        or its words as `str` gives them, such as "roll" or "advance 2 8". It is made once or not at all. IllegalChoice
        is what the rules do not allow now, with those that they do. OutcomeUnknown says that this could not be found
        out, and the next call settles it first; the same choice again is then the same one, also by another client
        that sends it with the same `request_id`. MovedOn says that the match has gone on.
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
            return self._named(choice) if isinstance(choice, str) else choice_of(choice)
        except (TypeError, AttributeError):
            why = f"{choice!r} is no choice; those of a game are made by rollbook_clients.sdk.choices"
        except ValueError as wrong:
            why = str(wrong)
        few = self._legal is not None and len(self._legal) <= _MOST_TOLD
        legal = f"; legal here: {', '.join(map(str, self._legal or ()))}" if few else ""
        raise Malformed("NOTHING_CHOSEN", why + legal, position=self._shown, legal=self._legal)

    def _named(self, words: str) -> Choice:
        game = None if self._legal is None else self._legal.game
        if game is None:
            raise ValueError(f"{words!r} names no choice: this seat was not shown what it may choose")
        return from_words(game, words)

    async def resign(self) -> Made:
        """Give up for good: the caretaker plays on for this seat."""
        answer = await self._commands.send(lambda line: line.matches.Resign, ResignRequest(match_id=self.id))
        return await self.take_in(answer.made)

    async def play(self) -> AsyncGenerator[Events, None]:
        """Every moment of the match from now to its end, as a player needs it.

        That is the newest one only, and the same one again for as long as it is still this seat's turn: every few
        seconds, and after a lost connection. Whoever chooses in answer to every moment that has `legal` choices plays
        the match, and a choice that failed is made up for.
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
                # An answer to a command may have shown more than the feed has told so far.
                if is_current and newest is not None and not self._is_past(newest.position):
                    yield newest
                    newest = newest if newest.legal else None

    # Watching

    async def watch(
        self, after: Position | None = None, *, public_only: bool = False, views: bool = True
    ) -> AsyncGenerator[Frame, None]:
        """Everything that happens behind a position, or from the start, to the end of the match.

        It does not end because a connection is lost: Away and Back tell of that, and nothing is left out or told twice.
        Without views the service sends neither the table nor what may be chosen, which costs it less.
        """
        code = self.invitation_code
        watch = Watch(self._caller, self._witness, after, public_only=public_only, invitation_code=code, views=views)
        async with aclosing(watch.frames()) as frames:
            async for frame in frames:
                if isinstance(frame, Events):
                    self._show(frame.position)
                    self._legal = frame.legal
                yield frame

    async def rematch(self) -> Match:
        """The rematch of this match, which has a result and in which this caller sat; nobody sits down by that.

        Whoever asks first opens it, and the others meet the same table: the same game, options, clocks and seats, which
        are kept for them for five minutes.
        """
        request = OpenMatchRequest(request_id=str(uuid4()), rematch_of=self.id)
        try:
            answer = await self._caller.call(lambda line: line.matches.OpenMatch, request)
        except Refused as refused:
            raise self._witness.judged(refused) from None
        match = self._another(answer.match_id, answer.invitation_code)
        await match.take_in(answer.made)
        return match

    # Taking it home

    async def replay(self, *, public_only: bool = False, without_names: bool = False) -> bytes:
        """The match as a replay file, as `export` writes it."""
        request = GetReplayRequest(
            match_id=self.id, public_only=public_only, invitation_code=self.invitation_code, without_names=without_names
        )
        try:
            return await self._caller.collect(request)
        except Refused as refused:
            raise self._witness.judged(refused) from None

    async def export(self, path: Path | str, *, public_only: bool = False, without_names: bool = False) -> Path:
        """Write the match as a replay file, whole or not at all: to this file, or into this folder by the match's id.

        When the match is over that is all of it, before that what this client may see.
        """
        from rollbook.replay_file.container import SUFFIX  # noqa: PLC0415 - it loads rules, which nobody else needs

        path = Path(path)
        path = path / f"{self.id}{SUFFIX}" if path.is_dir() else path
        write_file(path, await self.replay(public_only=public_only, without_names=without_names), 0o600)
        return path

    async def verify(self) -> Audited:
        """Audit the match here, from its replay file, the service's published keys and the last head that was seen.

        The verdict is EXACT only after the seal. This loads the rules, which nothing else here does.
        """
        from rollbook_replays.audit.audit import audit  # noqa: PLC0415 - whoever only plays needs no rules

        replay, keys = await self.replay(), await self._witness.keys.all()
        return await asyncio.to_thread(audit, replay, keys, [] if self.head is None else [self.head])

    def _is_past(self, position: Position) -> bool:
        return self._shown is not None and position.sequence < self._shown.sequence

    def _show(self, position: Position) -> None:
        if not self._is_past(position):
            self._shown = position

    async def take_in(self, made: EventsMade) -> Made:
        """What a command made, checked like what a feed tells."""
        events = self._witness.follow(made.events)
        head = await self._witness.check(made.head)
        if not events or head.position != events[-1].position:
            raise self._witness.broken("the head of an answer is not that of its last event", made.SerializeToString())
        self._show(head.position)
        return Made(events, head.position, head)
