"""The validated settings of a service.

`Settings.read` is the only way from an operator's input to settings. A refusal names the flag, or the key of a limit,
and what to write instead.
"""

from __future__ import annotations

import ipaddress
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias
from urllib.parse import quote
from zlib import crc32

from rollbook import DEFAULT_ADDRESS, DEFAULT_WEB
from rollbook.replay_file.key_lines import check_name
from rollbook.server.addresses import Network, read_network
from rollbook.server.configuration.flags import FLAGS, Flags
from rollbook.server.configuration.limit_table import LIMITS, Limits
from rollbook.server.configuration.table import AUTO, WITHHELD, Setting
from rollbook.storage.redis.address import Kind, parse
from rollbook.storage.redis.durability import Durability

LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]

HIGHEST_PORT: Final = 65_535
LONGEST_RESERVED: Final = 65_536
"""Bytes in a file of reserved names."""

OFF: Final = "off"
"""Given in place of an address to switch something off."""

_BUCKET: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9!_.*'()/-]*)?")


class SettingRefused(Exception):
    """An invalid setting."""

    def __init__(self, flag: str, why: str) -> None:
        """Keep the name of the flag."""
        super().__init__(flag, why)
        self.flag = flag
        self.why = why

    def __str__(self) -> str:
        """The flag and the cause."""
        return f"{self.flag}: {self.why}"


