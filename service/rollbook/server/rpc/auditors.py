"""Audits of files that strangers send: each in a process of its own, a few at a time, for a bounded time.

So nothing that is in a file slows the players down, and nothing that it does to its auditor outlasts it. The auditor is
the command `rollbook audit-worker`, of which the service knows only the name and what is said over its pipes: a frame
with the public keys and one with the file go in, a frame with the AuditReplayResponse comes out.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from google.protobuf.message import DecodeError

from rollbook import processes
from rollbook.v1.replay_pb2 import VERDICT_UNREADABLE, VERDICT_UNSPECIFIED, AuditReplayResponse, Verdict

COMMAND: Final = "audit-worker"

MOST_AUDITS: Final = 2
"""At once; others wait for their turn."""

AUDIT_SECONDS: Final = 60
MOST_ANSWER_BYTES: Final = 64 << 10

_BROKEN_OFF: Final = "the audit of this file takes more time or memory than that of any match"


class NotInstalled(Exception):
    """No installed package has the auditor."""


class Auditors:
    """Audits with the public keys of this service."""

    def __init__(self, keys: str, command: str = COMMAND) -> None:
        """Audit with the keys in these lines, by the command of this name."""
        self._keys = keys.encode("utf-8")
        self._words = processes.command(command)
        self._free = asyncio.Semaphore(MOST_AUDITS)

    async def close(self) -> None:
        """Wait until no audit is under way, not even one that nobody waits for any more."""
        for _ in range(MOST_AUDITS):
            await self._free.acquire()
        for _ in range(MOST_AUDITS):
            self._free.release()

    def check_installed(self) -> None:
        """NotInstalled if there is nobody to audit."""
        if self._words is None:
            raise NotInstalled

    async def audit(self, data: bytes) -> AuditReplayResponse:
        """Have a file audited, after those that came before."""
        if self._words is None:
            raise NotInstalled
        async with self._free:
            return await self._audit(self._words, data)

    async def _audit(self, words: Sequence[str], data: bytes) -> AuditReplayResponse:
        try:
            async with processes.running(words, stderr=DEVNULL) as auditor, asyncio.timeout(AUDIT_SECONDS):
                answer = await _ask(auditor, processes.frame(self._keys) + processes.frame(data))
        except (TimeoutError, processes.CutOff, DecodeError):
            answer = None
        return answer or AuditReplayResponse(verdict=VERDICT_UNREADABLE, found=_BROKEN_OFF)


async def _ask(auditor: processes.Child, question: bytes) -> AuditReplayResponse | None:
    """What the auditor answers; nothing if that is no verdict, or its end is no good one."""
    auditor.stdin.write(question)
    # Of an auditor that has ended meanwhile, the missing answer tells.
    with suppress(BrokenPipeError, ConnectionResetError):
        await auditor.stdin.drain()
    auditor.stdin.close()
    answer = AuditReplayResponse.FromString(await processes.receive_frame(auditor.stdout, MOST_ANSWER_BYTES))
    is_verdict = answer.verdict in Verdict.values() and answer.verdict != VERDICT_UNSPECIFIED
    return answer if is_verdict and await auditor.wait() == 0 else None
