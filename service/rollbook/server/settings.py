"""What a service is started with, and which of it cannot be.

Values come as an operator wrote them, on the command line or in the environment; `Settings.read` is the only way from
there. Whatever it refuses it names by its flag, with a sentence that says what to write instead.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Self, TypeAlias

from platformdirs import user_data_path

from rollbook import DEFAULT_ADDRESS
from rollbook.replay_file.key_lines import check_name
from rollbook.server.addresses import Network, read_network
from rollbook.storage.redis.address import parse
from rollbook.storage.redis.connection import Durability

LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]

HIGHEST_PORT: Final = 65_535

_BUCKET: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9!_.*'()/-]*)?")

ARCHIVE_AFTER_SECONDS: Final = 60
"""By then whoever watched live has seen the end."""

LONGEST_ARCHIVE_AFTER_SECONDS: Final = 7 * 24 * 3_600

DEMO_SECONDS: Final = 2.0
LONGEST_DEMO_SECONDS: Final = 30.0
"""Well below the clock of the matches that the demo plays."""


class SettingRefused(Exception):
    """A setting with which no service is started."""

    def __init__(self, flag: str, why: str) -> None:
        """Keep which flag it is about."""
        super().__init__(flag, why)
        self.flag = flag
        self.why = why

    def __str__(self) -> str:
        """Name the flag and say why."""
        return f"{self.flag}: {self.why}"


@dataclass(frozen=True, slots=True)
class Listen:
    """Where the service is reached; port 0 leaves the choice of a port to the system."""

    host: str
    port: int

    def __str__(self) -> str:
        """The address as gRPC takes it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it; of names, only `localhost` is known to stay here."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @classmethod
    def read(cls, text: str, flag: str = "--listen") -> Self:
        """Read host:port, as it was given to this flag.

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
    """The files that a service proves itself with."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Limits:
    """All bounds of a service."""

    matches: int = 10_000
    """Open and running, of all."""
    matches_per_subject: int = 50
    """Open and running, opened by one."""
    seats_per_subject: int = 100
    requests_per_second: float = 200.0
    """By one subject, for long."""
    requests_at_once: int = 400
    """By one subject, after a rest."""
    plays_per_subject: int = 32
    plays: int = 10_000
    watches_per_subject: int = 64
    watches: int = 20_000
    replays_per_subject: int = 4
    """Files on their way to one."""
    replays: int = 64
    audits_per_subject: int = 1
    audits: int = 16
    """Under way or waiting."""
    audits_per_address: int = 4
    strangers_per_second: float = 100.0
    """Calls without a token that holds, and such as cannot be read, from one address, for long."""
    strangers_at_once: int = 1_000
    """The same, after a rest."""
    connections: int = 4_000
    guests_per_address_per_hour: int = 100
    guests_per_hour: int = 10_000
    guest_token_seconds: int = 7 * 24 * 3_600
    open_seconds: int = 3_600
    """Without an event, while seats are free, if whoever opens a match does not say; then it expires, with 0 never."""
    idle_seconds: int = 14 * 24 * 3_600
    """Without an event, in a running match without a turn clock, if whoever opens it does not say; 0 as above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that an operator decides about a service."""

    data: Path
    listen: Listen
    redis: str | None = field(default=None, repr=False)
    """The URL of a store that is there already, and may hold a password; none: a server of our own."""
    durability: Durability = "fsync"
    tls: Tls | None = None
    name: str = ""
    """Whose keys the service's are called for judges; empty: its oldest head key names it."""
    head_key: Path | None = None
    """A key file for signing heads that is kept elsewhere; none: `head.key` in the data directory."""
    guests: bool = True
    log_level: LogLevel = "info"
    archive: str | None = None
    """The folder or s3:// URL that finished matches go to; none: `archive` in the data directory."""
    archive_after_seconds: int = ARCHIVE_AFTER_SECONDS
    """How long after its end a match goes there."""
    metrics: Listen | None = None
    """Where Prometheus finds /metrics; none: nowhere."""
    trust_issuer: tuple[Path, ...] = ()
    """The files that describe other issuers whose tokens are taken."""
    trust_proxy: tuple[Network, ...] = ()
    """The networks of proxies that are believed when they say who called them."""
    limits: Limits = field(default_factory=Limits)
    demo_seconds: float | None = None
    """The pause before every choice of the house bots; none: there are no house bots."""

    @property
    def archive_place(self) -> str:
        """Where finished matches go."""
        return self.archive or str(self.data / "archive")

    @classmethod
    def read(  # noqa: PLR0913 - every flag is a parameter
        cls,
        *,
        data: Path | None = None,
        listen: str = DEFAULT_ADDRESS,
        redis: str | None = None,
        durability: Durability = "fsync",
        tls_cert: Path | None = None,
        tls_key: Path | None = None,
        insecure: bool = False,
        name: str | None = None,
        head_key: Path | None = None,
        guests: bool = True,
        log_level: LogLevel = "info",
        archive: str | None = None,
        archive_after: int = ARCHIVE_AFTER_SECONDS,
        metrics: str | None = None,
        trust_issuer: Sequence[Path] = (),
        trust_proxy: Sequence[str] = (),
        demo: bool = False,
        demo_seconds: float = DEMO_SECONDS,
    ) -> Self:
        """The settings, or SettingRefused with the first thing that is wrong with them."""
        address = Listen.read(listen)
        tls = _tls(tls_cert, tls_key)
        if tls is None and not address.is_loopback and not insecure:
            raise SettingRefused(
                "--listen",
                f"{address.host} can be reached from other machines, and tokens would travel in the clear: give"
                " --tls-cert and --tls-key, or say --insecure if something in front of the service does TLS",
            )
        if redis is not None:
            _check_store(redis)
        return cls(
            data=user_data_path("rollbook") if data is None else data.expanduser().absolute(),
            listen=address,
            redis=redis,
            durability=durability,
            tls=tls,
            name="" if name is None else _name(name),
            head_key=head_key and head_key.expanduser(),
            guests=guests,
            log_level=log_level,
            archive=None if archive is None else _archive(archive),
            archive_after_seconds=_archive_after(archive_after),
            metrics=None if metrics is None else _metrics(metrics, insecure=insecure),
            trust_issuer=tuple(path.expanduser() for path in trust_issuer),
            trust_proxy=tuple(_network(text) for text in trust_proxy),
            demo_seconds=_demo_seconds(demo_seconds) if demo else None,
        )


