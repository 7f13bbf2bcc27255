"""The fuzzed functions: readers of strangers' bytes. Each takes any bytes and must return or refuse them.

A refusal or a verdict is a correct result. Any other exception is a finding.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.notation import write as write_plain
from rollbook.match.fold import Misplaced
from rollbook.replay_file import container
from rollbook.replay_file.kept_heads import read_heads
from rollbook.replay_file.key_lines import read_keys, write_keys
from rollbook.replay_file.lines import WrongLine
from rollbook.rules.game import Watcher
from rollbook.rules.refusals import RefusedByRules
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Verdict
from rollbook_replays.history import Broken, NotToBeSeen, look
from rollbook_replays.narration import draw_board, tell
from rollbook_replays.report import Report
from rollbook_replays.text import plain
from rollbook_replays.tournament.bundle import NotABundle, open_bundle
from rollbook_replays.tournament.judgement import judge, judge_matches
from rollbook_replays.tournament.manifest import WrongManifest, read_manifest

LARGEST_INPUT: Final = 1 << 15


def file(data: bytes) -> None:
    """Audit a replay file without keys; the verdict is never EXACT."""
    assert audit(data, {}).verdict is not Verdict.EXACT
    _show(data)


def body(data: bytes) -> None:
    """Audit the bytes as a body, with a valid header and footer, as a forger without a key makes them."""
    header = container._HEADER.pack(container.MAGIC, container.VERSION, 0, len(data))
    file(header + data + struct.pack(">I", 0) + bytes(container._FOOTER.size))


def _show(data: bytes) -> None:
    """Run the code of `rollbook show` on it, for several perspectives."""
    try:
        replay = container.read(data).replay
    except container.NotAReplay:
        return
    for eyes in (None, Watcher.PUBLIC, 0):
        try:
            seen = look(replay, eyes)
            "".join(write_plain(seen.header, seen.events)).encode()
            plain(tell(seen.header, seen.events)).encode()
            plain(draw_board(seen.at(seen.count), seen.perspective)).encode()
        except (Broken, Misplaced, NotToBeSeen, RefusedByRules, Unreadable):
            continue


def bundle(data: bytes) -> None:
    """Judge a bundle with its matches, from a file, because bundles are read in place."""
    _BUNDLE.write_bytes(data)
    try:
        opened = open_bundle(_BUNDLE)
    except NotABundle:
        return
    judgement = judge(opened, [audit(source.read(), {}) for source in opened.sources], {})
    assert judgement.verdict is not Verdict.EXACT
    report = Report()
    report.add_judgement("bundle", judgement)
    "".join([*judgement.lines(), report.html()]).encode()


def manifest(data: bytes) -> None:
    """Parse the manifest of a bundle."""
    with suppress(WrongManifest):
        judge_matches(read_manifest(data), [], [], [])


def texts(data: bytes) -> None:
    """Parse files of keys and of heads, which judges get from strangers."""
    text = data.decode("utf-8", errors="replace")
    with suppress(WrongLine):
        write_keys(read_keys(text).values())
    with suppress(WrongLine):
        read_heads(text)


_BUNDLE: Final = Path(tempfile.mkdtemp(prefix="rollbook-fuzz-")) / "bundle.zip"

TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "file": file,
    "body": body,
    "bundle": bundle,
    "manifest": manifest,
    "texts": texts,
}
