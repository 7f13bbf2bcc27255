"""A master, its replicas and Sentinels on loopback, and functions that force failovers."""

from __future__ import annotations

import shutil
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

PATIENCE_SECONDS: Final = 90.0
"""A Sentinel retries a failed failover after ten seconds, or after thirty if the clock jumped."""
_QUICK: Final = MappingProxyType({"repl-diskless-sync-delay": "0", "repl-ping-slave-period": "1"})
_QUICK_SENTINEL: Final = ("INFO-PERIOD", 200, "PING-PERIOD", 400, "PUBLISH-PERIOD", 200, "ASK-PERIOD", 200)
_PAUSE_MS: Final = 400
"""Milliseconds for which a master pauses writes before it is stopped; shorter than any failover."""


def until(condition: Callable[[], Any], seconds: float = PATIENCE_SECONDS) -> Any:
    """Poll until the condition is true, and return its value."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


@dataclass(eq=False)
class Copied:
    """Servers of which the first is the master, with the others as its replicas."""

    servers: list[Server]

    @property
    def url(self) -> str:
        """The URL of the master."""
        return self.servers[0].url

    @property
    def master(self) -> Server:
        """The master."""
        return self.servers[0]

    def until_followed(self, replicas: int | None = None) -> None:
        """Wait until this many replicas have caught up; by default all other servers."""
        wanted = len(self.servers) - 1 if replicas is None else replicas
        with self.master.client() as client:
            until(lambda: [one["state"] for one in _replicas(client)] == ["online"] * wanted)

    def fail_over_to(self, replica: Server) -> None:
        """Kill the master and a replica, and start the replica's files at the master's address.

        The replica loses data that it has received and not read, as in a power cut.
        """
        self.master.kill()
        replica.kill()
        shutil.rmtree(self.master.directory / "appendonlydir")
        shutil.copytree(replica.directory / "appendonlydir", self.master.directory / "appendonlydir")
        self.master.start_again()


@dataclass(eq=False)
class Watched(Copied):
    """A master with replicas, and their Sentinels."""

    sentinels: list[Server]

    @property
    def url(self) -> str:
        """The URL with all Sentinels."""
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://{hosts}/main"

    @property
    def master(self) -> Server:
        """The master according to the Sentinels; in a failover one of them is ahead of the others."""
        _, port = max(map(_named, self.sentinels))
        return next(server for server in self.servers if server.port == port)

    def stall(self) -> Server:
        """Stop the master when its replicas have everything that it acknowledged.

        A master stopped between its answer to a client and its message to a replica may lose an acknowledged write,
        except with durability `replicated`.
        """
        master = self.master
        with ExitStack() as stack:
            clients: list[Any] = [stack.enter_context(server.client()) for server in self.servers]
            while True:
                began = time.monotonic()
                clients[self.servers.index(master)].execute_command("CLIENT", "PAUSE", _PAUSE_MS, "WRITE")
                until(lambda: len({client.info("replication")["master_repl_offset"] for client in clients}) == 1)
                master.process.send_signal(signal.SIGSTOP)
                if time.monotonic() - began < _PAUSE_MS / 1_000:
                    return master
                self.go_on(master)

    def go_on(self, server: Server) -> None:
        """Let a stopped server continue."""
        server.process.send_signal(signal.SIGCONT)

    def until_replaced(self, old: Server) -> Server:
        """Wait until a Sentinel names another master that accepts writes."""
        new: Server = until(lambda: (found := self.master) is not old and found)
        with new.client() as client:
            until(lambda: client.info("replication")["role"] == "master")
        return new

    def promote_behind(self, lagging: Server, following: Server) -> None:
        """Kill the master, and let the Sentinels promote the replica that lacks events; the other one follows it."""
        old = self.master
        with following.client() as client:
            client.config_set("replica-priority", "0")
        for sentinel in self.sentinels:
            with sentinel.client() as client:
                until(lambda client=client: _priority(client, following.port) == 0)  # type: ignore[misc]
        old.kill()
        # What it has received and not read is lost, as in a power cut.
        lagging.kill()
        lagging.start_again()
        with lagging.client() as client:
            client.execute_command("REPLICAOF", "127.0.0.1", old.port)
        self.until_replaced(old)
        with following.client() as client:
            client.config_set("replica-priority", "100")

    def rejoin(self, old: Server) -> None:
        """Make a replaced server a replica of the new master, as a Sentinel does after ten seconds."""
        with old.client() as client:
            client.execute_command("REPLICAOF", "127.0.0.1", self.master.port)
        self.until_followed()

    def until_followed(self, replicas: int | None = None) -> None:
        """Wait until every other server is a replica that has caught up, and that every Sentinel would promote."""
        super().until_followed(replicas)
        for sentinel in self.sentinels:
            with sentinel.client() as client:
                until(lambda client=client: self._is_whole(client))  # type: ignore[misc]

    def _is_whole(self, client: Any) -> bool:
        """Whether a Sentinel sees the master, all other Sentinels, and healthy replicas."""
        (master,) = _facts([client.execute_command("SENTINEL", "MASTER", "main")])
        replicas = _facts(client.execute_command("SENTINEL", "REPLICAS", "main"))
        well = [one for one in replicas if one[b"flags"] == b"slave" and one[b"master-link-status"] == b"ok"]
        return (int(master[b"port"]), int(master[b"num-other-sentinels"]), len(well)) == (
            self.master.port,
            len(self.sentinels) - 1,
            len(self.servers) - 1,
        )


def _named(sentinel: Server) -> tuple[int, int]:
    """The epoch since which a Sentinel names its master, and the master's port."""
    with sentinel.client() as client:
        (master,) = _facts([client.execute_command("SENTINEL", "MASTER", "main")])
        said: Any = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
    return int(master[b"config-epoch"]), int(said[1])


