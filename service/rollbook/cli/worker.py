"""One worker of `rollbook serve --workers`; only the service itself starts this program."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rollbook.cli.exits import Exit

if TYPE_CHECKING:
    from rollbook.server.process.lifecycle import Assemble

WORDS: Final[Sequence[str]] = (sys.executable, "-P", "-m", "rollbook.cli.worker")


def work(assemble: Assemble) -> Exit:
    """Run as the worker described on standard input, with the servicers that `assemble` makes."""
    from rollbook import processes  # noqa: PLC0415 - gRPC looks at the environment when it is imported
    from rollbook.cli.commands.serve import end_of  # noqa: PLC0415 - as above
    from rollbook.server.process.worker import receive_settings  # noqa: PLC0415 - as above

    try:
        worker = receive_settings()
    except processes.CutOff:
        return Exit.UNREADABLE
    return end_of(lambda: worker.serve(assemble), worker.settings)


def main() -> Exit:
    """Run a worker of `rollbook serve`."""
    # gRPC logs to standard error unless this variable is set before it is imported.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from rollbook.server.app import assemble  # noqa: PLC0415 - see above

    return work(assemble)


if __name__ == "__main__":
    sys.exit(main())
