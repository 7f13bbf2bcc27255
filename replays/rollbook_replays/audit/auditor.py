"""What judges replays one by one, in a process of its own: `python -m rollbook_replays.audit.auditor SOCKET`.

A file may have been made to hurt whoever reads it, so such a process has limits, and may end at any moment.
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
    """The verdict on one replay; whatever is wrong with it never stops the audit of others.

    Only a lack of memory is raised: then nothing can be said, neither of this file nor of the next.
    """
    try:
        return audit(source.read(), keys, heads)
    except MemoryError:
        raise
    except OSError as wrong:
        return Audited(Verdict.UNREADABLE, unreadable=wrong.strerror or str(wrong))
    except NotAReplay as wrong:
        return Audited(Verdict.UNREADABLE, unreadable=str(wrong))
    except Exception as failure:  # noqa: BLE001 - a fault of ours must be told, not be the end of all audits
        return Audited(Verdict.UNREADABLE, unreadable=f"the audit itself failed: {failure!r}")


def serve(asker: Connection) -> NoReturn:
    """Answer whoever is at the other end until it hangs up.

    Keys and heads come in, then None goes out: ready. Then lists of replays come in, and the verdict on each goes out.
    """
    known, heads = asker.recv()
    keys = read_keys(known)
    # What is loaded by now stays; looking for garbage among it would cost a tenth of all time.
    gc.freeze()
    bound_memory()
    asker.send(None)
    while True:
        for source in asker.recv():
            bound_time()
            asker.send(audit_one(source, keys, heads))


def main(socket: int) -> int:
    """Serve until that ends, for whatever reason; whoever asks notices."""
    processes.end_with_parent()
    # An interrupt is for the process that asks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        serve(Connection(socket))
    except (EOFError, OSError):
        return 0
    except MemoryError:
        return 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