def _priority(sentinel: Any, port: int) -> int:
    replicas = _facts(sentinel.execute_command("SENTINEL", "REPLICAS", "main"))
    return next(int(one[b"slave-priority"]) for one in replicas if int(one[b"port"]) == port)


def _facts(said: Any) -> list[dict[bytes, bytes]]:
    return [dict(zip(one[::2], one[1::2], strict=True)) for one in said]


def _replicas(client: Any) -> list[Any]:
    return _replicas_of(client.info("replication"))


def _replicas_of(said: Any) -> list[Any]:
    return [said[f"slave{number}"] for number in range(said["connected_slaves"])]


@contextmanager
def copied(
    directory: Path,
    replicas: int = 1,
    settings: Mapping[str, str] = MappingProxyType({}),
    binary: Path | None = None,
) -> Iterator[Copied]:
    """A master with replicas that have caught up."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                running(binary or find_server(), directory / f"server-{number}", {**_QUICK, **settings})
            )
            for number in range(replicas + 1)
        ]
        for server in servers[1:]:
            with server.client() as client:
                client.execute_command("REPLICAOF", "127.0.0.1", servers[0].port)
        found = Copied(servers)
        found.until_followed()
        for server in servers[1:]:
            with server.client() as client:
                until(lambda client=client: _is_on_disk(client))  # type: ignore[misc]
        try:
            yield found
        finally:
            for server in servers:
                server.process.send_signal(signal.SIGCONT)


@contextmanager
def joined(
    store: Copied, directory: Path, settings: Mapping[str, str] = MappingProxyType({}), binary: Path | None = None
) -> Iterator[Server]:
    """Add a replica to the master, and wait until it has caught up."""
    with running(binary or find_server(), directory, {**_QUICK, **settings}) as server, server.client() as client:
        client.execute_command("REPLICAOF", "127.0.0.1", store.master.port)
        with store.master.client() as master:
            until(lambda: {server.port: "online"}.items() <= _states(master).items())
        until(lambda: _is_on_disk(client))
        try:
            yield server
        finally:
            server.process.send_signal(signal.SIGCONT)


def _is_on_disk(client: Any) -> bool:
    """Whether a replica has loaded its copy and written it to its own file."""
    said = client.info()
    busy = said["loading"], said["aof_rewrite_in_progress"], said["aof_rewrite_scheduled"]
    return said["master_link_status"] == "up" and not any(busy)


def _states(client: Any) -> dict[int, str]:
    return {one["port"]: one["state"] for one in _replicas(client)}


@contextmanager
def watched(
    directory: Path, replicas: int = 1, settings: Mapping[str, str] = MappingProxyType({}), sentinels: int = 1
) -> Iterator[Watched]:
    """A master with replicas and fast Sentinels, of which a majority has to agree."""
    with copied(directory, replicas, settings) as store, ExitStack() as stack:
        found = Watched(
            store.servers,
            [
                stack.enter_context(
                    sentinel_running(
                        find_server(), directory / f"sentinel-{number}", store.servers[0], sentinels // 2 + 1
                    )
                )
                for number in range(sentinels)
            ],
        )
        for sentinel in found.sentinels:
            with sentinel.client() as client:
                client.execute_command("SENTINEL", "DEBUG", *_QUICK_SENTINEL)
        found.until_followed()
        yield found


_WORD: Final = "nobody-knows"


def cut_off(server: Server) -> None:
    """Close connections of replicas and Sentinels and refuse new ones; connected clients stay."""
    with server.client() as client:
        own = client.client_id()
        client.config_set("requirepass", _WORD)
        for one in client.client_list():
            if int(one["id"]) != own and (one["flags"].startswith("S") or "sentinel" in one["name"]):
                client.client_kill_filter(_id=one["id"])


def let_in(server: Server) -> None:
    """Accept connections again."""
    with server.client(_WORD) as client:
        client.config_set("requirepass", "")


@dataclass(eq=False)
class Clustered:
    """A cluster of three masters with a replica each."""

    servers: list[Server]

    @property
    def url(self) -> str:
        """The URL with all servers."""
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in self.servers)
        return f"redis+cluster://{hosts}"

    def nodes(self, asked: Server) -> dict[int, Any]:
        """The cluster nodes by port, as this server sees them."""
        with asked.client() as client:
            nodes: Any = client.execute_command("CLUSTER NODES")
        return {int(where.partition("@")[0].rpartition(":")[2]): node for where, node in nodes.items()}

    def masters(self, asked: Server) -> list[Server]:
        """The live servers with slots, as this server sees them."""
        nodes = self.nodes(asked)
        return [
            server
            for server in self.servers
            if (node := nodes[server.port])["slots"] and not {"fail", "fail?"} & set(node["flags"].split(","))
        ]

    def until_replaced(self, old: Server) -> None:
        """Wait until all others see another master for the slots of this server."""
        others = [server for server in self.servers if server is not old]
        until(lambda: all(old not in self.masters(one) and len(self.masters(one)) == 3 for one in others))

    def rejoin(self, _old: Server) -> None:
        """Wait until every master has a replica again, which a cluster arranges by itself."""
        until(lambda: all(self._is_whole(server) for server in self.servers))

    def is_complete(self, asked: Server) -> bool:
        """Whether this server knows a working master for every slot."""
        with asked.client() as client:
            return bool(client.execute_command("CLUSTER INFO")["cluster_state"] == "ok")

    def _is_whole(self, asked: Server) -> bool:
        with asked.client() as client:
            said = client.info("replication")
            state = client.execute_command("CLUSTER INFO")["cluster_state"]
        is_followed = said["role"] != "master" or [one["state"] for one in _replicas_of(said)] == ["online"]
        return state == "ok" and is_followed and said.get("master_link_status", "up") == "up"


@contextmanager
def clustered(
    directory: Path, settings: Mapping[str, str] = MappingProxyType({}), replicas: int = 3
) -> Iterator[Clustered]:
    """Start such a cluster, with a node time-out of one second; with 0 replicas only the masters."""
    parts = [range(5_461), range(5_461, 10_922), range(10_922, 16_384)]
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                running(find_server(), directory / f"server-{number}", {**_QUICK, **settings}, slots=slots)
            )
            for number, slots in enumerate([*parts, *[range(1)] * replicas])
        ]
        clients: list[Any] = [stack.enter_context(server.client()) for server in servers]
        for client in clients[3:]:
            client.execute_command("CLUSTER", "DELSLOTS", 0)
        for number, client in enumerate(clients):
            client.config_set("cluster-node-timeout", 1_000)
            client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", servers[number].port)
        found = Clustered(servers)
        until(lambda: all(len(found.nodes(server)) == len(servers) for server in servers))
        for number, client in enumerate(clients[3:]):
            client.execute_command("CLUSTER", "REPLICATE", clients[number].execute_command("CLUSTER", "MYID"))
        if replicas:
            found.rejoin(servers[0])
        else:
            until(lambda: all(found.is_complete(server) for server in servers))
        try:
            yield found
        finally:
            for server in servers:
                server.process.send_signal(signal.SIGCONT)
