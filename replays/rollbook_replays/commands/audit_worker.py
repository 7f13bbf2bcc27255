"""`rollbook audit-worker`: one audit, for a service that takes files from strangers. No help lists it."""

from __future__ import annotations

import sys
from typing import Final

from rollbook import processes
from rollbook.cli.exits import Exit
from rollbook.replay_file.container import LARGEST_FILE
from rollbook.replay_file.key_lines import read_keys
from rollbook.v1.replay_pb2 import AuditReplayResponse, Verdict
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.bounds import bound_memory, bound_time
from rollbook_replays.audit.verdicts import Audited

MOST_KEYS_BYTES: Final = 1 << 20

LONGEST_SENTENCE: Final = 500
"""Most characters of a sentence in the answer; a hostile file can make sentences long."""

MOST_MISSING: Final = 20


def audit_worker() -> int:
    """Audit the file on standard input.

    Two frames come in, lines of public keys and the file; one goes out, the AuditReplayResponse. If the input is
    cut off, the caller is gone: no answer, exit code 3.
    """
    processes.end_with_parent()
    bound_time()
    bound_memory()
    try:
        keys = processes.read_frame(sys.stdin.buffer, MOST_KEYS_BYTES)
        data = processes.read_frame(sys.stdin.buffer, LARGEST_FILE)
    except processes.CutOff:
        return Exit.UNREADABLE
    answer = response(audit(data, read_keys(keys.decode("utf-8"))))
    sys.stdout.buffer.write(processes.frame(answer.SerializeToString()))
    sys.stdout.buffer.flush()
    return Exit.GOOD


def response(audited: Audited) -> AuditReplayResponse:
    r"""The verdict as a message, as long as it may become.

    >>> from rollbook_replays.audit.verdicts import Verdict
    >>> str(response(Audited(Verdict.UNREADABLE, unreadable="no replay")))
    'verdict: VERDICT_UNREADABLE\nfound: "no replay"\n'
    """
    diverged = audited.divergence
    answer = AuditReplayResponse(
        verdict=Verdict.Value(f"VERDICT_{audited.verdict.name}"),
        match_id=audited.match_id[:LONGEST_SENTENCE],
        found=audited.unreadable[:LONGEST_SENTENCE],
        missing=[sentence[:LONGEST_SENTENCE] for sentence in audited.missing[:MOST_MISSING]],
    )
    if diverged is not None:
        answer.check = diverged.check
        answer.expected = diverged.expected[:LONGEST_SENTENCE]
        answer.found = diverged.found[:LONGEST_SENTENCE]
        if diverged.event is not None:
            answer.event = diverged.event
    return answer
