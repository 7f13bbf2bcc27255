"""Files are written completely or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from rollbook.files import appearing, create_file, write_file


def mode_of(path: Path) -> int:
    """Return the permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_nothing_has_the_name_of_a_file_before_all_of_it_is_there(tmp_path: Path) -> None:
    """A reader never sees a partial file; until then only its owner can read the draft."""
    path = tmp_path / "whole"
    with appearing(path) as file:
        file.write(b"all of it")
        assert not path.exists()
        assert [0o600] == [mode_of(draft) for draft in tmp_path.iterdir()]
    assert (b"all of it", 0o644) == (path.read_bytes(), mode_of(path))
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path, *, overwrite: bool) -> None:
    """The old file stays unchanged, and no draft remains."""
    path = tmp_path / "whole"
    write_file(path, b"old", 0o600)

    def fail() -> None:
        with appearing(path, overwrite=overwrite) as file:
            file.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (b"old", 0o600) == (path.read_bytes(), mode_of(path))
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_replaced_whole(tmp_path: Path, *, durable: bool) -> None:
    """It gets the requested mode, not that of the old file."""
    path = tmp_path / "whole"
    write_file(path, b"old", 0o600)
    write_file(path, b"new", durable=durable)
    assert (b"new", 0o644) == (path.read_bytes(), mode_of(path))


def test_a_file_is_created_once(tmp_path: Path) -> None:
    """The second writer gets an error and changes nothing."""
    path = tmp_path / "whole"
    assert create_file(path, b"first", 0o600)
    assert not create_file(path, b"second")
    assert (b"first", 0o600) == (path.read_bytes(), mode_of(path))
    assert [path] == list(tmp_path.iterdir())


def test_every_step_is_told_in_order(tmp_path: Path) -> None:
    """Crash tests end the process at a step, so each step has to come in its order."""
    path, told = tmp_path / "whole", []
    with appearing(path, step=lambda name: told.append((name, path.exists()))) as file:
        file.write(b"all of it")
    assert [("written", False), ("renamed", True), ("synced", True)] == told


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    """/dev/stdout or /dev/null must not be replaced by a file, not even by root."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(path, b"all of it")
        assert b"all of it" == os.read(reading, 100)
    finally:
        os.close(reading)
    assert [path] == list(tmp_path.iterdir())
    assert path.is_fifo()


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    """Like in an editor, the target of the link is replaced."""
    path, link = tmp_path / "whole", tmp_path / "link"
    link.symlink_to(path)
    for text in (b"first", b"second"):
        write_file(link, text)
        assert (text, True) == (path.read_bytes(), link.is_symlink())
