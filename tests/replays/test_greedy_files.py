"""Files that claim more data than they have bytes are judged without much memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rollbook.replay_file.container import LARGEST_EVENT, NotAReplay, Replay, read, write
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Check, Verdict
from tests.replays import greedy
from tests.replays.greedy import MOST_GROWTH_KB
from tests.replays.replaying import KEYS, PUBLIC, recorded


def test_no_file_makes_an_audit_grow(tmp_path: Path) -> None:
    """One process audits all files, so that leaked memory would show too."""
    made = {name: write(replay, KEYS.replays) for name, replay in greedy.events().items()} | greedy.files()
    keys = tmp_path / "KEY.pub"
    keys.write_text(KEYS.public, encoding="ascii")
    paths = []
    for number, data in enumerate(made.values()):
        paths.append(str(tmp_path / f"{number}.rollbook"))
        Path(paths[-1]).write_bytes(data)
    words = [sys.executable, "-m", "tests.replays.greedy", str(keys), *paths]
    # A small process in between starts the audit, because a child's memory begins with that of its parent.
    between = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    done = subprocess.run([sys.executable, "-c", between, *words], capture_output=True, text=True, check=True)
    told = dict(zip(made, (line.split("\t") for line in done.stdout.splitlines()), strict=True))
    print(done.stdout)
    assert MOST_GROWTH_KB > sum(int(growth) for growth, _, _ in told.values()), told
    assert {"diverged", "unreadable"} == {verdict for _, verdict, _ in told.values()}, told


@pytest.mark.parametrize("hiding", [True, False])
def test_a_count_that_no_game_has_is_compared_and_never_counted_out(hiding: bool) -> None:
    """The count diverges from the rules, and the report prints it as a number."""
    found = audit(write(greedy.claimed(hiding=hiding), KEYS.replays), PUBLIC)
    assert Verdict.DIVERGED is found.verdict
    assert found.divergence is not None
    assert (10, Check.DRAWS) == (found.divergence.event, found.divergence.check)
    assert f'"count":{greedy.CLAIMED}' in found.divergence.found


def test_an_event_has_at_most_as_many_bytes_as_the_format_says() -> None:
    """With one byte more the file is no replay; our own writer refuses it too."""
    replay = recorded("cant_stop", 2)
    assert [bytes(LARGEST_EVENT)] == list(read(write(one_event(LARGEST_EVENT), KEYS.replays)).replay.events)
    with pytest.raises(ValueError, match="larger than any event"):
        write(one_event(LARGEST_EVENT + 1), KEYS.replays)
    for data in greedy.files().values():
        with pytest.raises(NotAReplay, match=f"more than {LARGEST_EVENT} bytes|unknown or repeated fields"):
            read(data)
    assert LARGEST_EVENT > 50 * max(map(len, replay.events))


def one_event(size: int) -> Replay:
    """Return a replay whose only event is this many bytes, not necessarily a valid event."""
    return Replay("m", "cant_stop", 1, None, (bytes(size),))
