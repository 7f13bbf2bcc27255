"""Replay files are read from disk, plain or in gzip, up to the largest size of a replay."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from rollbook.replay_file.container import LARGEST_FILE, NotAReplay
from rollbook.replay_file.disk import read_file

DATA = b"\x89ROLL and so on" * 100
PACKED = gzip.compress(DATA, mtime=0)


def written(folder: Path, data: bytes) -> Path:
    """Write a file with this content."""
    file = folder / "match.rollbook.gz"
    file.write_bytes(data)
    return file


@pytest.mark.parametrize("data", [DATA, PACKED, b""], ids=["as it is", "packed", "empty"])
def test_a_file_is_read_whether_it_is_packed_or_not(data: bytes, tmp_path: Path) -> None:
    """A file may be compressed under any name."""
    assert (DATA if data else b"") == read_file(written(tmp_path, data))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (PACKED[:-1], "cut or extended"),
        (PACKED + b"\0", "cut or extended"),
        (PACKED + PACKED, "cut or extended"),
        (PACKED[:2], "cut or extended"),
        (PACKED[:-8] + bytes(8), "cannot be unpacked"),
        (b"\x1f\x8bnonsense", "cannot be unpacked"),
        (gzip.compress(bytes(LARGEST_FILE + 1)), "unpacks to more than"),
        (gzip.compress(bytes(1 << 28)), "unpacks to more than"),
    ],
    ids=["cut", "extended", "two streams", "magic alone", "checksum", "nonsense", "too large", "bomb"],
)
def test_what_was_not_packed_well_is_no_replay(data: bytes, why: str, tmp_path: Path) -> None:
    """A zip bomb is unpacked at most to the largest size of a replay."""
    with pytest.raises(NotAReplay, match=why):
        read_file(written(tmp_path, data))


def test_a_file_that_is_too_large_is_read_so_far_that_it_shows(tmp_path: Path) -> None:
    """One byte beyond the limit is read, so the reader can refuse the file with little memory."""
    assert LARGEST_FILE + 1 == len(read_file(written(tmp_path, bytes(LARGEST_FILE + 1_000))))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe may never have a writer."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a pipe or a device"):
        read_file(tmp_path / "pipe")
