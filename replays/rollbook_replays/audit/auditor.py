"""The auditor process, which audits replays one by one: `python -m rollbook_replays.audit.auditor SOCKET`.

A replay file can be an attack on its reader, so the process has limits on memory and time. It can end at any moment.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import NoReturn

from rollbook import processes
from rollbook.replay_file.container import NotAReplay
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.replay_file.key_lines import KnownKeys, read_keys
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.bounds import bound_memory, bound_time
from rollbook_replays.audit.sources import Source
from rollbook_replays.audit.verdicts import Audited, Verdict


def audit_one(source: Source, keys: KnownKeys, heads: Sequence[WitnessedHead]) -> Audited:
    """Return the verdict on one replay; a file that cannot be read, or a failure of the audit, is `UNREADABLE`.

    Raises only MemoryError: a process without memory cannot audit the next file either.
    """
    try:
        return audit(source.read(), keys, heads)
    except MemoryError:
        raise
    except OSError as wrong:
        return Audited(Verdict.UNREADABLE, unreadable=wrong.strerror or str(wrong))
    except NotAReplay as wrong:
        return Audited(Verdict.UNREADABLE, unreadable=str(wrong))
    except Exception as failure:  # noqa: BLE001 - reported as a bug, must not stop other audits
        return Audited(Verdict.UNREADABLE, unreadable=f"the audit itself failed: {failure!r}")


def serve(asker: Connection) -> NoReturn:
    """Serve the parent process until it closes the connection, which raises EOFError or OSError.

    Receives keys and heads, and sends None when it is ready. Then it receives lists of replays and sends one verdict
    for each replay.
    """
    known, heads = asker.recv()
    keys = read_keys(known)
    # All objects so far live as long as the process; collecting garbage among them would cost a tenth of the time.
    gc.freeze()
    bound_memory()
    asker.send(None)
    while True:
        for source in asker.recv():
            bound_time()
            asker.send(audit_one(source, keys, heads))


def main(socket: int) -> int:
    """Serve until the connection closes (returns 0) or memory runs out (returns 1)."""
    processes.end_with_parent()
    # The parent process handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        serve(Connection(socket))
    except (EOFError, OSError):
        return 0
    except MemoryError:
        return 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
