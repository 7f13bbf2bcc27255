"""`rollbook watch`: look on at a match, in a terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def watch(  # noqa: PLR0913 - every flag is a parameter
    match: str | None = None,
    *,
    keep_heads: Path | None = None,
    service: str = "127.0.0.1:50051",
    token: Annotated[str | None, Parameter(env_var="ROLLBOOK_TOKEN")] = None,
    tls_ca: Path | None = None,
    language: Literal["en", "de"] | None = None,
) -> int:
    """Watch a match as it is played, or choose one from the lobby.

    A lost connection is made anew and nothing is missed. Chain and signed heads are checked all the time. Exit code 1
    if no service answers or it refuses, 3 if there is no such match or the file of heads cannot be read, 64 without a
    terminal.

    Parameters
    ----------
    match
        The id of a match. Default: choose one.
    keep_heads
        A file for the last signed head of every match that is watched: proof against a log that is changed afterwards,
        for `rollbook audit --head`.
    service
        host:port of the service. Default: 127.0.0.1:50051.
    token
        Who looks on, better given by its variable. Without one: a guest.
    tls_ca
        The certificates to trust, PEM, for a service with TLS.
    language
        en or de. Default: the locale's, else en.
    """
    # gRPC writes lines of its own across the screen, unless it is told before it is imported that nobody reads them.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from rollbook_clients.terminal import starting  # noqa: PLC0415 - see above

    heads = None if keep_heads is None else keep_heads.expanduser()
    return starting.watch(starting.Asked(service, token or "", tls_ca, language, heads=heads), match)
