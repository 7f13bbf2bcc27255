"""`rollbook web`: the page in a browser, for a service that runs anywhere."""

import asyncio
import sys
from typing import Annotated

from cyclopts import Parameter

from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions

DEFAULT_LISTEN = "127.0.0.1:8080"


def web(
    *,
    listen: Annotated[str, Parameter(env_var="ROLLBOOK_WEB")] = DEFAULT_LISTEN,
    at: ServiceOptions = LOCAL_SERVICE,
    https: bool = False,
) -> int:
    """Serve the page: watch, play, replay and verify in a browser.

    It is a client of the service, so it can run anywhere, and as many times as wanted. Ctrl+C ends it. Exit code 1 if
    the address is taken.

    Parameters
    ----------
    listen
        host:port that browsers connect to. Port 0 takes a free one.
    https
        Browsers reach this address by https, through a proxy: cookies are sent by https alone.
    """
    from rollbook_clients.web import server  # noqa: PLC0415 - slow to load, and no help needs it

    try:
        asyncio.run(server.serve(listen, at.service, at.token, at.authorities, is_secure=https))
    except server.AddressTaken as taken:
        print(f"rollbook web: {taken}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0
