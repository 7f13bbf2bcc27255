"""Finds the server for each key: a single master, the one that Sentinels name, or the masters of a cluster.

Each server has separate connections for appends, reads and announcements, so that none of them delays another.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any, Final, Protocol

import structlog
from redis.asyncio import Connection, ConnectionPool, RedisCluster, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AskError, MovedError, RedisClusterException, RedisError

from rollbook.storage.port import NOT_OURS, StoreUnavailable
from rollbook.storage.redis.address import Address, Host, Kind
from rollbook.storage.redis.cancellation import cancellation_heeded
from rollbook.storage.redis.candidates import Candidates
from rollbook.storage.redis.confirmation import Confirmation, Confirming
from rollbook.storage.redis.connection import Wire
from rollbook.storage.redis.credibility import UNCONTESTED, Credibility
from rollbook.storage.redis.durability import NOT_KEPT, Keeping, NotDurable, check_durable
from rollbook.storage.redis.group_commit import GroupCommit
from rollbook.storage.redis.quorum import QuorumConfirmation
from rollbook.storage.redis.sentinels import Sentinels
from rollbook.storage.redis.testimony import Testimony

_ANSWER_SECONDS: Final = 5.0
"""Time limit for an answer, except to appends."""

_CONFIRMED: Final = 0.8
"""The part of the time for an append's answer that replicas may take to confirm."""

_BEAT_KEPT_SECONDS: Final = 60

_MOST_READS: Final = 32

_SCRIPT: Final = b"".join(
    files("rollbook.storage.redis").joinpath(f"{name}.lua").read_bytes() for name in ("index", "append")
)

_logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """Settings for new connections."""

    address: Address
    keeping: Keeping
    append_seconds: float
    testimony: Testimony | None = None
    """What a new master is compared with; only with durability `quorum`."""


@dataclass(frozen=True, slots=True)
class Server:
    """One server, with its connections for appends, reads and announcements."""

    appends: GroupCommit
    reads: Wire
    news: Wire
    keeping: Keeping
    confirmation: Confirming | None = None
    """Confirms that replicas have what was read before it is returned; None without replication."""

    async def beat(self, key: bytes, marker: bytes) -> tuple[Any, Any]:
        """Check the server's durability settings, write a key and read a marker; an answer may be an error reply.

        If a server's settings no longer keep what it acknowledges, closes its idle connections and raises
        StoreUnavailable, so that no append goes there.
        """
        needed = self.keeping.needed
        questions = [("CONFIG", "GET", setting) for setting in needed]
        commands = [*questions, ("SET", key, 1, "EX", _BEAT_KEPT_SECONDS), ("GET", marker)]
        *found, written, marked = await self.appends.wire.converse(commands)
        for (setting, value), answer in zip(needed.items(), found, strict=True):
            if isinstance(answer, Exception):
                return answer, None
            try:
                check_durable(setting, value, answer)
            except NotDurable as refusal:
                await self.appends.wire.hang_up()
                raise StoreUnavailable(str(refusal), NOT_KEPT) from refusal
        return written, marked

    async def abandon(self) -> None:
        """Close all connections, also those in use: another server has replaced this one."""
        for wire in (self.appends.wire, self.reads, self.news):
            await wire.abandon()
        if self.confirmation is not None:
            await self.confirmation.close()

    async def close(self) -> None:
        """Close all connections after the appends under way have finished."""
        await self.appends.close()
        await self.reads.close()
        await self.news.close()
        if self.confirmation is not None:
            await self.confirmation.close()


class Servers(Protocol):
    """The servers of a store."""

    async def begin(self) -> None:
        """Find out which servers there are."""

    async def of(self, key: bytes) -> Server:
        """The server that has the key."""

    async def redirect(self, redirection: AskError) -> Server:
        """The server that a redirection names; a permanent redirection (MOVED) is remembered."""

    def doubt(self) -> None:
        """Look up the servers again before the next command, because one of them did not answer."""

    async def every(self) -> list[Server]:
        """All masters."""

    def copy_at(self, host: Host) -> Server:
        """The replica at this host; the caller closes it."""

    async def close(self) -> None:
        """Close all connections."""


