"""Prepares a new process and then replaces it with the server of `rollbook.storage.embedded.server`.

Its arguments are the parent's process id, the number of the open lock file, and the server's command. It writes its own
process id, which the server keeps, into the lock file, asks Linux to end the server with the service, and executes the
server, which holds the lock as long as it lives. A function between fork and exec could do the same, but may hang in a
service that has threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: str, lock: str, *command: str) -> None:
    """Prepare this process and execute the server."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != int(parent):
            sys.exit("The service ended before its server began.")
    os.pwrite(int(lock), str(os.getpid()).encode(), 0)
    try:
        os.execv(command[0], command)  # noqa: S606 - the server needs no shell
    except OSError as failure:
        sys.exit(f"{command[0]} cannot be run: {failure.strerror}")


if __name__ == "__main__":
    main(*sys.argv[1:])