def _name(name: str) -> str:
    try:
        check_name(name)
    except ValueError as wrong:
        raise SettingRefused("--name", str(wrong)) from None
    return name


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


def _archive(text: str) -> str:
    """The place as it is opened later: an absolute folder, or the URL as it was given."""
    if _BUCKET.fullmatch(text):
        return text
    if "://" in text or not text:
        raise SettingRefused(
            "--archive",
            f"a folder, or s3://bucket/prefix with credentials and endpoint in the environment, not {text!r}",
        )
    return str(Path(text).expanduser().absolute())


def _archive_after(seconds: int) -> int:
    if not 0 <= seconds <= LONGEST_ARCHIVE_AFTER_SECONDS:
        raise SettingRefused(
            "--archive-after",
            f"0 to {LONGEST_ARCHIVE_AFTER_SECONDS}, not {seconds}",
        )
    return seconds


def _network(text: str) -> Network:
    try:
        return read_network(text)
    except ValueError as wrong:
        raise SettingRefused("--trust-proxy", f"an address or a network such as 10.0.0.0/8: {wrong}") from None


def _check_store(url: str) -> None:
    try:
        parse(url)
    except ValueError as wrong:
        # What is read out of a URL at the wrong place may be a piece of its password.
        why = "this is no URL of a store; percent-encode in a password all but letters, digits and -._~"
        raise SettingRefused("--redis", why if "@" in url else str(wrong)) from None


def _demo_seconds(seconds: float) -> float:
    if not 0 < seconds <= LONGEST_DEMO_SECONDS:
        raise SettingRefused(
            "--demo-seconds",
            f"more than 0 and at most {LONGEST_DEMO_SECONDS:g}, not {seconds:g}",
        )
    return seconds
