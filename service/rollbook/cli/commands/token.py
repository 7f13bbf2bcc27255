"""`rollbook token`: mints a signed token."""

import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage
from rollbook.identity.keys import load
from rollbook.identity.names import player_name
from rollbook.identity.refusals import KeyRefused, NameRefused, TokenRefused
from rollbook.identity.tokens import JTI_BYTES, OWN_ISSUER, Issuer, Role

MOST_HOURS = 87_600
"""Ten years: a limit against typing errors."""


def token(  # noqa: PLR0913 - every flag is a parameter
    *,
    key: Path,
    subject: str,
    role: Role,
    match: Annotated[Sequence[str], Parameter(negative="", consume_multiple=True)] = (),
    hours: int = 12,
    name: str | None = None,
    issuer: str = OWN_ISSUER,
) -> int:
    """Mint a token and print it on standard output.

    A service that trusts the key accepts it as `authorization: Bearer TOKEN`. Anyone who has the token can act as its
    subject, so treat it like a password. The line on standard error has its id (jti), by which `rollbook admin
    revoke-token` revokes it. Exit code 1 if the key file is refused, 3 if it cannot be read.

    Example: `rollbook token --key DATA/token.key --subject boss --role operator`

    Parameters
    ----------
    key
        The key file to sign with; `rollbook key FILE --create` makes one.
    subject
        Who it is for: always the same text for the same person.
    role
        What they may do: play, judge the given matches, operate the service, or be a gateway that acts for many
        players.
    match
        The id of a match that a judge may see; may be repeated.
    hours
        How many hours it is valid. Default: 12. A service refuses an operator's token that is valid for more than
        `limits.operator_token_seconds`, which is 720 hours by default.
    name
        The display name. Default: the subject.
    issuer
        The issuer; a service accepts others than itself if it trusts them (`rollbook serve --trust-issuer`). Default:
        rollbook.
    """
    if not 1 <= hours <= MOST_HOURS:
        return usage(f"--hours must be 1 to {MOST_HOURS:,}; rollbook token --help explains it")
    shown = subject if name is None else name
    try:
        signer = Issuer(load(key), issuer)
        now, jti = int(time.time()), secrets.token_hex(JTI_BYTES)
        lifetime_seconds = hours * 3600
        minted = signer.mint(
            subject,
            role,
            name=shown,
            issued_at=now,
            lifetime_seconds=lifetime_seconds,
            matches=match,
            jti=jti,
        )
        player_name(shown)
    except KeyRefused as refused:
        print(f"{key}: {refused}", file=sys.stderr)
        return Exit.WRONG
    except NameRefused as refused:
        return usage(f"no player may have this name: {refused}; rollbook token --help explains --name")
    except TokenRefused as refused:
        return usage(f"{refused}; rollbook token --help explains the flags")
    except OSError as wrong:
        hint = "" if key.exists() else f"; rollbook key {key} --create makes one"
        print(f"{key}: {wrong.strerror}{hint}", file=sys.stderr)
        return Exit.UNREADABLE
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + lifetime_seconds))
    print(f"{role}, valid until {until}, jti {jti}, signed by key {signer.key_id}", file=sys.stderr)
    print(minted)
    return Exit.GOOD