def servers(settings: ConnectionSettings) -> Servers:
    """Create the servers for a store's address."""
    match settings.address.kind:
        case Kind.SERVER:
            return _OneMaster(settings)
        case Kind.SENTINEL:
            return _NamedMaster(settings)
        case Kind.CLUSTER:
            return _Cluster(settings)


def _common(settings: ConnectionSettings) -> dict[str, Any]:
    """Options of all connections: protocol 2, which all servers implement alike, and no retries."""
    return {
        **settings.address.options,
        "protocol": 2,
        "decode_responses": False,
        "retry": Retry(NoBackoff(), 0),
        "driver_info": None,
        "socket_connect_timeout": settings.append_seconds,
    }


def _server(settings: ConnectionSettings, pool: Any, credibility: Credibility, **where: Any) -> Server:
    common = _common(settings) | where
    greeting = {"redis_connect_func": settings.keeping.prove} if settings.keeping.needed else {}
    confirmation = _confirmation(settings)
    appends = pool(max_connections=2, socket_timeout=settings.append_seconds, **greeting, **common)
    reads = pool(max_connections=_MOST_READS, socket_timeout=_ANSWER_SECONDS, **common)
    news = pool(max_connections=2, socket_timeout=_ANSWER_SECONDS, **common)
    commit = GroupCommit(Wire(appends, 1, credibility, confirmation), _SCRIPT)
    reading, listening = Wire(reads, _MOST_READS, credibility), Wire(news, 1, credibility)
    return Server(commit, reading, listening, settings.keeping, confirmation)


def _confirmation(settings: ConnectionSettings) -> Confirming | None:
    """The confirmation by replicas that precedes every acknowledgement; None without replication."""
    keeping = settings.keeping
    if not keeping.is_replicated:
        return None
    command = "WAITAOF" if keeping.durability == "replicated" else "WAIT"
    candidates = Candidates(settings.address.kind, lambda host: _of_one_host(settings, host).reads)
    seconds = settings.append_seconds * _CONFIRMED
    if settings.testimony is not None:
        return QuorumConfirmation(keeping.replicas, seconds, candidates, settings.testimony)
    return Confirmation(command, keeping.replicas, seconds, candidates)


def _of_one_host(settings: ConnectionSettings, host: Host, credibility: Credibility = UNCONTESTED) -> Server:
    kind = SSLConnection if settings.address.tls else Connection
    where = {"connection_class": kind, "host": host[0], "port": host[1], "socket_keepalive": True}
    return _server(settings, ConnectionPool, credibility, **where)


