"""The address of a store, given as one URL.

    redis://[user:password@]host[:port][/db]                                one server
    rediss://…                                                              the same over TLS
    unix://[user:password@]/path/of/socket[?db=0]                           one server on this machine
    redis+sentinel://[user:password@]host[:port][,host…]/service[/db]       the server that Sentinel names
    redis+cluster://[user:password@]host[:port][,host…]                     Redis Cluster; any of its servers
    rediss+sentinel://…  rediss+cluster://…                                 the same over TLS

User and password are those of the servers that hold the data; the query may contain those of the Sentinels as
`sentinel_username` and `sentinel_password`. Over TLS the query may contain `ssl_ca_certs`, `ssl_certfile`,
`ssl_keyfile`, `ssl_cert_reqs` and `ssl_check_hostname`. Every character except letters, digits and `-._~` is
percent-encoded.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit

from redis.asyncio.connection import parse_url

Host: TypeAlias = tuple[str, int]

REDIS_PORT: Final = 6379
SENTINEL_PORT: Final = 26379

_SHAPE = re.compile(r"(?P<scheme>[a-z+]+)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?", re.ASCII)
_CREDENTIALS: Final = frozenset({"username", "password"})
_TLS: Final = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname"})
_KNOWN: Final = _CREDENTIALS | _TLS | {"db", "path"}
_SHAPED: Final = frozenset({"host", "port", "connection_class"})
"""The options that redis-py derives from the URL's shape; this module parses them itself."""


class Kind(Enum):
    """The kind of store at an address."""

    SERVER = auto()
    SENTINEL = auto()
    CLUSTER = auto()


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed URL."""

    kind: Kind
    hosts: tuple[Host, ...]
    """The hosts to contact first; empty for a unix socket."""
    options: Mapping[str, Any]
    """Options of connections to servers that hold data, besides host and port."""
    tls: bool = False
    service: str = ""
    """The Sentinels' name for the master."""
    sentinel_options: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        """The address without credentials."""
        if not self.hosts:
            return f"unix://{self.options['path']}"
        scheme = ("rediss" if self.tls else "redis") + {
            Kind.SERVER: "",
            Kind.SENTINEL: "+sentinel",
            Kind.CLUSTER: "+cluster",
        }[self.kind]
        hosts = ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.hosts)
        return f"{scheme}://{hosts}" + (f"/{self.service}" if self.service else "")


def parse(url: str) -> Address:
    """Parse a URL; raises ValueError that names the error.

    >>> str(parse("redis+sentinel://:secret@one,two:26380/rollbook/3"))
    'redis+sentinel://one:26379,two:26380/rollbook'
    """
    shape = _SHAPE.fullmatch(url)
    if shape is None:
        raise ValueError("a store is given as a URL such as redis://localhost:6379")
    scheme, authority, path, query = shape["scheme"], shape["authority"], shape["path"], shape["query"] or ""
    transport, _, topology = scheme.partition("+")
    if scheme == "unix":
        return _socket(url)
    if transport not in {"redis", "rediss"} or topology not in {"", "sentinel", "cluster"}:
        raise ValueError(
            f"{scheme}:// is not known: use redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://"
        )
    credentials, _, listed = authority.rpartition("@")
    kind = {"": Kind.SERVER, "sentinel": Kind.SENTINEL, "cluster": Kind.CLUSTER}[topology]
    hosts = tuple(_host(text, SENTINEL_PORT if kind is Kind.SENTINEL else REDIS_PORT) for text in listed.split(","))
    if kind is Kind.SERVER and len(hosts) > 1:
        raise ValueError("redis:// names one host: use redis+sentinel:// or redis+cluster:// for several")
    service, database = "", path.strip("/")
    if kind is Kind.SENTINEL:
        service, _, database = database.partition("/")
        if not service:
            raise ValueError("redis+sentinel:// needs the name of the service: redis+sentinel://host/service")
    if database and not database.isdecimal():
        raise ValueError(f"a database is a number, not {database!r}")
    options = dict(parse_url(f"{transport}://{credentials}@host/{database}{query}"))
    tls = transport == "rediss"
    sentinel_options = _of_sentinels(options, tls=tls) if kind is Kind.SENTINEL else None
    options = _known_options(options)
    if kind is Kind.CLUSTER and options.pop("db", 0):
        raise ValueError("Redis Cluster has only database 0")
    return Address(kind, hosts, options, tls, unquote(service), sentinel_options)


def _of_sentinels(options: dict[str, Any], *, tls: bool) -> dict[str, Any]:
    """Remove the options of connections to the Sentinels from `options` and return them."""
    names = [name for name in ("sentinel_username", "sentinel_password") if name in options]
    of_sentinels = {name.removeprefix("sentinel_"): options.pop(name) for name in names}
    if tls:
        of_sentinels |= {"ssl": True} | {name: options[name] for name in _TLS & options.keys()}
    return of_sentinels


def _socket(url: str) -> Address:
    options = _known_options(dict(parse_url(url)))
    if not options.get("path"):
        raise ValueError("unix:// needs the path of the socket: unix:///path/of/socket")
    return Address(Kind.SERVER, (), options)


def _host(text: str, port: int) -> Host:
    try:
        parts = urlsplit(f"//{text}")
        host, given = parts.hostname, parts.port
    except ValueError:
        host, given = None, None
    if not host:
        raise ValueError(f"{text!r} is no host and port")
    return unquote(host), given or port


def _known_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The known options; raises ValueError for others, which redis-py might accept and override these settings."""
    unknown = sorted(options.keys() - _KNOWN - _SHAPED)
    if unknown:
        raise ValueError(f"the URL of a store takes no {', '.join(unknown)}")
    return {name: option for name, option in options.items() if name not in _SHAPED}
