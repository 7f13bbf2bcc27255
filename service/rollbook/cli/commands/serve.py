"""`rollbook serve`: the match service, with everything it needs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage

if TYPE_CHECKING:
    from rollbook.server.lifecycle import Assemble, Listening
    from rollbook.server.settings import Settings


def serve(  # noqa: PLR0913 - every flag is a parameter
    *,
    data: Annotated[Path | None, Parameter(env_var="ROLLBOOK_DATA")] = None,
    listen: Annotated[str, Parameter(env_var="ROLLBOOK_LISTEN")] = "127.0.0.1:50051",
    redis: Annotated[str | None, Parameter(env_var="ROLLBOOK_REDIS")] = None,
    durability: Annotated[Literal["fsync", "relaxed"], Parameter(env_var="ROLLBOOK_DURABILITY")] = "fsync",
    tls_cert: Annotated[Path | None, Parameter(env_var="ROLLBOOK_TLS_CERT")] = None,
    tls_key: Annotated[Path | None, Parameter(env_var="ROLLBOOK_TLS_KEY")] = None,
    insecure: Annotated[bool, Parameter(env_var="ROLLBOOK_INSECURE", negative="")] = False,
    name: Annotated[str | None, Parameter(env_var="ROLLBOOK_NAME")] = None,
    head_key: Annotated[Path | None, Parameter(env_var="ROLLBOOK_HEAD_KEY")] = None,
    guests: Annotated[bool, Parameter(env_var="ROLLBOOK_GUESTS")] = True,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Parameter(env_var="ROLLBOOK_LOG_LEVEL")
    ] = "info",
    archive: Annotated[str | None, Parameter(env_var="ROLLBOOK_ARCHIVE")] = None,
    archive_after: Annotated[int, Parameter(env_var="ROLLBOOK_ARCHIVE_AFTER")] = 60,
    metrics: Annotated[str | None, Parameter(env_var="ROLLBOOK_METRICS")] = None,
    trust_issuer: Annotated[
        Sequence[Path], Parameter(env_var="ROLLBOOK_TRUST_ISSUER", negative="", consume_multiple=True)
    ] = (),
    trust_proxy: Annotated[
        Sequence[str], Parameter(env_var="ROLLBOOK_TRUST_PROXY", negative="", consume_multiple=True)
    ] = (),
    demo: Annotated[bool, Parameter(env_var="ROLLBOOK_DEMO", negative="")] = False,
    demo_seconds: Annotated[float, Parameter(env_var="ROLLBOOK_DEMO_SECONDS")] = 2.0,
) -> int:
    """Run the match service: its store, gRPC, health and reflection.

    It runs until SIGTERM or Ctrl-C: then it takes no more calls, lets those under way finish, and ends with exit code
    0. A second signal does not wait for them (130). However it ends, the next start has all that was acknowledged. Exit
    code 1 if it cannot start, such as with a data directory or a port in use; 3 if the file of a key or of an issuer
    cannot be read.

    Parameters
    ----------
    data
        The directory for keys and matches, for one service at a time; made if it is not there. Default: rollbook in the
        user's data home.
    listen
        host:port to listen on, with port 0 on any that is free. Default: 127.0.0.1:50051.
    redis
        The URL of a Redis 6.2 or later, or a Valkey, to use in place of a server of its own: redis://, rediss://,
        unix://, redis+sentinel:// or redis+cluster://. With a password in it, better given by its variable.
    durability
        fsync: what is acknowledged is on disk, and a store that is set otherwise is refused. relaxed: for development;
        the store may lose it. The service's own store then syncs once a second. Default: fsync.
    tls_cert
        The certificate chain, PEM.
    tls_key
        Its private key, PEM, unencrypted.
    insecure
        Listen on an address that other machines can reach without TLS, because something in front of it does TLS. The
        same goes for metrics.
    name
        Whose keys the service's are: `rollbook key --service` writes it behind them, and judges read it in verdicts.
        The same for all replicas, and for good. Default: the id of the oldest head key.
    head_key
        The key file that signs the heads of matches. Default: head.key in the data directory, made at the first start.
    guests
        Whether anyone may sign in as a guest. Default: yes.
    log_level
        What is logged, on standard error. Default: info.
    archive
        Where finished matches go: a folder, or s3://bucket/prefix, whose credentials, region
        and endpoint stand in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL).
        Services that share a store need one that all of them reach; as long as one lacks it, nothing is archived.
        Default: archive in the data directory.
    archive_after
        How many seconds after its end a match goes to the archive. Default: 60.
    metrics
        host:port on which Prometheus finds /metrics, over HTTP without TLS. Default: nowhere.
    trust_issuer
        Files that each describe another issuer whose tokens are taken, as a JSON object of three members: issuer, the
        `iss` of its tokens; roles, a list of those it may give, out of player, judge and operator; keys, a list of its
        Ed25519 public keys, each a JSON Web Key (kty OKP, crv Ed25519, kid, x) or a line of `rollbook key` in quotes.
        Only its owner may be able to write to such a file. The same `sub` of two issuers is two subjects. In the
        variable, paths are separated as in PATH.
    trust_proxy
        Addresses or networks of proxies that stand in front of the service, such as 10.0.0.0/8. What they say of who
        called them, in x-forwarded-for, is where a call comes from for all limits by address; an IPv6 address is its
        /64. Default: none.
    demo
        Keep one public match of each game going, played by house bots, for people to look at; `rollbook tail` does.
    demo_seconds
        The pause of a house bot before every choice, in seconds. Default: 2.
    """
    from rollbook.server.settings import SettingRefused, Settings  # noqa: PLC0415 - see above

    try:
        settings = Settings.read(
            data=data,
            listen=listen,
            redis=redis,
            durability=durability,
            tls_cert=tls_cert,
            tls_key=tls_key,
            insecure=insecure,
            name=name,
            head_key=head_key,
            guests=guests,
            log_level=log_level,
            archive=archive,
            archive_after=archive_after,
            metrics=metrics,
            trust_issuer=trust_issuer,
            trust_proxy=trust_proxy,
            demo=demo,
            demo_seconds=demo_seconds,
        )
    except SettingRefused as refused:
        return usage(f"{refused}\nrollbook serve --help explains it")
    from rollbook.server.app import assemble  # noqa: PLC0415 - see above

    return run(settings, assemble)


def run(settings: Settings, assemble: Assemble) -> Exit:
    """Run a service with the servicers that `assemble` makes, and say why if it cannot be started."""
    from rollbook.identity.service_keys import KeyFileRefused, KeyFileUnreadable  # noqa: PLC0415 - see above
    from rollbook.server import log_output  # noqa: PLC0415 - see above
    from rollbook.server.house import HouseMissing  # noqa: PLC0415 - see above
    from rollbook.server.lifecycle import NotListening, Shutdown  # noqa: PLC0415 - see above
    from rollbook.server.lifecycle import serve as serve_until_signalled  # noqa: PLC0415 - see above
    from rollbook.storage.embedded.data_directory import DataDirectoryRefused  # noqa: PLC0415 - see above
    from rollbook.storage.embedded.server import ServerFailed, ServerNotFound  # noqa: PLC0415 - see above
    from rollbook.storage.port import StoreUnavailable  # noqa: PLC0415 - see above

    log_output.configure(settings.log_level)
    try:
        ended = asyncio.run(serve_until_signalled(settings, assemble, _listening))
    except KeyFileUnreadable as refused:
        return _refused(refused, Exit.UNREADABLE)
    except (
        DataDirectoryRefused, HouseMissing, KeyFileRefused, NotListening, ServerFailed, ServerNotFound, StoreUnavailable
    ) as refused:  # fmt: skip
        return _refused(refused, Exit.WRONG)
    except OSError as failure:
        where = f"{failure.filename}: " if failure.filename else ""
        return _refused(f"{where}{failure.strerror or failure}", Exit.WRONG)
    return Exit.GOOD if ended is Shutdown.DRAINED else Exit.INTERRUPTED


def _listening(listening: Listening) -> None:
    from rollbook.server.log_output import announce  # noqa: PLC0415 - see above
    from rollbook.storage.redis.address import parse  # noqa: PLC0415 - see above

    settings = listening.settings
    announce(
        f"listening on {listening.address}",
        address=str(listening.address),
        data=str(settings.data),
        durability=settings.durability,
        head_key_id=listening.head_key_id,
        store="its own" if settings.redis is None else str(parse(settings.redis)),
        tls=settings.tls is not None,
    )


def _refused(why: object, code: Exit) -> Exit:
    print(f"rollbook serve: {why}", file=sys.stderr)
    return code
