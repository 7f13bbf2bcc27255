"""`rollbook tail`: a match in the plain form, as it happens."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rollbook.cli.exits import Exit


def tail(
    match: str | None = None,
    *,
    service: str = "127.0.0.1:50051",
    token: Annotated[str | None, Parameter(env_var="ROLLBOOK_TOKEN")] = None,
    tls_ca: Path | None = None,
    follow: bool = True,
) -> int:
    """Print a match in the plain form, line by line as it is played.

    The output of a match that is over is what `rollbook check` reads. The first line gathers the entropy of all seats,
    so nothing is printed before the match has started. Hidden cards are null, unless the token's seat may see them or
    the match was over already. A lost connection is made anew, and no line comes twice.

    Without MATCH it lists the matches that are open or running. Exit code 1 if the service refuses, 3 if no service
    answers or it has no such match.

    Parameters
    ----------
    match
        The id of a match.
    service
        host:port of the service. Default: 127.0.0.1:50051.
    token
        Who looks on, better given by its variable. Without one: a guest.
    tls_ca
        The certificates to trust, PEM, for a service with TLS.
    follow
        Go on until the match is over; else print what there is. Default: yes.
    """
    try:
        authorities = None if tls_ca is None else tls_ca.expanduser().read_bytes()
    except OSError as wrong:
        print(f"{tls_ca}: {wrong.strerror}", file=sys.stderr)
        return Exit.UNREADABLE
    # gRPC writes lines of its own to standard error, unless it is told before it is imported that nobody reads them.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from rollbook.cli import watching  # noqa: PLC0415 - see above

    with watching.Connection(service, token or "", authorities) as connection:
        try:
            if match is None:
                return watching.list_matches(connection)
            return watching.Tail(connection, match, follow=follow).run()
        except watching.Failed as failed:
            print(f"rollbook tail: {failed.why}", file=sys.stderr)
            return failed.code
