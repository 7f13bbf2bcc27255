"""The table of the flags of `rollbook serve`. Another line is another flag, variable and key of a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from platformdirs import user_data_path

from rollbook import DEFAULT_ADDRESS, DEFAULT_WEB
from rollbook.server.configuration.table import About, NumberOrAuto, settings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What an operator can say on the command line, as it was said."""

    data: Annotated[
        Path,
        About(
            "The directory for keys and matches, for one service at a time; made if it is not there. Default: rollbook"
            " in the user's data home."
        ),
    ] = field(default_factory=lambda: user_data_path("rollbook"))
    listen: Annotated[
        str, About(f"host:port to listen on, with port 0 on any that is free. Default: {DEFAULT_ADDRESS}.")
    ] = DEFAULT_ADDRESS
    workers: Annotated[
        NumberOrAuto,
        About(
            "How many processes serve, all on one port and over one store, so that as many cores are used; auto is one"
            " for each core that may be used. Only Linux has more than one. Limits that hold for each process hold for"
            " each worker. Default: 1.",
            most=256,
        ),
    ] = 1
    redis: Annotated[
        str | None,
        About(
            "The URL of a Redis 6.2 or later, or a Valkey, to use in place of a server of its own: redis://,"
            " rediss://, unix://, redis+sentinel:// or redis+cluster://. With a password in it, better given by its"
            " variable.",
            unset="a server of its own",
            is_secret=True,
        ),
    ] = None
    durability: Annotated[
        Literal["fsync", "relaxed", "replicated", "replicated-memory"],
        About(
            "fsync: what is acknowledged is on disk, and a store that is set otherwise is refused. replicated: it is on"
            " the disks of --replicas replicas as well, and so is whatever anybody is told, so that no failover loses"
            " it; with fewer replicas nothing is taken. replicated-memory: the same with their memory, for servers"
            " before Redis 7.2; a failover loses nothing, unless the replica loses its power as well. relaxed: for"
            " development; the store may lose it. The service's own store then syncs once a second. Default: fsync."
        ),
    ] = "fsync"
    replicas: Annotated[
        int,
        About(
            "How many replicas have to have what is replicated: as many as may take a master's place. The store's"
            " min-replicas-to-write has to be as high. Default: 1.",
            most=16,
        ),
    ] = 1
    tls_cert: Annotated[Path | None, About("The certificate chain, PEM.", unset="no TLS")] = None
    tls_key: Annotated[Path | None, About("Its private key, PEM, unencrypted.", unset="no TLS")] = None
    insecure: Annotated[
        bool,
        About(
            "Listen on an address that other machines can reach without TLS, because something in front of it does"
            " TLS. The same goes for metrics and the page."
        ),
    ] = False
    name: Annotated[
        str | None,
        About(
            "Whose keys the service's are: `rollbook key --service` writes it behind them, and judges read it in"
            " verdicts. The same for all replicas, and for good. Default: the id of the oldest head key.",
            unset="the id of the oldest head key",
        ),
    ] = None
    head_key: Annotated[
        Path | None,
        About(
            "The key file that signs the heads of matches. Default: head.key in the data directory, made at the first"
            " start.",
            unset="head.key in the data directory",
        ),
    ] = None
    guests: Annotated[bool, About("Whether anyone may sign in as a guest. Default: yes.")] = True
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], About("What is logged, on standard error. Default: info.")
    ] = "info"
    log_calls: Annotated[
        float,
        About(
            "Of how many calls a line is logged when they have ended, as a share of all: 0 none, 0.01 every hundredth,"
            " 1 each. Calls that failed for a reason of the service's own always have one. Default: 1.",
            least=0,
            most=1,
        ),
    ] = 1.0
    archive: Annotated[
        str | None,
        About(
            "Where finished matches go: a folder, or s3://bucket/prefix, whose credentials, region and endpoint stand"
            " in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL). Services"
            " that share a store need one that all of them reach; as long as one lacks it, nothing is archived."
            " Default: archive in the data directory.",
            unset="archive in the data directory",
        ),
    ] = None
    archive_after: Annotated[
        int,
        About(
            "How many seconds after its end a match goes to the archive. Default: 60, by which whoever watched live"
            " has seen the end.",
            least=0,
            most=7 * 24 * 3_600,
        ),
    ] = 60
    metrics: Annotated[
        str | None,
        About(
            "host:port on which Prometheus finds /metrics, and /healthz says whether the service serves, over HTTP"
            " without TLS. Default: nowhere.",
            unset="nowhere",
        ),
    ] = None
    web: Annotated[
        str | None,
        About(
            "host:port at which browsers find the page, a process of its own beside the service, or off. Behind a proxy"
            " that does TLS, which says so in x-forwarded-proto, cookies are sent by https alone. Default:"
            f" {DEFAULT_WEB}, or nowhere if that is taken.",
            unset=f"{DEFAULT_WEB} if it is free",
        ),
    ] = None
    trust_issuer: Annotated[
        tuple[Path, ...],
        About(
            "Files that each describe another issuer whose tokens are taken, as a JSON object of three members:"
            " issuer, the `iss` of its tokens; roles, a list of those it may give, out of player, judge, operator and"
            " gateway; keys, a list of its Ed25519 public keys, each a JSON Web Key (kty OKP, crv Ed25519, kid, x) or a"
            " line of `rollbook key` in quotes. Only its owner may be able to write to such a file. The same `sub` of"
            " two issuers is two subjects. In the variable, paths are separated as in PATH."
        ),
    ] = ()
    trust_proxy: Annotated[
        tuple[str, ...],
        About(
            "Addresses or networks of proxies that stand in front of the service, such as 10.0.0.0/8. What they say of"
            " who called them, in x-forwarded-for, is where a call comes from for all limits by address; an IPv6"
            " address is its /64. In the variable, spaces separate them. Default: none."
        ),
    ] = ()
    demo: Annotated[
        bool,
        About(
            "Keep one public match of each game going, played by house bots, for people to look at; `rollbook tail`"
            " does."
        ),
    ] = False
    demo_seconds: Annotated[
        float,
        About(
            "The pause of a house bot before every choice, in seconds, well below the clock of its matches."
            " Default: 2.",
            least=0.001,
            most=30,
        ),
    ] = 2.0


FLAGS: Final = settings_of(Flags)
