"""Auditors are processes with limits, and none outlives the service that started it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from rollbook import processes
from rollbook.server.rpc import auditors as module
from rollbook.server.rpc.auditors import COMMAND, MOST_ANSWER_BYTES, MOST_AUDITS, Auditors, NotInstalled
from rollbook.v1.replay_pb2 import VERDICT_UNREADABLE, AuditReplayResponse
from tests.server.rpc.talking import PATIENCE_SECONDS

SLOW = b"slow" * 1_000_000
POLL_SECONDS = 0.01


def auditing(parent: int | None = None) -> list[psutil.Process]:
    """The auditors below a process; by default this process."""
    return [child for child in psutil.Process(parent).children() if COMMAND in child.cmdline()]


async def until(condition: Callable[[], object]) -> None:
    """Wait until the condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(POLL_SECONDS)


def worker() -> Sequence[str]:
    """The command line of an auditor."""
    words = processes.command(COMMAND)
    assert words is not None
    return words


def test_no_auditor_is_left_behind_by_calls_that_are_given_up() -> None:
    """Closing waits for running audits; cancelled callers do not wait."""

    async def scenario() -> None:
        auditors = Auditors("")
        audits = [asyncio.create_task(auditors.audit(SLOW)) for _ in range(2 * MOST_AUDITS)]
        await until(lambda: len(auditing()) == MOST_AUDITS)
        for audit in audits:
            audit.cancel()
        await auditors.close()
        assert [] == auditing()
        assert all(audit.cancelled() for audit in audits)

    asyncio.run(scenario())


def test_no_auditor_outlasts_a_service_that_is_killed(tmp_path: Path) -> None:
    """The auditor ends both while it waits for a file and while it reads one."""
    program = (
        "import asyncio\n"
        "from rollbook import processes\n"
        "async def ask():\n"
        f"    async with processes.running(processes.command({COMMAND!r})) as auditor:\n"
        "        auditor.stdin.write(processes.frame(b''))\n"
        "        await asyncio.Event().wait()\n"
        "asyncio.run(ask())\n"
    )

    with (tmp_path / "said").open("wb") as said:
        service = subprocess.Popen([sys.executable, "-c", program], stderr=said)
    try:
        asyncio.run(until(lambda: auditing(service.pid)))
        (auditor,) = auditing(service.pid)
    finally:
        service.kill()
        service.wait()
    psutil.wait_procs([auditor], timeout=PATIENCE_SECONDS)
    assert not auditor.is_running()


@pytest.mark.parametrize("kept", [0, 2, 6, 8, 12])
def test_a_question_that_is_cut_off_gets_no_answer(kept: int) -> None:
    """An audit of half a file would report a damaged file."""
    question = (processes.frame(b"") + processes.frame(b"no replay"))[:kept]
    done = subprocess.run(worker(), input=question, capture_output=True, check=False)
    assert (3, b"") == (done.returncode, done.stdout)


ANSWER = processes.frame(AuditReplayResponse(verdict=VERDICT_UNREADABLE, found="because").SerializeToString())


@pytest.mark.parametrize(
    "does",
    [
        "pass",
        f"out({ANSWER[:-1]!r})",
        "out(b'\\xff' * 4)",
        f"out({processes.frame(b'none')!r})",
        f"out({processes.frame(b'')!r})",
        f"out({processes.frame(AuditReplayResponse(verdict=9).SerializeToString())!r})",  # type: ignore[arg-type]
        f"out({ANSWER!r}); os._exit(1)",
        f"out({ANSWER!r}); os.kill(os.getpid(), {int(signal.SIGKILL)})",
        f"out(bytes([0, 1, 0, 1]) + bytes({MOST_ANSWER_BYTES} * 100))",
        "time.sleep(1000)",
    ],
    ids=["silent", "cut", "endless", "noise", "empty", "no-verdict", "failed", "killed", "long", "slow"],
)
def test_an_auditor_that_a_file_has_taken_over_tells_the_service_nothing(
    does: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any behaviour of the auditor without an answer, the file is unreadable and the process is gone."""
    program = f"import os, sys, time; out = os.fdopen(1, 'wb', 0).write; sys.stdin.buffer.read(); {does}"
    monkeypatch.setattr(module, "AUDIT_SECONDS", 1 if "sleep" in does else PATIENCE_SECONDS)
    monkeypatch.setattr(processes, "command", lambda _name: [sys.executable, "-c", program, COMMAND])

    async def scenario() -> None:
        answer = await Auditors("").audit(b"file")
        assert VERDICT_UNREADABLE == answer.verdict
        assert "time or memory" in answer.found
        assert [] == auditing()

    asyncio.run(scenario())


def test_a_service_without_the_audit_says_so() -> None:
    """The auditor is a command of another package, which may be missing."""

    async def scenario() -> None:
        missing = Auditors("", "no-such-command")
        with pytest.raises(NotInstalled):
            missing.check_installed()
        with pytest.raises(NotInstalled):
            await missing.audit(b"")

    asyncio.run(scenario())


def test_help_does_not_list_what_only_a_service_starts() -> None:
    """People use `rollbook audit`; the worker's own `--help` still explains it."""
    listed = subprocess.run([sys.executable, "-m", "rollbook", "--help"], capture_output=True, text=True, check=True)
    assert "audit" in listed.stdout
    assert COMMAND not in listed.stdout
    asked = subprocess.run([*worker(), "--help"], capture_output=True, text=True, check=True, env=os.environ)
    assert "Two frames come in" in asked.stdout
