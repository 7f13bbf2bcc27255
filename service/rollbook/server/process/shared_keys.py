"""That all processes over one store have the same keys, from their start and as long as they run.

The store knows the fingerprints of the keys that it was begun with, and every process says in it which it signs with
and which it publishes. A signing key is followed by another once all that run publish both: this is how keys are
rotated. From the service key follow ids, references and invitations, so another takes its place only where no process
runs and no match is open or running.
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
"""A process that has not said for so long that it runs is gone."""

_FINGERPRINT_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """What tells the keys of a process apart, and is no secret."""

    service: str
    signs: dict[str, str]
    """By file the id of the key that signs."""
    published: dict[str, list[str]]
    """By file the ids of all keys whose signatures count."""

    @classmethod
    def of(cls, keys: ServiceKeys) -> Self:
        """Those of these keys."""
        service = hashlib.sha256(b"rollbook/1/service-key" + keys.service).hexdigest()
        signing = {"head.key": keys.head, "replay.key": keys.replay, "token.key": keys.token}
        return cls(
            service[:_FINGERPRINT_DIGITS],
            {file: key.key_id for file, key in signing.items()},
            {file: sorted(key.published) for file, key in signing.items()},
        )

    @classmethod
    def read(cls, text: str) -> Self:
        """As they were written; ValueError for anything else."""
        said: Any = json.loads(text)
        try:
            return cls(
                str(said["service"]), dict(said["signs"]), {file: list(k) for file, k in said["published"].items()}
            )
        except (AttributeError, KeyError, TypeError) as wrong:
            raise ValueError(str(wrong)) from None

    def write(self) -> str:
        """One line of text."""
        said = {"service": self.service, "signs": self.signs, "published": self.published}
        return json.dumps(said, sort_keys=True, separators=(",", ":"))

    def unknown_to(self, other: Self) -> list[str]:
        """The files whose key signs here, and is not published there."""
        return [file for file, key in self.signs.items() if key not in other.published.get(file, ())]


class SharedKeys:
    """The keys of this process beside those of all others over its store."""

    def __init__(self, log: RedisLog, keys: ServiceKeys, failed: Callable[[str], None]) -> None:
        """Compare these keys; `failed` hears of every comparison that cannot be made."""
        self._log = log
        self._mine = Fingerprints.of(keys)
        self._process = secrets.token_hex(8)
        self.fit = True
        """Whether all processes believe each other."""
        self._loop = BackgroundLoop("keys", self._compare, failed, BEAT_SECONDS)

    async def settle(self) -> None:
        """Say which they are, or raise KeyFileRefused if the store is that of a service with other keys."""
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
        """Say that the process is gone, unless the store is away."""
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
                    "What the store says of its keys (rollbook:keys) cannot be read: restore it from a backup, or"
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
        return not await StoredLobby(self._log).listed()


def _copy(files: Iterable[str]) -> str:
    names = [name for file in files for name in (file, f"{file}.public") if name != f"{SERVICE_KEY}.public"]
    return f"copy {' and '.join(names)} from the data directory of one that serves it, or use another store"


def _read(said: Iterable[str]) -> Iterable[Fingerprints]:
    for text in said:
        try:
            yield Fingerprints.read(text)
        except ValueError:
            # What is no word of a process is passed over, and forgotten in seconds.
            continue
