"""`rollbook replay`: look at a match again, in a terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def replay(
    source: str,
    *,
    service: str = "127.0.0.1:50051",
    token: Annotated[str | None, Parameter(env_var="ROLLBOOK_TOKEN")] = None,
    tls_ca: Path | None = None,
    language: Literal["en", "de"] | None = None,
) -> int:
    """Look at a match again: step by step, turn by turn, or played at a speed, from any perspective the file allows.

    The rules are followed on the way, dice and signatures are not checked: that is what `rollbook audit` does. Exit
    code 1 if the service refuses or does not answer, 3 if there is nothing to be read, 64 without a terminal.

    Parameters
    ----------
    source
        A replay file, or the id of a match at the service.
    service
        host:port of the service. Default: 127.0.0.1:50051.
    token
        Who asks, better given by its variable. Without one: a guest.
    tls_ca
        The certificates to trust, PEM, for a service with TLS.
    language
        en or de. Default: the locale's, else en.
    """
    # gRPC writes lines of its own across the screen, unless it is told before it is imported that nobody reads them.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from rollbook_clients.terminal import starting  # noqa: PLC0415 - see above

    return starting.replay(starting.Asked(service, token or "", tls_ca, language), source)
