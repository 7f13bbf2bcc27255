"""Audits of files that strangers send: each in a process of its own, a few at a time, for a bounded time.

So nothing that is in a file slows the players down, and nothing that it does to its auditor outlasts it. As a program,
`python -m rollbook.server.auditors` audits what comes on standard input: the length of the lines with the public keys
(four bytes, big-endian), those lines, the file. It knows neither gRPC nor the store.
"""

from __future__ import annotations

import asyncio
import json
import resource
import struct
import sys
from dataclasses import dataclass
from typing import Final

from rollbook.replay_file.key_lines import read_keys
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Verdict

MOST_AUDITS: Final = 2
"""At once; others wait for their turn."""

AUDIT_SECONDS: Final = 60
MOST_MEMORY_BYTES: Final = 1 << 30

_LENGTH = struct.Struct(">I")
_BROKEN_OFF: Final = "the audit of this file takes more time or memory than that of any match"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an audit came to, as it is told to whoever sent the file."""

    verdict: Verdict
    match_id: str = ""
    event: int | None = None
    check: str = ""
    expected: str = ""
    found: str = ""
    missing: tuple[str, ...] = ()


class Auditors:
    """Audits with the public keys of this service."""

    def __init__(self, keys: str) -> None:
        """Audit with the keys in these lines."""
        self._keys = keys.encode("ascii")
        self._free = asyncio.Semaphore(MOST_AUDITS)

    async def close(self) -> None:
        """Wait until no audit is under way, not even one that nobody waits for any more."""
        for _ in range(MOST_AUDITS):
            await self._free.acquire()
        for _ in range(MOST_AUDITS):
            self._free.release()

    async def audit(self, data: bytes) -> Outcome:
        """Have a file audited, after those that came before."""
        async with self._free:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "rollbook.server.auditors"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(AUDIT_SECONDS):
                    said, _ = await process.communicate(_LENGTH.pack(len(self._keys)) + self._keys + data)
            except TimeoutError:
                said = b""
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        if process.returncode or not said:
            return Outcome(Verdict.UNREADABLE, found=_BROKEN_OFF)
        told = json.loads(said)
        return Outcome(**(told | {"verdict": Verdict(told["verdict"]), "missing": tuple(told["missing"])}))


def main() -> None:
    """Audit what comes on standard input."""
    resource.setrlimit(resource.RLIMIT_CPU, (AUDIT_SECONDS, AUDIT_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    (length,) = _LENGTH.unpack(sys.stdin.buffer.read(_LENGTH.size))
    keys = read_keys(sys.stdin.buffer.read(length).decode("ascii"))
    audited = audit(sys.stdin.buffer.read(), keys)
    diverged = audited.divergence
    outcome = {
        "verdict": audited.verdict,
        "match_id": audited.match_id,
        "event": None if diverged is None else diverged.event,
        "check": "" if diverged is None else diverged.check,
        "expected": "" if diverged is None else diverged.expected,
        "found": audited.unreadable if diverged is None else diverged.found,
        "missing": audited.missing,
    }
    sys.stdout.write(json.dumps(outcome))


if __name__ == "__main__":
    main()
