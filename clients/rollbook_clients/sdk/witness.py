"""Records what this client has seen of one match: every event's link and the last signed head.

Two contradicting replies are evidence against the service. So every link passes through here: events of feeds and of
replies, positions, heads. A head is accepted only after its signature was checked with a published key.
"""

from collections.abc import Iterable
from typing import Final

from google.protobuf.message import DecodeError

from rollbook.match.chain import Position, genesis, is_signed, link
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.v1 import events_pb2
from rollbook.v1.table_pb2 import Position as PositionMessage
from rollbook.v1.table_pb2 import ProjectedEvent, SignedHead
from rollbook_clients.sdk.frames import Event, read_head
from rollbook_clients.sdk.heads import KeptHeads
from rollbook_clients.sdk.keys import PublishedKeys
from rollbook_clients.sdk.refusals import LogBroken, LogLost, Refused, RollbookError

LONGEST_DELAY_SECONDS: Final = 3_600


class Witness:
    """The links and the last head of one match."""

    def __init__(self, match_id: str, keys: PublishedKeys, heads: KeptHeads) -> None:
        self.match_id = match_id
        self.keys = keys
        self._heads = heads
        self._links = {0: genesis(match_id)}
        self.spectator_delay_seconds = LONGEST_DELAY_SECONDS
        """The delay of spectators; before event 1 was seen, the longest possible delay."""
        self._checked: dict[int, WitnessedHead] = {}
        """All heads whose signature was checked, by sequence."""
        head = self.head
        if head is not None:
            self._links[head.sequence] = head.link
            self._checked[head.sequence] = head

    @property
    def head(self) -> WitnessedHead | None:
        """The last head that was signed and checked; None before the first."""
        return self._heads.last(self.match_id)

    def broken_error(self, why: str, found: bytes = b"") -> LogBroken:
        """A LogBroken exception with the evidence."""
        return LogBroken(self.match_id, why, self.head, found)

    def lost_error(self, why: str) -> LogLost:
        """A LogLost exception with the evidence."""
        return LogLost(self.match_id, why, self.head)

    def convert_refusal(self, refused: Refused) -> RollbookError:
        """Convert a refusal because of a lost log into LogLost; returns other refusals unchanged."""
        return self.lost_error(refused.why) if refused.reason == "LOG_LOST" else refused

    def message(self, position: Position) -> PositionMessage:
        """The position as a message, with its signature if a head was signed there.

        The signature lets a service that lost the end of its log detect the loss.
        """
        message = PositionMessage(sequence=position.sequence, link=position.link)
        head = self._checked.get(position.sequence)
        if head is not None and head.link == position.link:
            message.key_id, message.signature = head.key_id, head.signature
        return message

    def see(self, position: Position, found: bytes = b"") -> None:
        """Record the link of an event; raises LogBroken if another link was seen at that position."""
        if self._links.setdefault(position.sequence, position.link) != position.link:
            raise self.broken_error(f"event {position.sequence} is not the one that was there before", found)

    def follow(self, projected: Iterable[ProjectedEvent], after: Position | None = None) -> tuple[Event, ...]:
        """Convert events after checking that each follows from the one before, and the first from `after` if given."""
        events = []
        for each in projected:
            event = self._read(each)
            if after is None:
                after = Position(event.sequence - 1, event.message.previous)
                self.see(after, each.event)
            if event.sequence != after.sequence + 1:
                what = "is missing" if event.sequence > after.sequence + 1 else "comes a second time"
                expected = min(after.sequence + 1, event.sequence)
                raise self.broken_error(f"event {expected} {what}", each.event)
            if event.message.previous != after.link:
                raise self.broken_error(f"event {event.sequence} does not follow from the one before", each.event)
            self.see(event.position, each.event)
            if event.kind == "opened":
                self.spectator_delay_seconds = event.message.opened.spectator_delay_seconds
            events.append(event)
            after = event.position
        return tuple(events)

    async def check(self, message: SignedHead) -> WitnessedHead:
        """Check and keep a signed head; raises LogBroken if it is not signed or contradicts what was seen."""
        head = read_head(message)
        if head != self.head:
            found = message.SerializeToString()
            key = await self.keys.find(head.key_id)
            if (
                key is None
                or head.match_id != self.match_id
                or not is_signed(key, head.match_id, head.sequence, head.link, head.signature)
            ):
                raise self.broken_error(f"the head at {head.sequence} is not signed by a key of the service", found)
            self.see(head.position, found)
            self._checked[head.sequence] = head
            self._heads.keep(head)
        return head

    def _read(self, each: ProjectedEvent) -> Event:
        try:
            message = events_pb2.Event.FromString(each.event)
        except DecodeError:
            raise self.broken_error("the log contains bytes that are no event", each.event) from None
        return Event(message, each.event, link(each.event), each.hidden if each.HasField("hidden") else None)
