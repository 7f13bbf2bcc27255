"""Starts programs beside a service: commands of packages that the service does not import.

The service has only the name of the program's command. A package offers one with an entry point of the group
`rollbook.processes`, which no help lists. This module is for both sides: the words that start a program, its end with
the service, and frames, which distinguish complete messages from cut-off ones.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import struct
import sys
import threading
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, BinaryIO, Final, Self, cast

GROUP: Final = "rollbook.processes"

PARENT_SECONDS: Final = 1.0
"""Interval in seconds at which a process checks for its parent where the system does not report its end."""

MOST_MESSAGE_BYTES: Final = 1 << 20
"""The longest message between a service and such a program."""

_NEEDED: Final = {
    "HOME",
    "LANG",
    "LANGUAGE",
    "PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "XDG_RUNTIME_DIR",
}
_NEEDED_PREFIXES: Final = ("COVERAGE_", "GRPC_", "LC_", "LD_", "MALLOC_", "PYTEST_", "PYTHON")
"""Prefixes of variables that every program needs: where things are, and how to run or trace it. None is a secret."""

_PR_SET_PDEATHSIG: Final = 1
_LENGTH: Final = struct.Struct(">I")


class CutOff(EOFError):
    """A frame is incomplete, or longer than allowed."""


def command(name: str) -> Sequence[str] | None:
    """The words that start `rollbook NAME`; None if no installed package offers it."""
    if not entry_points(group=GROUP, name=name):
        return None
    return (sys.executable, "-P", "-m", "rollbook", name)


@dataclass(frozen=True, slots=True)
class Child:
    """A running program."""

    process: Process
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader

    async def wait(self) -> int:
        """Wait until the program ends and return its exit code, negative for a signal."""
        return await self.process.wait()


def environment(*prefixes: str) -> dict[str, str]:
    """The environment of a child process: what every program needs, and the variables that begin with a prefix.

    The store's password and cloud credentials, which a service often gets in variables, are left out.
    """
    kept = (*_NEEDED_PREFIXES, *prefixes)
    return {name: value for name, value in os.environ.items() if name in _NEEDED or name.startswith(kept)}


@asynccontextmanager
async def running(
    words: Sequence[str],
    *,
    stderr: int | None = None,
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> AsyncIterator[Child]:
    """Run a program with pipes to it, and kill it on leaving if it still runs.

    Without `env` it gets only the variables that every program needs. It has its own session, so that Ctrl-C reaches
    the service alone, and inherits only the given files.
    """
    env = env or environment()
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=PIPE,
        stdout=PIPE,
        stderr=stderr,
        env=env or environment(),
        start_new_session=True,
        pass_fds=pass_fds,
    )
    try:
        yield Child(process, cast("asyncio.StreamWriter", process.stdin), cast("asyncio.StreamReader", process.stdout))
    finally:
        if process.returncode is None:
            process.kill()
            # asyncio reports the end only after all output has been read.
            await process.communicate()


def end_with_parent() -> None:
    """Have this process killed when its parent ends, in any way.

    Linux kills it when the thread that started it ends, so a service starts it on the main thread. If the parent has
    already ended, standard input is closed, which callers of this function notice.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    else:
        threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


# Frames: a length (four bytes, big-endian), then that many bytes.


def frame(data: bytes) -> bytes:
    """The bytes with their length before them.

    >>> frame(b"dice").hex(" ")
    '00 00 00 04 64 69 63 65'
    """
    return _LENGTH.pack(len(data)) + data


def read_frame(stream: BinaryIO, most_bytes: int) -> bytes:
    """Read the next frame; raises CutOff if it is incomplete or too long.

    >>> from io import BytesIO
    >>> read_frame(BytesIO(frame(b"dice")), 10)
    b'dice'
    >>> read_frame(BytesIO(frame(b"dice")[:-1]), 10)
    Traceback (most recent call last):
    ...
    rollbook.processes.CutOff: 3 of 4 bytes
    """
    length = _length(stream.read(_LENGTH.size), most_bytes)
    data = stream.read(length)
    if len(data) < length:
        raise CutOff(f"{len(data)} of {length} bytes")
    return data


async def receive_frame(stream: asyncio.StreamReader, most_bytes: int) -> bytes:
    """Read the next frame from an asyncio stream; raises CutOff."""
    try:
        return await stream.readexactly(_length(await stream.readexactly(_LENGTH.size), most_bytes))
    except asyncio.IncompleteReadError as cut:
        raise CutOff(f"{len(cut.partial)} of {cut.expected} bytes") from None


class ParentService:
    """The service that started this program, on its standard input and output: a JSON object a frame."""

    def __init__(self, messages: asyncio.StreamReader) -> None:
        """Created by `ParentService.connect`."""
        self._messages = messages

    @classmethod
    async def connect(cls) -> Self:
        """Connect to the parent; this process ends when the parent does."""
        end_with_parent()
        messages = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(messages), sys.stdin)
        return cls(messages)

    async def receive(self) -> Any:
        """The next message; raises CutOff if the parent has closed the pipe."""
        return json.loads(await receive_frame(self._messages, MOST_MESSAGE_BYTES))

    async def until_closed(self) -> None:
        """Wait until the parent closes the pipe, ignoring messages."""
        while await self._messages.read(MOST_MESSAGE_BYTES):
            pass

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message."""
        sys.stdout.buffer.write(frame(json.dumps(message).encode()))
        sys.stdout.buffer.flush()


def _length(data: bytes, most_bytes: int) -> int:
    if len(data) < _LENGTH.size:
        raise CutOff(f"{len(data)} of {_LENGTH.size} bytes")
    (length,) = _LENGTH.unpack(data)
    if length > most_bytes:
        raise CutOff(f"a frame of {length} bytes, where {most_bytes} are the most")
    return int(length)
