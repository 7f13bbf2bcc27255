"""`rollbook key`: the public key of a key file, or all those that judges need."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cyclopts import Parameter

from rollbook.commands.outcome import Exit, usage
from rollbook.identity.keys import key_id, load, load_or_create, public_text, published
from rollbook.identity.refusals import KeyRefused


def key(
    file: Path,
    *,
    create: Annotated[bool, Parameter(negative="")] = False,
    list_published: Annotated[bool, Parameter(name="--published", negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Print the public key of a key file: its key id and the key, hexadecimal, in one line.

    Whoever has this line can check what the key signs. The key file itself is a secret: only its owner may read it.
    `rollbook key DATA --published > KEY.pub`, with the data directory of a service, makes the file that judges give to
    `rollbook audit --key`: every key that ever signed heads or replay files there. Exit code 1 if the file is no such
    key or others can reach it, 3 if it cannot be read or nothing was published.

    Parameters
    ----------
    file
        An Ed25519 private key in PEM (PKCS 8), or with --published also a data directory.
    create
        Make the file if it is not there, and note its public key in FILE.public, which keeps the old ones too.
    list_published
        Print all public keys that the file ever held, the oldest first; of a data directory those of head.key and
        replay.key. The private keys are not looked at.
    as_json
        One JSON object on a line, for programs.
    """
    if list_published and create:
        return usage("--published lists what there is, and --create makes a key; rollbook key --help explains both")
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
    for public in keys:
        facts = {"key_id": key_id(public), "public_key": public.public_bytes_raw().hex()}
        print(json.dumps(facts) if as_json else public_text(public))
    return Exit.GOOD


def _published(path: Path) -> list[Ed25519PublicKey]:
    files = [path / "head.key", path / "replay.key"] if path.is_dir() else [path]
    return [key for file in files for key in published(file).values()]
