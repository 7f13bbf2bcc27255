"""`rollbook play`: sit down and play, in a terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def play(
    *,
    name: str = "",
    service: str = "127.0.0.1:50051",
    token: Annotated[str | None, Parameter(env_var="ROLLBOOK_TOKEN")] = None,
    tls_ca: Path | None = None,
    language: Literal["en", "de"] | None = None,
) -> int:
    """Play in this terminal: the lobby, a table, the board, by keys and by mouse.

    One plays as a guest and stays the same one: whoever comes back has their seats again. `?` helps everywhere. Exit
    code 1 if no service answers or it refuses, 64 without a terminal.

    Parameters
    ----------
    name
        How one is called at the table. Default: as last time, or as at this computer.
    service
        host:port of the service. Default: 127.0.0.1:50051.
    token
        Who plays, better given by its variable. Without one: a guest.
    tls_ca
        The certificates to trust, PEM, for a service with TLS.
    language
        en or de. Default: the locale's, else en.
    """
    # gRPC writes lines of its own across the screen, unless it is told before it is imported that nobody reads them.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from rollbook_clients.terminal import starting  # noqa: PLC0415 - see above

    return starting.play(starting.Asked(service, token or "", tls_ca, language, name))
