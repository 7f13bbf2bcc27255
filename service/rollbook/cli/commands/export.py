"""`rollbook export`: matches of a service as files to take home."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage


def export(  # noqa: PLR0913 - every flag is a parameter
    *match: str,
    out: Path,
    service: str = "127.0.0.1:50051",
    token: Annotated[str | None, Parameter(env_var="ROLLBOOK_TOKEN")] = None,
    tls_ca: Path | None = None,
    public: Annotated[bool, Parameter(negative="")] = False,
    without_names: Annotated[bool, Parameter(negative="")] = False,
    force: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Take matches home: each as a file MATCH.rollbook in a folder, and its path on standard output.

    A match that is over comes whole, with everything it hid; one that is running as the token's eyes may see it, and
    its file says so. `rollbook show` reads such a file, `rollbook audit` checks it. A file appears whole or not at all,
    and none is overwritten. One match that fails does not stop the others. Exit code 1 if the service refuses one or a
    file cannot be written or is there already, 3 if no service answers or it has no such match.

    Parameters
    ----------
    match
        The ids of the matches.
    out
        The folder for the files; made if it is not there.
    service
        host:port of the service. Default: 127.0.0.1:50051.
    token
        Who asks, better given by its variable. Without one: a guest.
    tls_ca
        The certificates to trust, PEM, for a service with TLS.
    public
        See running matches as the public does, with its delay, although the token's seat or role would allow more.
    without_names
        Leave the names of the players out.
    force
        Overwrite files that are there already.
    """
    if not match:
        return usage("name at least one match; rollbook export --help explains it, `rollbook tail` lists some")
    try:
        authorities = None if tls_ca is None else tls_ca.expanduser().read_bytes()
    except OSError as wrong:
        print(f"{tls_ca}: {wrong.strerror}", file=sys.stderr)
        return Exit.UNREADABLE
    # gRPC writes lines of its own to standard error, unless it is told before it is imported that nobody reads them.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from rollbook.cli import exporting, watching  # noqa: PLC0415 - see above

    wanted = exporting.Wanted(public_only=public, without_names=without_names)
    with watching.Connection(service, token or "", authorities) as connection:
        try:
            return exporting.Export(connection, out.expanduser(), wanted, overwrite=force).run(match)
        except watching.Failed as failed:
            print(f"rollbook export: {failed.why}", file=sys.stderr)
            return failed.code
