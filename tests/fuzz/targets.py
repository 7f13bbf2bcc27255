"""What is fuzzed: readers of bytes that a stranger made. Each takes any bytes and must end in good order.

Refusals are good order; so is a verdict. Anything else that is raised is a finding.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from rollbook.match.fold import Misplaced
from rollbook.match.notation import write as write_plain
from rollbook.match.vocabulary import Unreadable
from rollbook.rules.game import Watcher
from rollbook.rules.refusals import Refused
from rollbook_replays import container
from rollbook_replays.auditing import audit
from rollbook_replays.looking import Broken, NotToBeSeen, look
from rollbook_replays.telling import draw_board, tell
from rollbook_replays.verdicts import Verdict

LARGEST_INPUT: Final = 1 << 14


def file(data: bytes) -> None:
    """A replay file; nobody's keys are given, so that none is exact."""
    assert audit(data, {}).verdict is not Verdict.EXACT
    _show(data)


def body(data: bytes) -> None:
    """What stands inside one: with a right header and footer around it, as a forger without a key makes them."""
    packed = container._pack(data)
    header = container._HEADER.pack(container.MAGIC, container.VERSION, 0, len(packed))
    file(header + packed + struct.pack(">I", 0) + bytes(container._FOOTER.size))


def _show(data: bytes) -> None:
    """All that `rollbook show` does with it, for several pairs of eyes."""
    try:
        replay = container.read(data).replay
    except container.NotAReplay:
        return
    for eyes in (None, Watcher.PUBLIC, 0):
        try:
            seen = look(replay, eyes)
            "".join(write_plain(seen.header, seen.events)).encode()
            "".join(tell(seen.header, seen.events)).encode()
            "".join(draw_board(seen.at(seen.count), seen.eyes)).encode()
        except (Broken, Misplaced, NotToBeSeen, Refused, Unreadable):
            continue


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {"file": file, "body": body}
