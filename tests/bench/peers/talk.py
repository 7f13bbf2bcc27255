"""Requests to the service and to the bare prototype, byte by byte, and the parts read from their answers.

The player of Can't Stop never stops: a bust resets the runners, so no match ends. The next player waits for the own
feed, because the first choice of a turn has to name the link in it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from rollbook.match.chain import link
from rollbook.match.codec.messages import write_choice
from rollbook.rules import cant_stop
from rollbook.rules.cant_stop.moves import ROLLED, Stop
from rollbook.rules.chance import FirstSeat
from rollbook.v1.events_pb2 import Event
from rollbook.v1.feed_pb2 import MatchFrame, WatchMatchRequest
from rollbook.v1.match_pb2 import PlayRequest, PlayResponse
from rollbook.v1.table_pb2 import Position

BARE_CHOICE: Final = b"." * 48
BARE_TURN: Final = 5
"""Choices of a seat before the other one has its turn."""


class RollbookTalk:
    """A match of Can't Stop at the service."""

    play_path = "/rollbook.v1.MatchService/Play"
    watch_path = "/rollbook.v1.FeedService/WatchMatch"

    def __init__(self, _number: int, match: dict[str, Any]) -> None:
        """Start at the position at which the match was prepared."""
        self._match_id = match["match_id"]
        self.watch = WatchMatchRequest(match_id=self._match_id).SerializeToString()
        self._state = cant_stop.GAME.start({}, 2)
        self._play(FirstSeat(match["first_seat"]))
        self._play(ROLLED[tuple(match["dice"])])
        self._sequence: int = match["sequence"]
        self._chose = -1
        self._choices = 0
        self._told = [0, 0, 0, 0]
        self._frames: list[MatchFrame | None] = [None, None]

    def _play(self, move: Any) -> None:
        cant_stop.GAME.play(self._state, move)

    def choice(self) -> tuple[int, bytes] | None:
        """Return the first legal choice that does not stop."""
        seat, sequence = self._state.seat, self._sequence
        position = Position(sequence=sequence)
        if seat != self._chose:
            frame = self._frames[seat]
            if frame is None or self._told[seat] < sequence:
                return None
            at = self._told[seat] - sequence
            position.link = link(frame.events.events[len(frame.events.events) - 1 - at].event)
            self._chose = seat
        choice = next(iter(cant_stop.GAME.legal(self._state)))
        self._play(choice)
        self._choices += 1
        asked = PlayRequest(request_id=f"choice-{self._choices}", match_id=self._match_id, position=position)
        return seat, asked.SerializeToString() + _choice(choice)

    def answered(self, answer: bytes) -> int:
        """Handle the outcomes in an answer."""
        read = PlayResponse.FromString(answer)
        if read.WhichOneof("answer") != "made":
            raise ValueError(f"the choice was refused: {read.refused}")
        for projected in read.made.events:
            event = Event.FromString(projected.event)
            self._play(ROLLED[tuple(event.happened.outcome.cant_stop.roll.dice)])
        self._sequence = int(read.made.last)
        return self._sequence

    def told(self, feed: int, frame: bytes) -> int:
        """Count events; a player's feed keeps the frame, which has the link of its last event."""
        read = MatchFrame.FromString(frame)
        if events := len(read.events.events):
            self._told[feed] += events
            if feed < len(self._frames):
                self._frames[feed] = read
        return self._told[feed]


@cache
def _choice(choice: Any) -> bytes:
    """Encode the part of a request with the choice and `outcomes_only`."""
    assert not isinstance(choice, Stop)
    return PlayRequest(choice=write_choice(cant_stop.GAME, choice), outcomes_only=True).SerializeToString()


class BareTalk:
    """Messages of equal sizes for the prototype; they begin with a number."""

    play_path = "/Prototype/Play"
    watch_path = "/Prototype/Watch"

    def __init__(self, number: int, _match: dict[str, Any]) -> None:
        """Start with an empty log."""
        self.watch = number.to_bytes(4, "big")
        self._choice = self.watch + BARE_CHOICE
        self._sequence = 0
        self._told = [0, 0, 0, 0]

    def choice(self) -> tuple[int, bytes] | None:
        """Make a few choices of a seat, then of the other one once its feed has them."""
        turn, chosen = divmod(self._sequence, BARE_TURN)
        seat = turn % 2
        if not chosen and self._told[seat] < self._sequence:
            return None
        return seat, self._choice

    def answered(self, answer: bytes) -> int:
        """Return the number of the event."""
        self._sequence = int.from_bytes(answer[:4], "big")
        return self._sequence

    def told(self, feed: int, frame: bytes) -> int:
        """Return the number of the event: one more than the last."""
        number = int.from_bytes(frame[:4], "big")
        if number:
            assert self._told[feed] + 1 == number
            self._told[feed] = number
        return self._told[feed]


TALKS: Final[dict[str, Any]] = {"rollbook": RollbookTalk, "bare": BareTalk}