class _OneMaster:
    """A single server, without failover."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._settings = settings
        if settings.address.hosts:
            self._server = _of_one_host(settings, settings.address.hosts[0])
        else:
            self._server = _server(settings, ConnectionPool, UNCONTESTED, connection_class=UnixDomainSocketConnection)

    async def begin(self) -> None:
        """Does nothing: the server is known."""

    async def of(self, _key: bytes) -> Server:
        return self._server

    async def redirect(self, redirection: AskError) -> Server:
        raise _of_a_cluster(redirection) from redirection

    def doubt(self) -> None:
        """Does nothing: there is no other server."""

    async def every(self) -> list[Server]:
        return [self._server]

    def copy_at(self, host: Host) -> Server:
        return _of_one_host(self._settings, host)

    async def close(self) -> None:
        await self._server.close()


class _NamedMaster:
    """The server that Sentinels name; abandoned as soon as they name another."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._settings = settings
        self._sentinels = Sentinels(settings.address, self._abandon)
        self._servers: dict[Host, Server] = {}
        self._examining = asyncio.Lock()

    async def begin(self) -> None:
        """Ask for the master, and follow changes from now on."""
        await self._sentinels.look()
        self._sentinels.begin()

    async def of(self, _key: bytes) -> Server:
        host = await self._sentinels.master()
        server = self._servers.get(host)
        if server is None:
            if self._settings.testimony is not None:
                return await self._examine(host, self._settings.testimony)
            server = self._servers[host] = self._connection_to(host)
        return server

    def _connection_to(self, host: Host) -> Server:
        return _of_one_host(self._settings, host, Credibility(partial(self._sentinels.names, host)))

    async def _examine(self, host: Host, testimony: Testimony) -> Server:
        """The server, once it has been compared with the testimony; raises StoreUnavailable."""
        async with self._examining:
            if (known := self._servers.get(host)) is not None:
                return known
            server = self._connection_to(host)
            try:
                await testimony.examine(server.reads, server.appends.wire)
            except BaseException:
                await server.abandon()
                raise
            if await self._sentinels.master() != host:
                await server.abandon()
                raise StoreUnavailable("the Sentinels name another master again")
            self._servers[host] = server
            return server

    async def redirect(self, redirection: AskError) -> Server:
        raise _of_a_cluster(redirection) from redirection

    def doubt(self) -> None:
        self._sentinels.doubt()

    async def every(self) -> list[Server]:
        return [await self.of(b"")]

    def copy_at(self, host: Host) -> Server:
        return _of_one_host(self._settings, host)

    async def close(self) -> None:
        await self._sentinels.close()
        for server in self._servers.values():
            await server.close()

    async def _abandon(self, host: Host | None) -> None:
        if host is not None and (server := self._servers.pop(host, None)) is not None:
            _logger.warning("the Sentinels name another master", before=f"{host[0]}:{host[1]}")
            await server.abandon()


def _of_a_cluster(redirection: AskError) -> StoreUnavailable:
    return StoreUnavailable(
        f"The store is a server of a cluster and sends on to {redirection.host}:{redirection.port}:"
        " use redis+cluster:// in its URL",
        NOT_OURS,
    )


class _Cluster:
    """The masters of a cluster; redis-py keeps only the map of slots, commands are sent by `Server`."""

    def __init__(self, settings: ConnectionSettings) -> None:
        common = _common(settings)
        common.pop("driver_info")
        self._settings = settings
        self._servers: dict[Host, Server] = {}
        self._doubtful = False
        self._looking = asyncio.Lock()
        self._map: Any = RedisCluster(
            startup_nodes=[ClusterNode(host, port) for host, port in settings.address.hosts],
            ssl=settings.address.tls,
            socket_timeout=_ANSWER_SECONDS,
            **common,
        )

    async def begin(self) -> None:
        """Load the map of slots from one of the servers."""
        try:
            with cancellation_heeded():
                await self._map.initialize()
        except (RedisClusterException, RedisError, OSError) as failure:
            raise StoreUnavailable(f"The cluster cannot be reached: {failure}") from failure

    async def of(self, key: bytes) -> Server:
        await self._look_again()
        try:
            node = self._map.get_node_from_key(key)
        except RedisClusterException as failure:
            self.doubt()
            raise StoreUnavailable(f"No server of the cluster has the slot: {failure}") from failure
        return self._at((node.host, node.port))

    async def redirect(self, redirection: AskError) -> Server:
        if isinstance(redirection, MovedError):
            await self._map.nodes_manager.move_slot(redirection)
        return self._at((redirection.host, redirection.port))

    def doubt(self) -> None:
        self._doubtful = True

    async def every(self) -> list[Server]:
        return [self._at((node.host, node.port)) for node in self._map.get_primaries()]

    def copy_at(self, host: Host) -> Server:
        return _of_one_host(self._settings, host)

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()
        await self._map.aclose()

    async def _look_again(self) -> None:
        async with self._looking:
            if not self._doubtful:
                return
            try:
                with cancellation_heeded():
                    await self._map.nodes_manager.initialize()
            except (RedisClusterException, RedisError, OSError) as failure:
                raise StoreUnavailable(f"The cluster cannot be reached: {failure}") from failure
            self._doubtful = False

    def _at(self, host: Host) -> Server:
        server = self._servers.get(host)
        if server is None:
            server = self._servers[host] = _of_one_host(self._settings, host)
        return server
