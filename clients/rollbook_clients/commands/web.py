"""`rollbook web`: serves the web page for a service that runs anywhere."""

import signal
import sys
from typing import Annotated

from cyclopts import Parameter

from rollbook import DEFAULT_WEB
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions


def web(
    *,
    listen: Annotated[str, Parameter(env_var="ROLLBOOK_WEB_LISTEN")] = DEFAULT_WEB,
    at: ServiceOptions = LOCAL_SERVICE,
    host: tuple[str, ...] = (),
    https: bool = False,
) -> int:
    """Serve the page: watch, play, replay and verify in a browser.

    It is a client of the service: it can run anywhere, any number of times. It runs until SIGTERM or Ctrl-C, and ends
    with exit code 0 then. Exit code 1 if the address is taken.

    Example: `rollbook web --service localhost:50051 --listen localhost:8080`

    Parameters
    ----------
    listen
        host:port that browsers connect to. Port 0 takes a free one.
    host
        A name under which browsers may reach the page, such as games.example; repeat it for more. Addresses and
        localhost are always allowed, others answered with 421. Invitations lead to the first one.
    https
        Browsers reach this address by https, through a proxy, so cookies are sent by https only, and browsers
        remember to use https for a year. Not needed for a proxy
        on this machine that sends x-forwarded-proto.
    """
    from rollbook import event_loop  # noqa: PLC0415 - as below
    from rollbook_clients.web import server  # noqa: PLC0415 - slow to import, and not needed for help
    from rollbook_clients.web.hosts import Hosts  # noqa: PLC0415 - as above
    from rollbook_clients.web.visit import PageOptions  # noqa: PLC0415 - as above

    # uvicorn raises the signal again after a graceful stop, and its default action would kill the process.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        listener = server.listening(listen)
        print(f"The page is at {server.address_of(listener)}", flush=True)
        server.log_to(lambda line: print(line, file=sys.stderr))
        options = PageOptions(at.service, at.token, at.authorities, hosts=Hosts(host, https))
        event_loop.settle()
        event_loop.run(server.serve(options, listener))
    except server.AddressTaken as taken:
        print(f"rollbook web: {taken}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0
