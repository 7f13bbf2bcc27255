"""`replays/FORMAT.md` is right: today's code makes its example, and a reader written from the page reads it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cryptography.exceptions import InvalidSignature

from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import LARGEST_FILE, LARGEST_NAMES, read, write
from rollbook.replay_file.key_lines import read_keys
from rollbook.replay_file.recording import Keys, record
from rollbook.rules.catalogue import find
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Check, Verdict
from tests.replays import mini_reader
from tests.replays.example import KEYS as EXAMPLE_KEYS
from tests.replays.example import PAGE, example, shown
from tests.replays.forging import SERVICE, body_and_names, file_of, footer_of


def test_the_example_of_the_page_is_what_is_written_today() -> None:
    """Authors who test a reader with the example test it with the current format."""
    keys, data = shown()
    assert data == write(example(), EXAMPLE_KEYS.replays), "python -m tests.replays.example remakes it"
    assert len(data) < 1_200
    assert Verdict.EXACT is audit(data, read_keys(keys)).verdict


def test_a_reader_written_from_the_page_alone_reads_the_example() -> None:
    """The reader checks signatures, chain, heads, secret, entropy and the dice of the only throw."""
    keys, data = shown()
    proved = mini_reader.read(data, mini_reader.public_keys(keys))
    assert ("m", "cant_stop", ["Anna", "Tom"]) == (proved.match_id, proved.game, proved.names)
    assert EXAMPLE_KEYS.name == proved.service
    first_seat, roll = proved.events[6:8]
    assert mini_reader.one(mini_reader.part(first_seat, 6, 1, 12, 1), 1, 0) == proved.uniform(1)(2)
    die = proved.uniform(2)
    assert mini_reader.part(roll, 6, 1, 12, 2, 1) == bytes(die(6) + 1 for _ in range(4))


@pytest.mark.parametrize("game", ["cant_stop", "allie_gator"])
def test_it_reads_whole_matches_and_refuses_changed_ones(game: str) -> None:
    """Two programs without shared code agree about a file."""
    keys = Keys.of(3)
    data = write(record(Simulation(find(game), {}, 3, 3, 0), keys.heads), keys.replays)
    public = mini_reader.public_keys(keys.public)
    assert len(read(data).replay.events) == len(mini_reader.read(data, public).events)
    for spoilt in (len(data) - 1, 40):
        wrong = bytearray(data)
        wrong[spoilt] ^= 1
        with pytest.raises(InvalidSignature):
            mini_reader.read(bytes(wrong), public)


def test_it_refuses_what_is_written_in_another_way() -> None:
    """Files signed by the right keys with an unknown field, and with names of seats that do not exist."""
    replay = record(Simulation(find("cant_stop"), {}, 3, 3, 0), SERVICE.heads)
    public = mini_reader.public_keys(SERVICE.public)

    def file(which: int | None = None, names: tuple[str, ...] = replay.names) -> bytes:
        body, named = body_and_names(replace(replay, names=names))
        if which is not None:
            (body, body.heads[0], named)[which].MergeFromString(b"\xfa\x07\x04Anna")
        packed, said = (message.SerializeToString(deterministic=True) for message in (body, named))
        return file_of(packed, footer_of(replay), said)

    assert len(replay.events) == len(mini_reader.read(file(), public).events)
    for spoilt in (file(0), file(1), file(2), file(names=("", "", ""))):
        with pytest.raises((AssertionError, KeyError)):
            mini_reader.read(spoilt, public)


def test_the_page_names_every_check_and_the_limits() -> None:
    """Authors of readers find every check and limit on the page."""
    page = PAGE.read_text(encoding="utf-8")
    for check in Check:
        assert f"| `{check}` |" in page
    for limit in (f"{LARGEST_FILE >> 20} MiB", f"{LARGEST_NAMES >> 10} KiB"):
        assert limit in page