@dataclass(frozen=True, slots=True)
class Listen:
    """An address to listen on; with port 0 the system chooses the port."""

    host: str
    port: int

    def __str__(self) -> str:
        """The address in gRPC's notation."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address; `localhost` is the only name that counts as local."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @classmethod
    def read(cls, text: str, flag: str = "--listen") -> Self:
        """Parse host:port, the value of this flag; raises SettingRefused.

        >>> str(Listen.read("[::1]:50051"))
        '[::1]:50051'
        """
        host, colon, port = text.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        host = host[1:-1] if bracketed else host
        sound = host and all(character.isalnum() or character in "-._:%" for character in host)
        if not colon or not sound or (":" in host) != bracketed or not (port.isascii() and port.isdecimal()):
            raise SettingRefused(
                flag,
                f"{text!r} is not host:port, such as {DEFAULT_ADDRESS} or [::1]:50051",
            )
        if len(port) > len(str(HIGHEST_PORT)) or int(port) > HIGHEST_PORT:
            raise SettingRefused(flag, f"a port is 0 (any that is free) to {HIGHEST_PORT}")
        return cls(host, int(port))


@dataclass(frozen=True, slots=True)
class Tls:
    """The files of the service's certificate and key."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a service."""

    data: Path
    listen: Listen
    workers: int = 1
    """The number of worker processes."""
    worker: int = 0
    """The number of this worker, from 1; 0: the service is one process, or this is the supervisor."""
    redis: str | None = field(default=None, repr=False)
    """The URL of an external store, which may contain a password; None: the service's own store."""
    durability: Durability = "fsync"
    replicas: int = 1
    """How many replicas may be promoted; with replicated durability all must have each write, with `quorum` half."""
    store_wait_seconds: int = 60
    """How many seconds a start waits for a store that is not ready."""
    tls: Tls | None = None
    pid_file: Path | None = None
    """The file for the process id of the service; None: none."""
    name: str = ""
    """The name of the service's keys for judges; empty: the name in the data directory, else its oldest head key."""
    head_key: Path | None = None
    """A key file for signing heads; None: `head.key` in the data directory."""
    guests: bool = True
    log_level: LogLevel = "info"
    log_calls: float = 1.0
    """The share of calls that are logged."""
    archive: str | None = None
    """The folder or s3:// URL of the archive; None: `archive` in the data directory."""
    archive_after_seconds: int = 60
    """How many seconds after its end a match is archived."""
    metrics: Listen | None = None
    """The address of /metrics; None: off."""
    web: Listen | None = None
    """The address of the page; None: off."""
    web_is_needed: bool = False
    """Whether the service must not start without the page, because an operator has set its address."""
    web_host: tuple[str, ...] = ()
    """Names under which browsers may reach the page, in addition to addresses and loopback names."""
    web_https: bool = False
    """Whether browsers reach the page by https only."""
    trust_issuer: tuple[Path, ...] = ()
    """Files that describe other issuers whose tokens are accepted."""
    reserved_names: tuple[str, ...] = ()
    """Names that no player may choose, in addition to those that are always reserved."""
    trust_proxy: tuple[Network, ...] = ()
    """Networks of proxies whose x-forwarded-for is trusted."""
    limits: Limits = field(default_factory=Limits)
    demo_seconds: float | None = None
    """The pause of the demo's bots before every choice; None: no demo."""

    @property
    def archive_place(self) -> str:
        """The folder or URL of the archive."""
        return self.archive or str(self.data / "archive")

    def archives(self, match_id: str) -> bool:
        """Whether this process archives the match; each worker has an equal share."""
        return not self.worker or crc32(match_id.encode()) % self.workers == self.worker - 1

    @classmethod
    def read(cls, *, limits: Limits | None = None, **given: Any) -> Self:
        """The settings for `Flags(**given)` and limits; raises SettingRefused for the first invalid one."""
        flags, limits = Flags(**given), limits or Limits()
        _check(flags, FLAGS)
        _check(limits, LIMITS)
        address = Listen.read(flags.listen)
        tls = _tls(flags.tls_cert, flags.tls_key)
        if tls is None and not address.is_loopback and not flags.insecure:
            raise SettingRefused(
                "--listen",
                f"{address.host} can be reached from other machines, and tokens would travel in the clear: give"
                " --tls-cert and --tls-key, or say --insecure if something in front of the service does TLS",
            )
        redis = _with_certificates(flags)
        if redis is not None:
            _check_store(redis)
        elif flags.durability not in {"fsync", "relaxed"}:
            raise SettingRefused(
                "--durability",
                f"{flags.durability} needs a store with replicas: give its URL by --redis; the service's own has none",
            )
        if flags.durability == "quorum" and redis is not None:
            _check_quorum(redis, flags.replicas)
        return cls(
            data=flags.data.expanduser().absolute(),
            listen=address,
            workers=cores() if flags.workers == AUTO else flags.workers,
            redis=redis,
            durability=flags.durability,
            replicas=flags.replicas,
            store_wait_seconds=flags.store_wait,
            tls=tls,
            pid_file=flags.pid_file and flags.pid_file.expanduser().absolute(),
            name="" if flags.name is None else _name(flags.name),
            head_key=flags.head_key and flags.head_key.expanduser(),
            guests=flags.guests,
            log_level=flags.log_level,
            log_calls=float(not flags.demo) if flags.log_calls is None else flags.log_calls,
            archive=None if flags.archive is None else _archive(flags.archive),
            archive_after_seconds=flags.archive_after,
            metrics=None if flags.metrics is None else _metrics(flags.metrics, insecure=flags.insecure),
            web=_web(flags.web, insecure=flags.insecure),
            web_is_needed=flags.web is not None and flags.web != OFF,
            web_host=tuple(map(_web_host, flags.web_host)),
            web_https=flags.web_https,
            trust_issuer=tuple(path.expanduser() for path in flags.trust_issuer),
            reserved_names=() if flags.reserved_names is None else _reserved(flags.reserved_names.expanduser()),
            trust_proxy=tuple(_network(text) for text in flags.trust_proxy),
            limits=limits,
            demo_seconds=flags.demo_seconds if flags.demo else None,
        )


