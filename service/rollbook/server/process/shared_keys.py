"""Ensures that all processes over one store have compatible keys, at the start and while they run.

The store holds the fingerprints of the service's keys, and every process registers which keys it signs with and which
it publishes. A signing key can be rotated once all running processes publish both the old and the new one. Ids,
references and invitations are derived from the service key, so it can be replaced only while no process runs and no
match is open or running.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Self

from rollbook.identity.service_keys import KeyFileRefused, ServiceKeys
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.loops import BackgroundLoop
from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.log import RedisLog

SERVICE_KEY: Final = "service.key"
BEAT_SECONDS: Final = 1.0
LEAVE_SECONDS: Final = 5.0
SILENT_MS: Final = 5_000
"""A process that has not registered for so many milliseconds is considered gone."""

_FINGERPRINT_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Identifies the keys of a process without revealing them."""

    service: str
    signs: dict[str, str]
    """Id of the signing key, by file."""
    published: dict[str, list[str]]
    """Ids of all keys whose signatures are accepted, by file."""

    @classmethod
    def of(cls, keys: ServiceKeys) -> Self:
        """The fingerprints of these keys."""
        service = hashlib.sha256(b"rollbook/1/service-key" + keys.service).hexdigest()
        signing = {"head.key": keys.head, "replay.key": keys.replay, "token.key": keys.token}
        return cls(
            service[:_FINGERPRINT_DIGITS],
            {file: key.key_id for file, key in signing.items()},
            {file: sorted(key.published) for file, key in signing.items()},
        )

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse the output of `write`; raises ValueError for anything else."""
        said: Any = json.loads(text)
        try:
            return cls(
                str(said["service"]), dict(said["signs"]), {file: list(k) for file, k in said["published"].items()}
            )
        except (AttributeError, KeyError, TypeError) as wrong:
            raise ValueError(str(wrong)) from None

    def write(self) -> str:
        """One line of JSON."""
        said = {"service": self.service, "signs": self.signs, "published": self.published}
        return json.dumps(said, sort_keys=True, separators=(",", ":"))

    def unknown_to(self, other: Self) -> list[str]:
        """The files whose key this process signs with but the other process does not publish."""
        return [file for file, key in self.signs.items() if key not in other.published.get(file, ())]


class SharedKeys:
    """Compares the keys of this process with those of all other processes over its store."""

    def __init__(self, log: RedisLog, keys: ServiceKeys, failed: Callable[[str], None]) -> None:
        """Compare these keys; `failed` is called with the loop's name whenever a comparison fails."""
        self._log = log
        self._mine = Fingerprints.of(keys)
        self._process = secrets.token_hex(8)
        self.fit = True
        """Whether this process and all others accept each other's signatures."""
        self._loop = BackgroundLoop("keys", self._compare, failed, BEAT_SECONDS)

    async def settle(self) -> None:
        """Register this process's keys; raises KeyFileRefused if the store or a running process has others."""
        others = await self._say()
        try:
            for other in others:
                self._check_running(other)
            await self._check_stored(is_alone=not others)
        except KeyFileRefused:
            await self._log.leave(self._process)
            raise
        self._loop.start()

    async def close(self) -> None:
        """Remove the registration of this process, if the store answers."""
        await self._loop.close()
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._log.leave(self._process)

    async def _say(self) -> list[Fingerprints]:
        said = await self._log.enter(self._process, self._mine.write(), SILENT_MS)
        return list(_read(said))

    async def _compare(self) -> None:
        others = await self._say()
        self.fit = False
        for other in others:
            self._check_running(other)
        self.fit = True

    def _check_running(self, other: Fingerprints) -> None:
        if lacking := other.unknown_to(self._mine):
            raise KeyFileRefused(f"A process with other keys runs over this store: {_copy(lacking)}.")
        if unknown := self._mine.unknown_to(other):
            files = " and ".join(f"{file}.public" for file in unknown)
            raise KeyFileRefused(
                f"A process runs over this store that does not publish the key in {' and '.join(unknown)}: first add"
                f" its line to {files} of every process and restart each, then exchange the key."
            )
        if other.service != self._mine.service:
            raise KeyFileRefused(f"A process with another service key runs over this store: {_copy([SERVICE_KEY])}.")

    async def _check_stored(self, *, is_alone: bool) -> None:
        said = self._mine.write()
        stored = await self._log.keys(said)
        while stored != said:
            try:
                known = Fingerprints.read(stored)
            except ValueError:
                raise KeyFileRefused(
                    "The store's record of its keys (rollbook:keys) cannot be read: restore it from a backup, or"
                    " delete it if these are the keys that the service has always had."
                ) from None
            if lacking := known.unknown_to(self._mine):
                raise KeyFileRefused(f"The store is that of a service with other keys: {_copy(lacking)}.")
            if known.service != self._mine.service and not (is_alone and await self._is_idle()):
                raise KeyFileRefused(
                    "The store is that of a service with another service key, and matches are open or running in it:"
                    f" {_copy([SERVICE_KEY])}."
                )
            stored = await self._log.keys(said, instead_of=stored)

    async def _is_idle(self) -> bool:
        return not await StoredLobby(self._log, self._log, self._log).list_matches()


def _copy(files: Iterable[str]) -> str:
    names = [name for file in files for name in (file, f"{file}.public") if name != f"{SERVICE_KEY}.public"]
    return f"copy {' and '.join(names)} from the data directory of one that serves it, or use another store"


def _read(said: Iterable[str]) -> Iterable[Fingerprints]:
    for text in said:
        try:
            yield Fingerprints.read(text)
        except ValueError:
            # An unreadable registration is ignored; it expires in seconds.
            continue
