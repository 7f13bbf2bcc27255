"""Audits uploaded replay files, each in its own process, with limits on their number and time.

A separate process keeps a malicious file from slowing players down, or from damaging the service. It is the command
`rollbook audit-worker`, of which the service knows only the name and the protocol: one input frame with the public
keys, one with the file, and one output frame with the AuditReplayResponse.
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
"""Concurrent audits; others wait."""

AUDIT_SECONDS: Final = 60
MOST_ANSWER_BYTES: Final = 64 << 10

_BROKEN_OFF: Final = "the audit of this file takes more time or memory than that of any match"


class NotInstalled(Exception):
    """No installed package offers the auditor."""


class Auditors:
    """Audits with the public keys of this service."""

    def __init__(self, keys: str, command: str = COMMAND) -> None:
        """Audit with the public keys in `keys`, by `command`."""
        self._keys = keys.encode("utf-8")
        self._words = processes.command(command)
        self._free = asyncio.Semaphore(MOST_AUDITS)

    async def close(self) -> None:
        """Wait until all audits have ended, also those whose callers have gone."""
        for _ in range(MOST_AUDITS):
            await self._free.acquire()
        for _ in range(MOST_AUDITS):
            self._free.release()

    def check_installed(self) -> None:
        """Raise NotInstalled if the auditor is missing."""
        if self._words is None:
            raise NotInstalled

    async def audit(self, data: bytes) -> AuditReplayResponse:
        """Audit a file after the files that came before; raises NotInstalled."""
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
    """The auditor's answer; None if it is not a verdict, or if the auditor did not exit with 0."""
    auditor.stdin.write(question)
    # An auditor that has already exited sends no answer, which is handled below.
    with suppress(BrokenPipeError, ConnectionResetError):
        await auditor.stdin.drain()
    auditor.stdin.close()
    answer = AuditReplayResponse.FromString(await processes.receive_frame(auditor.stdout, MOST_ANSWER_BYTES))
    is_verdict = answer.verdict in Verdict.values() and answer.verdict != VERDICT_UNSPECIFIED
    return answer if is_verdict and await auditor.wait() == 0 else None