def cores() -> int:
    """The number of cores that this process may use; 1 outside Linux, where several workers are impossible."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def _check(given: object, table: Sequence[Setting]) -> None:
    for setting in table:
        value = getattr(given, setting.name)
        if value is not None:
            try:
                setting.check(value)
            except ValueError as wrong:
                raise SettingRefused(setting.flag, str(wrong)) from None


def _name(name: str) -> str:
    try:
        check_name(name)
    except ValueError as wrong:
        raise SettingRefused("--name", str(wrong)) from None
    return name


def _reserved(path: Path) -> tuple[str, ...]:
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST_RESERVED + 1)
        lines = [line.strip() for line in data.decode("utf-8-sig").splitlines()]
    except OSError as failure:
        raise SettingRefused("--reserved-names", f"{path}: {failure.strerror}") from failure
    except UnicodeDecodeError:
        raise SettingRefused("--reserved-names", f"{path} is not a text in UTF-8") from None
    if len(data) > LONGEST_RESERVED:
        raise SettingRefused("--reserved-names", f"{path} has more than {LONGEST_RESERVED:,} bytes")
    return tuple(line for line in lines if line and not line.startswith("#"))


def _tls(certificate: Path | None, key: Path | None) -> Tls | None:
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        missing, given = ("--tls-cert", "--tls-key") if certificate is None else ("--tls-key", "--tls-cert")
        raise SettingRefused(missing, f"needed as well, because {given} is given")
    return Tls(certificate.expanduser(), key.expanduser())


def _metrics(text: str, *, insecure: bool) -> Listen:
    address = Listen.read(text, "--metrics")
    if not address.is_loopback and not insecure:
        raise SettingRefused(
            "--metrics",
            f"{address.host} can be reached from other machines, and anyone there could read along: listen on"
            " 127.0.0.1, or say --insecure if something in front of the service keeps others away",
        )
    return address


def _web(text: str | None, *, insecure: bool) -> Listen | None:
    if text == OFF:
        return None
    address = Listen.read(text or DEFAULT_WEB, "--web")
    if not address.is_loopback and not insecure:
        raise SettingRefused(
            "--web",
            f"{address.host} can be reached from other machines, and cookies would travel in the clear: listen on"
            " 127.0.0.1 behind something that does TLS, or say --insecure",
        )
    return address


def _web_host(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?", text.lower()):
        raise SettingRefused("--web-host", f"a name such as games.example or games.example:8443, not {text!r}")
    return text.lower()


def _archive(text: str) -> str:
    """An absolute folder, or the unchanged URL."""
    if _BUCKET.fullmatch(text):
        return text
    if "://" in text or not text:
        raise SettingRefused(
            "--archive",
            f"a folder, or s3://bucket/prefix with credentials and endpoint in the environment, not {text!r}",
        )
    try:
        return str(Path(text).expanduser().absolute())
    except RuntimeError:
        raise SettingRefused("--archive", f"{text!r} is in the home of nobody here") from None


def _network(text: str) -> Network:
    try:
        return read_network(text)
    except ValueError as wrong:
        raise SettingRefused("--trust-proxy", f"an address or a network such as 10.0.0.0/8: {wrong}") from None


def _check_quorum(url: str, replicas: int) -> None:
    if parse(url).kind is not Kind.SENTINEL:
        raise SettingRefused(
            "--durability",
            "a quorum takes Sentinels, which let only a majority promote a replica: give redis+sentinel:// by --redis",
        )
    if replicas % 2:
        raise SettingRefused(
            "--replicas",
            f"a quorum takes an odd number of servers, so an even number of replicas, such as 2 or 4, not {replicas}",
        )


def _with_certificates(flags: Flags) -> str | None:
    """The URL of the store with the files of its TLS connections; raises SettingRefused if they do not go together."""
    files = {"ssl_ca_certs": flags.redis_ca, "ssl_certfile": flags.redis_cert, "ssl_keyfile": flags.redis_key}
    given = {option: path.expanduser().absolute() for option, path in files.items() if path is not None}
    if not given:
        return flags.redis
    if flags.redis is None or not flags.redis.startswith("rediss"):
        raise SettingRefused("--redis", "--redis-ca, --redis-cert and --redis-key need a URL that begins with rediss")
    if (flags.redis_cert is None) is not (flags.redis_key is None):
        raise SettingRefused("--redis-cert", "--redis-cert and --redis-key are given together")
    for option in given:
        if f"{option}=" in flags.redis:
            raise SettingRefused("--redis", f"{option} is in the URL, and is given by a flag as well")
    query = "&".join(f"{option}={quote(str(path), safe='/')}" for option, path in given.items())
    return f"{flags.redis}{'&' if '?' in flags.redis else '?'}{query}"


def _check_store(url: str) -> None:
    if f"{WITHHELD}@" in url or f"={WITHHELD}" in url:
        raise SettingRefused(
            "--redis",
            f"{WITHHELD} stands for credentials that --show-config left out: write them in its place, or give the URL"
            " by ROLLBOOK_REDIS",
        )
    try:
        parse(url)
    except ValueError as wrong:
        # The parser's message may quote a part of the password if the URL is malformed.
        why = "this is no URL of a store; percent-encode in a password all but letters, digits and -._~"
        raise SettingRefused("--redis", why if "@" in url else str(wrong)) from None
