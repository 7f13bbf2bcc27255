"""`rollbook key`: the public key of a key file, or all those that judges need, from its folder or its service."""

import asyncio
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cyclopts import Parameter

from rollbook.cli.exits import Exit, Failed, usage
from rollbook.cli.service_options import read_certificates
from rollbook.identity.keys import load, load_or_create, published
from rollbook.identity.refusals import KeyRefused
from rollbook.replay_file.key_lines import key_id, key_line
from rollbook_clients.commands.service_calls import failed, say
from rollbook_clients.sdk import RollbookError, published_keys


def key(  # noqa: PLR0913 - every flag is a parameter
    file: Path | None = None,
    *,
    create: Annotated[bool, Parameter(negative="")] = False,
    list_published: Annotated[bool, Parameter(name="--published", negative="")] = False,
    service: str | None = None,
    tls_ca: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Print the public key of a key file: its key id and the key, hexadecimal, in one line.

    Whoever has this line can check what the key signs. The key file itself is a secret: only its owner may read it.
    `rollbook key DATA --published > KEY.pub`, with the data directory of a service, makes the file that judges give to
    `rollbook audit --key`: every key that ever signed heads or replay files there.

    `rollbook key --service ADDRESS --published > KEY.pub` asks a service for the same, without a token. But a service
    that names its own keys vouches for itself: with such a file an audit proves that the service has not changed its
    story since you asked, and no more. So ask before the match, or better get the keys another way: from its operator,
    a tournament's page, somebody who kept them.

    Exit code 1 if the file is no such key or others can reach it, or the service refuses; 3 if the file cannot be read,
    nothing was published or no service answers.

    Parameters
    ----------
    file
        An Ed25519 private key in PEM (PKCS 8), or with --published also a data directory.
    create
        Make the file if it is not there, and note its public key in FILE.public, which keeps the old ones too.
    list_published
        Print all public keys that the file ever held, the oldest first; of a data directory those of head.key and
        replay.key. The private keys are not looked at.
    service
        host:port of a service to ask for its published keys, instead of a file.
    tls_ca
        The certificates to trust, PEM, for a service with TLS.
    as_json
        One JSON object on a line, for programs.
    """
    if list_published and create:
        return usage("--published lists what there is, and --create makes a key; rollbook key --help explains both")
    match file, service:
        case Path(), None:
            return _look(file, create=create, list_published=list_published, as_json=as_json)
        case None, str() if list_published:
            return _ask(service, tls_ca, as_json=as_json)
        case None, str():
            return usage("--service goes with --published: a service keeps its private keys to itself")
    return usage("name a key file, or a service by --service HOST:PORT; rollbook key --help explains both")


def _look(file: Path, *, create: bool, list_published: bool, as_json: bool) -> Exit:
    try:
        keys = _published(file) if list_published else [(load_or_create if create else load)(file).public_key()]
    except KeyRefused as refused:
        print(f"{file}: {refused}", file=sys.stderr)
        return Exit.WRONG
    except OSError as wrong:
        if file.is_dir():
            hint = f"; rollbook key {file} --published prints the public keys of a data directory"
        else:
            hint = "" if create or file.exists() else f"; rollbook key {file} --create makes one"
        print(f"{file}: {wrong.strerror}{hint}", file=sys.stderr)
        return Exit.UNREADABLE
    if not keys:
        print(f"{file}: no key was ever published here; a service publishes its keys when it starts", file=sys.stderr)
        return Exit.UNREADABLE
    _print(keys, as_json=as_json)
    return Exit.GOOD


def _ask(service: str, tls_ca: Path | None, *, as_json: bool) -> Exit:
    try:
        keys = asyncio.run(published_keys(service, authorities=read_certificates(tls_ca)))
    except Failed as unreadable:
        print(unreadable.why, file=sys.stderr)
        return unreadable.code
    except RollbookError as error:
        say("key", failed(error).why)
        return failed(error).code
    _print(keys.values(), as_json=as_json)
    say(
        "key",
        f"{service} says so itself; with these keys an audit proves that it has not changed its story since. Better get"
        " them another way, too.",
    )
    return Exit.GOOD


def _print(keys: Iterable[Ed25519PublicKey], *, as_json: bool) -> None:
    for public in keys:
        facts = {"key_id": key_id(public), "public_key": public.public_bytes_raw().hex()}
        print(json.dumps(facts) if as_json else key_line(public))


def _published(path: Path) -> list[Ed25519PublicKey]:
    files = [path / "head.key", path / "replay.key"] if path.is_dir() else [path]
    return [key for file in files for key in published(file).values()]
