"""`rollbook device`: prints a code that signs in a second device as the same player."""

from rollbook.cli.exits import Exit
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions
from rollbook_clients.commands.service_calls import at_the_service
from rollbook_clients.sdk.sync import SyncTable
from rollbook_clients.terminal.profile import Profile


def device(*, at: ServiceOptions = LOCAL_SERVICE) -> int:
    """Print a one-time code that makes you the same player on a second device, and the command to type there.

    The code can be used once, for five minutes, here or on the page (/device). Its first eight letters are enough, but
    then a seat must be made ready on the device that took it. Exit code 1 if the service refuses, 3 if none answers.

    Example: `rollbook device --service localhost:50051`
    """

    def work(table: SyncTable) -> Exit:
        print(f"rollbook play --service {at.service} --code {table.device_code()}")
        return Exit.GOOD

    return at_the_service("device", at, work, keep=None if at.token else Profile().guests)
