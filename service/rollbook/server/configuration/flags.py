"""The table of the flags of `rollbook serve`. A new line adds a flag, a variable and a key of a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from platformdirs import user_data_path

from rollbook import DEFAULT_ADDRESS, DEFAULT_WEB
from rollbook.server.configuration.table import About, NumberOrAuto, settings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The values of the command line's flags, as given."""

    data: Annotated[
        Path,
        About(
            "The directory for keys and matches, for one service at a time; created if needed. Default: rollbook in "
            "the user's data home, such as ~/.local/share/rollbook."
        ),
    ] = field(default_factory=lambda: user_data_path("rollbook"))
    listen: Annotated[str, About(f"host:port to listen on; port 0 takes a free one. Default: {DEFAULT_ADDRESS}.")] = (
        DEFAULT_ADDRESS
    )
    workers: Annotated[
        NumberOrAuto,
        About(
            "How many processes serve, all on one port and one store, to use as many cores; auto is one a core. More "
            'than one needs Linux. Limits "for each process" hold for each worker. Default: 1.',
            most=256,
        ),
    ] = 1
    redis: Annotated[
        str | None,
        About(
            "The URL of a Redis 6.2 or later, or a Valkey, to use instead of a server of its own: redis://, "
            "rediss://, unix://, redis+sentinel:// or redis+cluster://. If it contains a password, better given by "
            "its variable.",
            unset="a server of its own",
            is_secret=True,
        ),
    ] = None
    redis_ca: Annotated[
        Path | None,
        About(
            "The certificates, PEM, that vouch for the store's (and the Sentinels') in a rediss:// URL.",
            unset="those that the system trusts",
        ),
    ] = None
    redis_cert: Annotated[
        Path | None, About("The certificate, PEM, that the service shows to a store over TLS.", unset="none")
    ] = None
    redis_key: Annotated[Path | None, About("Its private key, PEM, unencrypted.", unset="none")] = None
    durability: Annotated[
        Literal["fsync", "relaxed", "replicated", "replicated-memory", "quorum"],
        About(
            "fsync: everything is on disk before it is acknowledged or sent; a store with other settings is refused. "
            "replicated: it is on the disks of all attached replicas too, so that no failover loses it; unless exactly "
            "--replicas of them may be promoted, every change is refused. replicated-memory: in their memory, for "
            "servers before Redis 7.2; a failover loses nothing unless the replica loses power too. quorum: it is on "
            "the disks of a majority of an odd number of servers with Sentinels, so that play goes on while one of "
            "three is away, or two of five. relaxed: for development; a crash of the store may lose the last second "
            "or more. Default: fsync."
        ),
    ] = "fsync"
    replicas: Annotated[
        int,
        About(
            "How many replicas of the store may be promoted. For replicated durability all of them must be attached, "
            "and the store's min-replicas-to-write must be as high. For quorum it is an even number, of which half is "
            "enough. Default: 1.",
            most=16,
        ),
    ] = 1
    store_wait: Annotated[
        int,
        About(
            "How many seconds the start waits for a store that does not answer, still loads its data, or has too few "
            "replicas; the reason is logged every second. 0: it ends at once. Default: 60.",
            least=0,
            most=3_600,
        ),
    ] = 60
    tls_cert: Annotated[
        Path | None, About("The certificate chain, PEM. A renewed file is used without a restart.", unset="no TLS")
    ] = None
    tls_key: Annotated[Path | None, About("Its private key, PEM, unencrypted.", unset="no TLS")] = None
    pid_file: Annotated[
        Path | None,
        About(
            "A file for the process id, written when the service listens and removed when it ends; of several workers "
            "it has the id of their supervisor. Default: none.",
            unset="none",
        ),
    ] = None
    insecure: Annotated[
        bool,
        About(
            "Allow an address that other machines can reach without TLS, because a proxy in front does TLS. The same "
            "for metrics and the page."
        ),
    ] = False
    name: Annotated[
        str | None,
        About(
            "The name that judges see in verdicts; `rollbook key` writes it into the key file. Kept in the data "
            "directory, the same for all replicas, and never changed. Default: the name kept there, else the id of "
            "the oldest head key.",
            unset="the name kept in the data directory, else the id of the oldest head key",
        ),
    ] = None
    head_key: Annotated[
        Path | None,
        About(
            "The key file that signs the heads of matches. Default: head.key in the data directory, created at the "
            "first start.",
            unset="head.key in the data directory",
        ),
    ] = None
    guests: Annotated[bool, About("Whether anyone may sign in as a guest. Default: yes.")] = True
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        About("The lowest level that is logged, on standard error. Default: info."),
    ] = "info"
    log_calls: Annotated[
        float | None,
        About(
            "The share of calls that are logged when they end: 0 none, 0.01 every hundredth, 1 all. Calls that failed "
            "because of the service are always logged. Default: 1; with --demo, whose bots call all the time, 0.",
            least=0,
            most=1,
            unset="1, or 0 with --demo",
        ),
    ] = None
    archive: Annotated[
        str | None,
        About(
            "Where finished matches are kept: a folder, or s3://bucket/prefix, with credentials, region and endpoint "
            "in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL). Services "
            "that share a store need an archive that all of them can reach; while one cannot, nothing is archived. "
            "Default: archive in the data directory.",
            unset="archive in the data directory",
        ),
    ] = None
    archive_after: Annotated[
        int,
        About(
            "How many seconds after its end a match is moved to the archive. Default: 60, so that live watchers see "
            "the end first.",
            least=0,
            most=7 * 24 * 3_600,
        ),
    ] = 60
    metrics: Annotated[
        str | None,
        About(
            "host:port for /metrics (Prometheus) and /healthz, over HTTP without TLS. Default: off.",
            unset="nowhere",
        ),
    ] = None
    web: Annotated[
        str | None,
        About(
            "host:port of the page, which runs in a process of its own, or off. Behind a proxy that does TLS and sends"
            " x-forwarded-proto, cookies are sent by https only. Default:"
            f" {DEFAULT_WEB}, or nowhere if that is taken.",
            unset=f"{DEFAULT_WEB} if it is free",
        ),
    ] = None
    web_host: Annotated[
        tuple[str, ...],
        About(
            "Names under which browsers may reach the page, such as games.example, with the port unless it is that of "
            "the scheme. Addresses and localhost are always allowed; requests for other names are answered with 421. "
            "Invitations lead to the first name."
        ),
    ] = ()
    web_https: Annotated[
        bool,
        About(
            "Browsers reach the page by https only: cookies are sent by https, invitations lead there, and browsers "
            "are told to use https for a year (HSTS). Default: no."
        ),
    ] = False
    trust_issuer: Annotated[
        tuple[Path, ...],
        About(
            "Files that each describe another issuer whose tokens are accepted, as a JSON object of three members: "
            "issuer, the `iss` of its tokens; roles, a list of those it may give, out of player, judge, operator and "
            "gateway; keys, a list of its Ed25519 public keys, each a JSON Web Key (kty OKP, crv Ed25519, kid, x) or "
            "a line of `rollbook key` in quotes. Such a file must be writable only by its owner. The same `sub` of "
            "two issuers is two subjects. In the variable, paths are separated as in PATH."
        ),
    ] = ()
    reserved_names: Annotated[
        Path | None,
        About(
            "A text file with names that no player may choose, nor names that look like them: one a line; lines that "
            "begin with # are comments. Names of bots and words such as operator are always reserved. Tokens of "
            "trusted issuers keep their names. Default: none.",
            unset="only those that are always reserved",
        ),
    ] = None
    trust_proxy: Annotated[
        tuple[str, ...],
        About(
            "Addresses or networks of proxies in front of the service, such as 10.0.0.0/8. Limits by address use the "
            "address in their x-forwarded-for, with or without a port; an IPv6 address counts as its /64. The page "
            "believes them as well, and those on its own machine always. In the variable, separated by spaces. "
            "Default: none."
        ),
    ] = ()
    demo: Annotated[
        bool,
        About("Keep one public match of each game going between house bots, to be watched."),
    ] = False
    demo_seconds: Annotated[
        float,
        About(
            "The pause of a house bot before every choice, in seconds. Default: 2.",
            least=0.001,
            most=30,
        ),
    ] = 2.0


FLAGS: Final = settings_of(Flags)
