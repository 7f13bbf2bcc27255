"""The data directory of an embedded server, and the locks that control its use.

    format          the version of this layout, one line
    service.lock    held by the service that uses the directory; contains its process id
    server.lock     held by the server, which may outlive its service for a moment; contains its process id
    server.log      the server's output
    store/          the server's own files

An open file holds a lock, so that the lock is free as soon as its holder ends, even by a crash.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
from pathlib import Path
from typing import Final, Self

from rollbook.files import write_file
from rollbook.storage.data_format import FORMAT, refusal

_ASKED_SECONDS: Final = 15.0
_KILLED_SECONDS: Final = 15.0
_POLL_SECONDS: Final = 0.01


class DataDirectoryRefused(Exception):
    """The data directory is in use, has another format, or is not a data directory."""


class DataDirectoryInUse(DataDirectoryRefused):
    """Another service uses the data directory."""


class Lock:
    """A lock file that one process can hold."""

    def __init__(self, path: Path) -> None:
        """Open the file without taking the lock."""
        self.path = path
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self) -> bool:
        """Take the lock; returns False if another process holds it."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        os.ftruncate(self.file, 0)
        return True

    def holder(self) -> int | None:
        """The process id in the lock file; None if there is none."""
        written = os.pread(self.file, 32, 0).decode("ascii", errors="replace").strip()
        return int(written) if written.isdecimal() else None

    def close(self) -> None:
        """Close the file, which releases the lock unless a child process still has the file open."""
        if self.file >= 0:
            os.close(self.file)
            self.file = -1


class DataDirectory:
    """A data directory that this service has locked."""

    def __init__(self, path: Path, lock: Lock) -> None:
        """Created by `DataDirectory.take`."""
        self.path = path
        self._lock = lock

    @classmethod
    def take(cls, path: Path) -> Self:
        """Lock the directory for this service, creating it if necessary; raises DataDirectoryRefused."""
        path = path.absolute()
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = Lock(path / "service.lock")
        except OSError as failure:
            raise DataDirectoryRefused(f"{path} cannot be used: {failure.strerror}") from failure
        directory = cls(path, lock)
        try:
            directory._hold()
            directory._settle_format()
        except BaseException:
            lock.close()
            raise
        return directory

    @property
    def store(self) -> Path:
        """The folder of the server's own files."""
        return self.path / "store"

    @property
    def server_log(self) -> Path:
        """The server's log file."""
        return self.path / "server.log"

    async def take_server_lock(self) -> Lock:
        """Return the lock for a new server, after ending a server that an earlier service left running."""
        lock = Lock(self.path / "server.lock")
        try:
            ended = await _end_holders(lock, signal.SIGTERM, _ASKED_SECONDS)
            ended = ended or await _end_holders(lock, signal.SIGKILL, _KILLED_SECONDS)
        except BaseException:
            lock.close()
            raise
        if not ended:
            holder = lock.holder()
            lock.close()
            raise DataDirectoryRefused(
                f"{self.path} is still in use by a server (process id {holder}) that does not end: end it first."
            )
        return lock

    def release(self) -> None:
        """Release the directory for other services."""
        self._lock.close()

    def _hold(self) -> None:
        if not self._lock.take():
            holder = self._lock.holder()
            by = "another service" if holder is None else f"the service with process id {holder}"
            raise DataDirectoryInUse(f"{self.path} is in use by {by}: stop it, or take another directory.")
        os.pwrite(self._lock.file, str(os.getpid()).encode(), 0)

    def _settle_format(self) -> None:
        marker = self.path / "format"
        try:
            found = marker.read_text("utf-8").strip()
        except FileNotFoundError:
            if self.store.exists():
                raise DataDirectoryRefused(
                    f"{self.path} has a store but no format file, so its format is unknown."
                ) from None
            write_file(marker, f"{FORMAT}\n".encode())
            found = FORMAT
        except (OSError, UnicodeDecodeError) as failure:
            raise DataDirectoryRefused(f"{marker} cannot be read: {failure}") from failure
        if (why := refusal(str(self.path), found)) is not None:
            raise DataDirectoryRefused(why)
        self.store.mkdir(mode=0o700, exist_ok=True)


async def _end_holders(lock: Lock, ending: signal.Signals, seconds: float) -> bool:
    """Wait for the lock, sending each of its holders the signal once; returns whether the lock was taken in time."""
    signalled: set[int] = set()
    deadline = asyncio.get_running_loop().time() + seconds
    while not lock.take():
        for process in _holders(lock) - signalled:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, ending)
                os.kill(process, signal.SIGCONT)  # a stopped process ends only when it continues
            signalled.add(process)
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


def _holders(lock: Lock) -> set[int]:
    """The processes that have the lock's file open: the server, and a child that rewrites its files.

    Without /proc it is the process whose id is in the file.
    """
    processes = Path("/proc")
    if not (processes / "self" / "fd").exists():
        holder = lock.holder()
        return set() if holder is None else {holder}
    ours = os.fstat(lock.file)
    found = set()
    for process in processes.iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            # A process may end meanwhile, or belong to another user.
            with contextlib.suppress(OSError):
                if any(os.path.samestat(ours, file.stat()) for file in (process / "fd").iterdir()):
                    found.add(int(process.name))
    return found
