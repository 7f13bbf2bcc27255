"""A master, its replicas and a Sentinel that watches over them, on loopback, and what happens to them."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rollbook.storage.embedded.server import find_server
from tests.storage.servers import Server, running, sentinel_running

PATIENCE_SECONDS: Final = 30.0
_QUICK: Final = MappingProxyType({"repl-diskless-sync-delay": "0", "repl-ping-replica-period": "1"})


def until(condition: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> Any:
    """Look again and again until something holds."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


@dataclass(eq=False)
class Watched:
    """Servers of which one is the master, and their Sentinel."""

    servers: list[Server]
    sentinel: Server

    @property
    def url(self) -> str:
        """Where it is."""
        return f"{self.sentinel.url}/main"

    @property
    def master(self) -> Server:
        """The one that the Sentinel names now."""
        with self.sentinel.client() as client:
            said: Any = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
        return next(server for server in self.servers if server.port == int(said[1]))

    def stall(self) -> Server:
        """Let the master stand still until it is let go on."""
        master = self.master
        master.process.send_signal(signal.SIGSTOP)
        return master

    def go_on(self, server: Server) -> None:
        """Let it go on."""
        server.process.send_signal(signal.SIGCONT)

    def until_replaced(self, old: Server) -> Server:
        """Wait until the Sentinel names another, and it takes writes."""
        new: Server = until(lambda: (found := self.master) is not old and found)
        with new.client() as client:
            until(lambda: client.info("replication")["role"] == "master")
        return new

    def rejoin(self, old: Server) -> None:
        """Let a server that was replaced copy the new master, as a Sentinel does after ten seconds."""
        with old.client() as client:
            client.execute_command("REPLICAOF", "127.0.0.1", self.master.port)
        self.until_followed()

    def until_followed(self) -> None:
        """Wait until every other server is a replica that has caught up, and the Sentinel would promote it."""
        master = self.master
        with master.client() as client:
            until(lambda: client.info("replication")["connected_slaves"] == len(self.servers) - 1)
            until(lambda: all(one["state"] == "online" for one in _replicas(client)))
        with self.sentinel.client() as client:
            until(lambda: self._healthy(client) == len(self.servers) - 1)

    @staticmethod
    def _healthy(client: Any) -> int:
        replicas = [
            dict(zip(one[::2], one[1::2], strict=True)) for one in client.execute_command("SENTINEL REPLICAS", "main")
        ]
        return sum(one[b"flags"] == b"slave" and one[b"master-link-status"] == b"ok" for one in replicas)


def _replicas(client: Any) -> list[Any]:
    said = client.info("replication")
    return [said[f"slave{number}"] for number in range(said["connected_slaves"])]


@contextmanager
def watched(
    directory: Path, replicas: int = 1, settings: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Watched]:
    """A master with replicas that have caught up, and a Sentinel that looks ten times a second."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(running(find_server(), directory / f"server-{number}", {**_QUICK, **settings}))
            for number in range(replicas + 1)
        ]
        for server in servers[1:]:
            with server.client() as client:
                client.execute_command("REPLICAOF", "127.0.0.1", servers[0].port)
                until(lambda client=client: client.info("replication")["master_link_status"] == "up")
        sentinel = stack.enter_context(sentinel_running(find_server(), directory, servers[0]))
        with sentinel.client() as client:
            client.execute_command("SENTINEL", "DEBUG", "INFO-PERIOD", 100, "PING-PERIOD", 100)
        found = Watched(servers, sentinel)
        found.until_followed()
        try:
            yield found
        finally:
            for server in servers:
                found.go_on(server)
