"""`rollbook key`: prints the public key of a key file, or all published keys of a data directory or a service."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cyclopts import Parameter

from rollbook.cli.exits import Exit, Failed
from rollbook.cli.service_options import read_certificates
from rollbook.identity.keys import list_published_keys, load, load_or_create
from rollbook.identity.refusals import KeyRefused
from rollbook.identity.service_keys import KeyFileRefused, KeyFileUnreadable, service_name
from rollbook.replay_file.key_lines import (
    KeyRole,
    KnownKey,
    check_name,
    key_id,
    key_line,
    keys_of_service,
)
from rollbook_clients.commands.service_calls import convert_error, say
from rollbook_clients.sdk import RollbookError, published_keys

KEY_FILE_EXAMPLE = """\
# KEY_ID HEX ROLE NAME: what each key signs (head, replay or bundle), and its owner, as you name it.
39f713d0a644253f 3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c head Our service
52a0710870cbd693 3583357a1a5b5347dff5be4d9b8ab42d157116a620997731d7ad29e2fee0ed65 bundle Spring cup
"""
"""An example of a key file; the keys in it belong to no service."""

_HEADS, _REPLAYS = "head.key", "replay.key"
_ROLES = {_HEADS: KeyRole.HEAD, _REPLAYS: KeyRole.REPLAY}
"""The roles of the key files in a service's data directory."""


