"""`rollbook key`: the public key of a key file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rollbook.commands.outcome import Exit
from rollbook.identity.keys import key_id, load, load_or_create, public_text
from rollbook.identity.refusals import KeyRefused


def key(
    file: Path,
    *,
    create: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Print the public key of a key file: its key id and the key, hexadecimal, in one line.

    Whoever has this line can check what the key signs. The key file itself is a secret: only its owner may read it.
    Exit code 1 if the file is no such key or others can reach it, 3 if it cannot be read.

    Parameters
    ----------
    file
        An Ed25519 private key in PEM (PKCS 8).
    create
        Make the file if it is not there, and note its public key in FILE.public, which keeps the old ones too.
    as_json
        One JSON object on a line, for programs.
    """
    try:
        public = (load_or_create if create else load)(file).public_key()
    except KeyRefused as refused:
        print(f"{file}: {refused}", file=sys.stderr)
        return Exit.WRONG
    except OSError as wrong:
        hint = "" if create or file.exists() else f"; rollbook key {file} --create makes one"
        print(f"{file}: {wrong.strerror}{hint}", file=sys.stderr)
        return Exit.UNREADABLE
    facts = {"key_id": key_id(public), "public_key": public.public_bytes_raw().hex()}
    print(json.dumps(facts) if as_json else public_text(public))
    return Exit.GOOD
