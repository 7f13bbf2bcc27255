"""Auditors are processes: none outlasts the service that started it."""

from __future__ import annotations

import asyncio

import psutil

from rollbook.server.auditors import MOST_AUDITS, Auditors
from tests.server.talking import PATIENCE_SECONDS


def auditing() -> list[psutil.Process]:
    """The auditors that this process has."""
    return [child for child in psutil.Process().children() if "rollbook.server.auditors" in child.cmdline()]


def test_no_auditor_is_left_behind_by_calls_that_are_given_up() -> None:
    """Closing waits for what is under way; whoever gave up the call does not."""

    async def scenario() -> None:
        auditors = Auditors("")
        audits = [asyncio.create_task(auditors.audit(b"slow" * 1_000_000)) for _ in range(2 * MOST_AUDITS)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                if len(auditing()) == MOST_AUDITS:
                    break
                await asyncio.sleep(0.01)
        for audit in audits:
            audit.cancel()
        await auditors.close()
        assert [] == auditing()
        assert all(audit.cancelled() for audit in audits)

    asyncio.run(scenario())