def key(  # noqa: PLR0913 - every flag is a parameter
    file: Path | None = None,
    *,
    create: Annotated[bool, Parameter(negative="")] = False,
    list_published: Annotated[bool, Parameter(name="--published", negative="")] = False,
    role: KeyRole | None = None,
    name: str | None = None,
    service: str | None = None,
    tls_ca: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    example: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Print the public key of a key file in one line: key id and key, hexadecimal.

    With this line anyone can check signatures of the key. The key file itself is secret: only its owner may read it.
    `rollbook key DATA --published > KEY.pub`, with the data directory of a service, makes the file that judges give to
    `rollbook audit --key`: every key that ever signed heads or replay files there, a line each, with its role and the
    name of the service behind it. `rollbook key FILE --create --role bundle --name "Spring cup"` makes the key of an
    organiser, and prints such a line of it.

    `rollbook key --service ADDRESS --published > KEY.pub` asks a service for the same, without a token. But keys that
    come from the service itself prove only that nothing was changed since you asked. So ask before the match or,
    better, get the keys another way: from its operator, a tournament's page, or a person who kept them.

    Exit code 1 if the file is not such a key or others can access it, or the service refuses; 3 if the file cannot be
    read, nothing was published or no service answers.

    Example: `rollbook key --service localhost:50051 --published > KEY.pub`

    Parameters
    ----------
    file
        An Ed25519 private key in PEM (PKCS 8), or with --published also a data directory.
    create
        Create the file if needed, and add its public key to FILE.public, which keeps the old ones too.
    list_published
        Print all public keys that the file ever held, the oldest first; of a data directory those of head.key and
        replay.key. Private keys are not read.
    role
        What the key signs: head, replay or bundle; printed after the key, for the key file of a judge. Default: with
        --published the names of head.key and replay.key, else none.
    name
        Whose key it is: printed after the role, and shown in verdicts; keys with the same name belong to one service.
        Default: the name of the service, else the id of its oldest head key, else that of the oldest key printed.
    service
        host:port of a service to ask for its published keys, instead of a file. Default: ROLLBOOK_SERVICE.
    tls_ca
        The certificates to trust, PEM, for a service with TLS.
    as_json
        For programs: one JSON object on a line.
    example
        Print an example of a judge's key file, explain its lines, and end.
    """
    if example:
        print(KEY_FILE_EXAMPLE, end="")
        return Exit.GOOD
    try:
        if file is None and list_published:
            service = service or os.environ.get("ROLLBOOK_SERVICE")
        _check(create=create, list_published=list_published, role=role, name=name)
        keys: Sequence[_Bare | KnownKey]
        match file, service:
            case Path(), None:
                keys = _list_published(file, role, name) if list_published else [_own(file, role, name, create=create)]
            case None, str() if list_published and role is None:
                keys = _from_service(service, tls_ca, name)
            case None, str():
                why = "--service goes with --published and without --role: a service keeps its private keys to itself"
                raise _wrong(why)
            case _:
                raise _wrong("name a key file, or a service by --service HOST:PORT")
    except Failed as wrong:
        print(wrong.why, file=sys.stderr)
        return wrong.code
    for printed in keys:
        print(_json(printed) if as_json else printed.line)
    if service is not None:
        say(
            "key",
            f"these keys come from {service} itself; with them an audit proves only that it has changed nothing since."
            " Get them another way as well.",
        )
    return Exit.GOOD


@dataclass(frozen=True, slots=True)
class _Bare:
    """A public key without a role, such as a key for tokens."""

    public: Ed25519PublicKey

    @property
    def line(self) -> str:
        return key_line(self.public)


def _json(key: _Bare | KnownKey) -> str:
    facts = {"key_id": key_id(key.public), "public_key": key.public.public_bytes_raw().hex()}
    return json.dumps(facts if isinstance(key, _Bare) else {**facts, "role": key.role, "name": key.name})


def _check(*, create: bool, list_published: bool, role: KeyRole | None, name: str | None) -> None:
    """Raise Failed for options that cannot be combined."""
    if list_published and create:
        raise _wrong("--published lists existing keys, and --create makes one")
    if name is not None:
        try:
            check_name(name)
        except ValueError as wrong:
            raise _wrong(f"--name: {wrong}") from None
        if role is None and not list_published:
            raise _wrong("--name goes behind a role: give --role or --published as well")


def _own(file: Path, role: KeyRole | None, name: str | None, *, create: bool) -> _Bare | KnownKey:
    """The public key of a key file, with its role if there is one."""
    with _reading(file, _hint(file, create=create)):
        public = (load_or_create if create else load)(file).public_key()
    return _Bare(public) if role is None else KnownKey(public, role, name or _name_beside(file) or key_id(public))


def _hint(file: Path, *, create: bool) -> str:
    """A hint on what the user may have meant, for a key file that cannot be read; may be empty."""
    if file.is_dir():
        return f"; rollbook key {file} --published prints the public keys of a data directory"
    return "" if create or file.exists() else f"; rollbook key {file} --create makes one"


def _list_published(path: Path, role: KeyRole | None, name: str | None) -> list[KnownKey]:
    """All keys that a file or a data directory ever held. Without a name, they get the id of the oldest head key."""
    name = name or _name_beside(path)
    if path.is_dir():
        if role is not None:
            raise _wrong(f"{path} is a data directory, whose files are named after their roles; --role is for a file")
        return _of_service(path, _list_keys(path / _HEADS), _list_keys(path / _REPLAYS), name)
    role = role or _ROLES.get(path.name)
    listed = _list_keys(path)
    if not listed and not path.exists():
        raise Failed(Exit.UNREADABLE, f"{path}: no such file or directory")
    if role is None:
        raise _wrong(f"{path.name} does not show what it signs: give --role head, replay or bundle")
    if role is KeyRole.REPLAY:
        heads = _list_keys(path.with_name(_HEADS)) if path.name == _REPLAYS else []
        return [key for key in _of_service(path, heads, listed, name) if key.role is KeyRole.REPLAY]
    if not listed:
        raise _unpublished_error(path)
    return [KnownKey(key, role, name or key_id(listed[0])) for key in listed]


def _name_beside(path: Path) -> str | None:
    """The name of the service of this data directory, or of a key file in one; None if it has none."""
    if not path.is_dir() and path.name not in _ROLES:
        return None
    try:
        return service_name(path if path.is_dir() else path.parent) or None
    except KeyFileUnreadable as unreadable:
        raise Failed(Exit.UNREADABLE, str(unreadable)) from None
    except KeyFileRefused as refused:
        raise Failed(Exit.WRONG, str(refused)) from None


def _of_service(
    path: Path, heads: list[Ed25519PublicKey], replays: list[Ed25519PublicKey], name: str | None
) -> list[KnownKey]:
    if not heads and not replays:
        raise _unpublished_error(path)
    if not heads and name is None:
        why = f"{path}: no head key was published beside these replay keys, so their owner is unknown"
        raise _wrong(f"{why}: give --name, the same as for the head key")
    return keys_of_service(heads, replays, name or "")


def _list_keys(file: Path) -> list[Ed25519PublicKey]:
    with _reading(file):
        return list(list_published_keys(file).values())


def _from_service(service: str, tls_ca: Path | None, name: str | None) -> list[KnownKey]:
    authorities = read_certificates(tls_ca)
    try:
        keys = asyncio.run(published_keys(service, name=name or "", authorities=authorities))
    except RollbookError as error:
        why = convert_error(error)
        raise Failed(why.code, f"rollbook key: {why.why}") from None
    return list(keys.values())


@contextmanager
def _reading(file: Path, hint: str = "") -> Iterator[None]:
    """Convert errors in reading the file into Failed with the exit code of the command."""
    try:
        yield
    except KeyRefused as refused:
        raise Failed(Exit.WRONG, f"{file}: {refused}") from None
    except OSError as wrong:
        raise Failed(Exit.UNREADABLE, f"{file}: {wrong.strerror}{hint}") from None


def _unpublished_error(path: Path) -> Failed:
    why = f"{path}: no key was ever published here; a service publishes its keys when it starts"
    return Failed(Exit.UNREADABLE, why)


def _wrong(why: str) -> Failed:
    return Failed(Exit.USAGE, f"{why}; rollbook key --help explains it")
