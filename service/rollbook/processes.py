"""Programs that a service starts beside itself: commands of packages that it does not import.

A service knows such a program by the name of its command alone. A package offers one with an entry point of the group
`rollbook.processes`; it is a command like any other, but no help lists it. Both sides find here what they need: the
words that start it, its end with the service, and frames, which tell bytes that were cut off from whole ones.
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
"""How often a process looks for its parent where the system does not tell."""

MOST_MESSAGE_BYTES: Final = 1 << 20
"""The longest message of a service to a program of its own."""

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
"""Environment variables that every program needs: where things are, and how to run or trace it. None is a secret."""

_PR_SET_PDEATHSIG: Final = 1
_LENGTH: Final = struct.Struct(">I")


class CutOff(EOFError):
    """A frame that is not whole, or longer than any may be."""


def command(name: str) -> Sequence[str] | None:
    """The words that start `rollbook NAME`; none if no installed package offers it."""
    if not entry_points(group=GROUP, name=name):
        return None
    return (sys.executable, "-P", "-m", "rollbook", name)


@dataclass(frozen=True, slots=True)
class Child:
    """A program under way."""

    process: Process
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader

    async def wait(self) -> int:
        """Its exit code, once it has ended; negative for a signal."""
        return await self.process.wait()


def environment(*prefixes: str) -> dict[str, str]:
    """The environment of a child process: what every program needs, and the variables that begin with a prefix.

    The store's password and the keys of a cloud, which a service is often given by variables, are left out.
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
    """Run a program with pipes to it, and kill it in the end if it has not ended by itself.

    Without `env` it gets only the variables that every program needs. It has a session of its own, so that Ctrl-C
    reaches the service alone, and of our files only those that are passed.
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
            # Its end is only noticed once all that it wrote has been read.
            await process.communicate()


def end_with_parent() -> None:
    """Have this process killed when the one that started it ends, however that ends.

    Linux ends it with the thread that started it, so a service starts it on the main one. A parent that is gone already
    has closed standard input, which is how the callers of this notice.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    else:
        threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


# Frames: a length (four bytes, big-endian), and so many bytes.


def frame(data: bytes) -> bytes:
    """The bytes with their length before them.

    >>> frame(b"dice").hex(" ")
    '00 00 00 04 64 69 63 65'
    """
    return _LENGTH.pack(len(data)) + data


def read_frame(stream: BinaryIO, most_bytes: int) -> bytes:
    """The bytes of the next frame; CutOff if they do not all come, or would be too many.

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
    """The same from a stream of asyncio."""
    try:
        return await stream.readexactly(_length(await stream.readexactly(_LENGTH.size), most_bytes))
    except asyncio.IncompleteReadError as cut:
        raise CutOff(f"{len(cut.partial)} of {cut.expected} bytes") from None


class ParentService:
    """The service that started this program, on its standard input and output: a JSON object a frame."""

    def __init__(self, messages: asyncio.StreamReader) -> None:
        """Use `ParentService.connected`."""
        self._messages = messages

    @classmethod
    async def connected(cls) -> Self:
        """Listen to it; this process ends when it does."""
        end_with_parent()
        messages = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(messages), sys.stdin)
        return cls(messages)

    async def receive(self) -> Any:
        """The next message; CutOff if there will be none."""
        return json.loads(await receive_frame(self._messages, MOST_MESSAGE_BYTES))

    async def until_closed(self) -> None:
        """Wait until it closes the pipe, and ignore what comes until then."""
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
