"""Temporary bans of subjects, addresses, and players of a seat of a match; bans of addresses spare operators.

The store has the list, and every process reads it again once a second. While the store is unavailable, the last list
that was read applies. Each ban ends at its time by the store's clock.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from cachetools import LRUCache

from rollbook.identity.tokens import Role, Subject
from rollbook.server.access.followed_list import FollowedList, ListStore
from rollbook.server.addresses import bannable_networks_around
from rollbook.server.refusals import Refusal
from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.ban_list import Listing

MOST_BANS: Final = 1_000
"""Most bans in force: the first call of a subject after a change is compared with each of them."""

MOST_VERDICTS: Final = 100_000
"""Cache size: results for subjects, and as many for addresses, until the list changes."""

_ID_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Barred:
    """The target of a ban: a subject, an address or a seat; the fields of the other two are empty."""

    subject: str = ""
    """The subject's key; issuer and sub are for display."""
    issuer: str = ""
    sub: str = ""
    address: str = ""
    """An address or a network, as `bannable_network` writes it."""
    match_id: str = ""
    seat: int = 0
    player: str = ""
    """The reference of the seat's player, in hexadecimal digits."""

    @property
    def what(self) -> str:
        """The kind of target."""
        return "subject" if self.subject else "address" if self.address else "seat"

    @property
    def ban_id(self) -> str:
        """A hash of the target, so that the same target always has the same id."""
        parts = [self.what, self.subject or self.address or f"{self.match_id}:{self.player}"]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_ID_DIGITS]


@dataclass(frozen=True, slots=True)
class Bar:
    """A ban."""

    target: Barred
    since_ms: int
    until_ms: int
    by: str
    why: str

    def write(self) -> str:
        """The text for the store, which keeps the end time separately."""
        return json.dumps([asdict(self.target), self.since_ms, self.by, self.why], ensure_ascii=False)

    @classmethod
    def read(cls, text: str, until_ms: int) -> Self:
        """Parse the output of `write`; raises ValueError for anything else."""
        try:
            target, since_ms, by, why = json.loads(text)
            return cls(Barred(**target), int(since_ms), until_ms, str(by), str(why))
        except (TypeError, KeyError) as wrong:
            raise ValueError(str(wrong)) from None


class _Nowhere:
    """For a store without bans."""

    async def read(self, known: str) -> Listing | None:
        del known
        return None

    async def put(self, ban_id: str, text: str, until_ms: int, most: int) -> bool:
        raise StoreUnavailable(f"{ban_id}, {text}, {until_ms}, {most}: this store keeps no list of bans")

    async def remove(self, ban_id: str) -> bool:
        del ban_id
        return False


class Bans(FollowedList):
    """The bans in force, as last read by this process."""

    def __init__(
        self,
        store: ListStore | None,
        reference: Callable[[Subject, str], bytes],
        clock_ms: Callable[[], int],
        failed: Callable[[str], None],
    ) -> None:
        """`reference` returns a subject's reference in a match; `clock_ms` is the store's clock."""
        super().__init__("bans", _Nowhere() if store is None else store, failed)
        self._reference = reference
        self._clock_ms = clock_ms
        self.are_any = False
        """Whether there are any bans, so that calls skip the check if there are none."""
        self._in_force: Mapping[str, Bar] = {}
        self._by_address: dict[str, Bar] = {}
        self._verdicts: LRUCache[str, Bar | None] = LRUCache(MOST_VERDICTS)
        """The ban of each subject checked so far."""
        self._address_verdicts: LRUCache[str, Bar | None] = LRUCache(MOST_VERDICTS)

    def _take(self, listing: Listing) -> None:
        found: dict[str, Bar] = {}
        for ban_id, (until_ms, text) in listing.texts.items():
            # An unreadable entry was written by hand, and is ignored.
            with suppress(ValueError):
                found[ban_id] = Bar.read(text, until_ms)
        self._in_force, self.are_any = found, bool(found)
        self._by_address = {bar.target.address: bar for bar in found.values() if bar.target.address}
        self._verdicts.clear()
        self._address_verdicts.clear()

    async def put(self, bar: Bar) -> None:
        """Add a ban that takes effect at once; raises Refusal if there are too many."""
        if not await self._store.put(bar.target.ban_id, bar.write(), bar.until_ms, MOST_BANS):
            raise Refusal("TOO_MANY_BANS", "too many are kept out already", {"limit": MOST_BANS})
        await self.look()

    async def lift(self, ban_id: str) -> bool:
        """Lift a ban; returns whether it was in force."""
        was_there = await self._store.remove(ban_id)
        await self.look()
        return was_there

    def list_bans(self) -> list[tuple[str, Bar]]:
        """All bans in force with their ids, in the order in which they end."""
        now_ms = self._clock_ms()
        found = [(ban_id, bar) for ban_id, bar in self._in_force.items() if bar.until_ms > now_ms]
        return sorted(found, key=lambda each: (each[1].until_ms, each[0]))

    def check(self, caller: Subject, address: Callable[[], str]) -> None:
        """Raise Refusal if the caller or the caller's address is banned."""
        self._refuse(self._verdict(caller))
        if self._by_address and caller.role is not Role.OPERATOR:
            self.check_address(address())

    def check_address(self, address: str) -> None:
        """Raise Refusal if the address or a network around it is banned."""
        if address not in self._address_verdicts:
            around = bannable_networks_around(address)
            self._address_verdicts[address] = _longest(
                [self._by_address[network] for network in around if network in self._by_address]
            )
        self._refuse(self._address_verdicts[address])

    def _refuse(self, bar: Bar | None) -> None:
        if bar is not None and bar.until_ms > self._clock_ms():
            facts: dict[str, Any] = {"until": bar.until_ms, "what": bar.target.what}
            raise Refusal("BANNED", "an operator of this service keeps the caller out for a time", facts)

    def _verdict(self, caller: Subject) -> Bar | None:
        """The longest ban of this subject; None if there is none."""
        key = caller.key
        if key not in self._verdicts:
            self._verdicts[key] = _longest([bar for bar in self._in_force.values() if self.concern(bar.target, caller)])
        return self._verdicts[key]

    def concern(self, target: Barred, caller: Subject) -> bool:
        """Whether the target is this caller, by subject or by seat."""
        if target.subject:
            return target.subject == caller.key
        return bool(target.match_id) and self._reference(caller, target.match_id).hex() == target.player


def _longest(bars: Sequence[Bar]) -> Bar | None:
    """The ban that ends last; None if there are none."""
    return max(bars, key=lambda bar: bar.until_ms, default=None)
