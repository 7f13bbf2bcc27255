"""What this client has seen of one match: every event's link, by whatever way it came, and the last signed head.

Two answers that contradict each other are evidence. So everything that names a link passes here: events of feeds and
of answers, positions, heads; and no head counts before its signature was checked with a key that the service published.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from google.protobuf.message import DecodeError

from rollbook.v1 import events_pb2
from rollbook.v1.identity_pb2 import GetKeysRequest, GetKeysResponse
from rollbook.v1.table_pb2 import ProjectedEvent, SignedHead
from rollbook_clients.sdk.chain import Head, Position, genesis, link
from rollbook_clients.sdk.connection import Connection
from rollbook_clients.sdk.frames import Event
from rollbook_clients.sdk.heads import Heads
from rollbook_clients.sdk.refusals import LogBroken, LogLost, Refused, RollbookError

LONGEST_DELAY_SECONDS: Final = 3_600


class Keys:
    """The public keys of signed heads, as the service publishes them; an unknown one is asked for once more."""

    def __init__(self, connection: Connection) -> None:
        """Ask when the first key is needed."""
        self._connection = connection
        self._known: dict[str, Ed25519PublicKey] = {}

    async def find(self, key_id: str) -> Ed25519PublicKey | None:
        """The key of this id; none if the service has no such key."""
        if key_id not in self._known:
            answer = await self._published()
            # A key that was published stays what it was.
            self._known = _by_id(answer.keys) | self._known
        return self._known.get(key_id)

    async def all(self) -> dict[str, Ed25519PublicKey]:
        """By key id all that an audit needs: the keys of heads and of replay files."""
        answer = await self._published()
        return _by_id(answer.replay_keys) | _by_id(answer.keys) | self._known

    async def _published(self) -> GetKeysResponse:
        return await self._connection.call(lambda line: line.identity.GetKeys, GetKeysRequest())


def _by_id(
    keys: Iterable[GetKeysResponse.HeadKey] | Iterable[GetKeysResponse.ReplayKey],
) -> dict[str, Ed25519PublicKey]:
    return {key.key_id: Ed25519PublicKey.from_public_bytes(key.public_key) for key in keys}


class Witness:
    """The links and the last head of one match."""

    def __init__(self, match_id: str, keys: Keys, heads: Heads) -> None:
        """Begin with what was kept of it."""
        self.match_id = match_id
        self.keys = keys
        self._heads = heads
        self._links = {0: genesis(match_id)}
        self.spectator_delay_seconds = LONGEST_DELAY_SECONDS
        """By how much spectators see everything later; the most there can be before event 1 was seen."""
        head = self.head
        if head is not None:
            self._links[head.sequence] = head.link

    @property
    def head(self) -> Head | None:
        """The last head that was signed."""
        return self._heads.last(self.match_id)

    def broken(self, why: str, found: bytes = b"") -> LogBroken:
        """The evidence that something does not hold together."""
        return LogBroken(self.match_id, why, self.head, found)

    def lost(self, why: str) -> LogLost:
        """The evidence that the service does not have what it vouched for."""
        return LogLost(self.match_id, why, self.head)

    def judged(self, refused: Refused) -> RollbookError:
        """A refusal, or the evidence that it is."""
        return self.lost(refused.why) if refused.reason == "LOG_LOST" else refused

    def vouched(self, position: Position) -> Position:
        """The same position, with the signature that vouched for it if the last head did."""
        return self.head.position if self.head is not None and self.head.position == position else position

    def see(self, position: Position, found: bytes = b"") -> None:
        """Note the link of an event; LogBroken if another one was seen there."""
        if self._links.setdefault(position.sequence, position.link) != position.link:
            raise self.broken(f"event {position.sequence} is not the one that was there before", found)

    def follow(self, projected: Iterable[ProjectedEvent], after: Position | None = None) -> tuple[Event, ...]:
        """The events, each of which follows from the one before, the first from a position or from what it names."""
        events = []
        for each in projected:
            event = self._read(each)
            if after is None:
                after = Position(event.sequence - 1, event.message.previous)
                self.see(after, each.event)
            if event.sequence != after.sequence + 1:
                what = "is missing" if event.sequence > after.sequence + 1 else "comes a second time"
                expected = min(after.sequence + 1, event.sequence)
                raise self.broken(f"event {expected} {what}", each.event)
            if event.message.previous != after.link:
                raise self.broken(f"event {event.sequence} does not follow from the one before", each.event)
            self.see(event.position, each.event)
            if event.kind == "opened":
                self.spectator_delay_seconds = event.message.opened.spectator_delay_seconds
            events.append(event)
            after = event.position
        return tuple(events)

    async def check(self, message: SignedHead) -> Head:
        """The head in a message, whose signature holds and which contradicts nothing that was seen; it is kept."""
        head = Head.read(message)
        if head != self.head:
            found = message.SerializeToString()
            key = await self.keys.find(head.key_id)
            if head.match_id != self.match_id or key is None or not head.is_signed_by(key):
                raise self.broken(f"the head at {head.sequence} is not signed by a key of the service", found)
            self.see(head.position, found)
            self._heads.keep(head)
        return head

    def _read(self, each: ProjectedEvent) -> Event:
        try:
            message = events_pb2.Event.FromString(each.event)
        except DecodeError:
            raise self.broken("bytes that are no event stand in the log", each.event) from None
        return Event(message, each.event, link(each.event), each.hidden if each.HasField("hidden") else None)
