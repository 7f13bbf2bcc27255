"""Hostile files are refused with a reason, in little memory and time.

The memory of a real `rollbook audit` process is compared with that for a good file.
"""

from __future__ import annotations

import io
import random
import re
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from rollbook.replay_file import container
from rollbook.replay_file.container import LARGEST_FILE, NotAReplay, read
from rollbook_replays.tournament.bundle import NotABundle, open_bundle
from tests.replays.replaying import KEYS, recorded
from tests.replays.tournaments import bundled, small_cup

PEAK_BEYOND_GOOD_KB: Final = 96 << 10
SECONDS: Final = 120
"""Far more seconds than any file takes, also on a busy machine."""

GIGABYTES: Final = 0xFFFF_FFFF


def peak(command: str, *files: Path) -> tuple[int, str, int]:
    """Run a command; returns exit code, output, and its largest memory in KiB."""
    # A small process in between starts the command, because a child's memory begins with that of its parent.
    script = (
        "import resource, subprocess, sys\n"
        "code = subprocess.run(sys.argv[1:], stderr=subprocess.STDOUT).returncode\n"
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)"
    )
    words = [sys.executable, "-c", script, sys.executable, "-m", "rollbook", command, *map(str, files)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=SECONDS)
    code, most = done.stderr.split()
    return int(code), done.stdout, int(most)


def around(packed: bytes, names: bytes = b"", *, body: int | None = None, named: int | None = None) -> bytes:
    """Return a file whose lengths may be wrong."""
    claimed = len(packed) if body is None else body
    header = container._HEADER.pack(container.MAGIC, container.VERSION, 0, claimed)
    names_length = struct.pack(">I", len(names) if named is None else named)
    return header + packed + names_length + names + bytes(container._FOOTER.size)


def many(tag: bytes) -> bytes:
    """Return a body of millions of empty messages, two bytes each."""
    return tag * ((LARGEST_FILE - 200) // len(tag))


REPLAYS: Final[dict[str, tuple[Callable[[], bytes], str]]] = {
    "truncated": (lambda: container.write(recorded("cant_stop", 2), KEYS.replays)[:200], "cut"),
    "body of gigabytes": (lambda: around(b"", body=GIGABYTES), "cut"),
    "names of gigabytes": (lambda: around(b"x", named=GIGABYTES), "cut"),
    "too large": (lambda: container.MAGIC + bytes(LARGEST_FILE), "at most"),
    "body of zeros": (lambda: around(bytes(LARGEST_FILE - 200)), "more than 30010 fields"),
    "events without end": (lambda: around(many(b"\x2a\x00")), "more than 30010 fields"),
    "hidden outcomes without end": (lambda: around(many(b"\x32\x00")), "more than 30010 fields"),
    "heads without end": (lambda: around(many(b"\x3a\x00")), "more than 30010 fields"),
    "a head of heads": (
        lambda: around(b"\x3a\xe0\xff\xff\x03" + b"\x3a\x00" * 4_000_000),
        "no replay",
    ),
    "field of gigabytes": (lambda: around(b"\x2a" + b"\xff" * 9 + b"\x01" + bytes(99)), "no replay"),
    "garbage": (lambda: random.Random(1).randbytes(100_000), "magic"),
    "nothing": (lambda: b"", "magic"),
}


@pytest.fixture(scope="module")
def good_kb(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The memory of an audit of a good file, in KiB."""
    file = tmp_path_factory.mktemp("good") / "good.rollbook"
    file.write_bytes(container.write(recorded("cant_stop", 2), KEYS.replays))
    return peak("audit", file)[2]


@pytest.mark.parametrize("name", REPLAYS)
def test_hostile_replays_are_refused_with_the_reason(name: str) -> None:
    """The reader ignores the lengths that a file claims."""
    make, why = REPLAYS[name]
    with pytest.raises(NotAReplay, match=why):
        read(make())


def test_hostile_replays_are_audited_in_little_memory(good_kb: int, tmp_path: Path) -> None:
    """One process audits all files, prints the reason of each and continues."""
    files = []
    for number, (make, _) in enumerate(REPLAYS.values()):
        files.append(tmp_path / f"{number}.rollbook")
        files[-1].write_bytes(make())
    code, said, kb = peak("audit", *files)
    assert (3, len(files)) == (code, said.count(": UNREADABLE: "))
    assert "Traceback" not in said
    assert kb < good_kb + PEAK_BEYOND_GOOD_KB


@pytest.mark.parametrize("name", ["events without end", "heads without end", "truncated"])
def test_hostile_replays_are_not_shown(name: str, good_kb: int, tmp_path: Path) -> None:
    """`show` prints the reason and takes little memory."""
    make, why = REPLAYS[name]
    file = tmp_path / "hostile.rollbook"
    file.write_bytes(make())
    code, said, kb = peak("show", file)
    assert (3, True) == (code, why in said)
    assert "Traceback" not in said
    assert kb < good_kb + PEAK_BEYOND_GOOD_KB


def archive(entries: list[tuple[zipfile.ZipInfo | str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    """Return a zip archive without dates."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression) as made:
        for name, data in entries:
            info = zipfile.ZipInfo(name) if isinstance(name, str) else name
            info.compress_type = compression
            made.writestr(info, data)
    return written.getvalue()


def link() -> zipfile.ZipInfo:
    """Return an entry that is a symbolic link."""
    info = zipfile.ZipInfo("matches/link.rollbook")
    info.create_system = 3
    info.external_attr = 0o120777 << 16
    return info


def good_bundle() -> bytes:
    """Return a valid bundle."""
    return bundled(*small_cup())


def patched(data: bytes, behind: bytes, at: int, new: bytes) -> bytes:
    """Replace bytes at an offset after the last occurrence of a pattern."""
    start = data.rindex(behind) + at
    return data[:start] + new + data[start + len(new) :]


LOCAL: Final = b"PK\x03\x04"
CENTRAL: Final = b"PK\x01\x02"
END: Final = b"PK\x05\x06"


BUNDLES: Final[list[tuple[Callable[[], bytes], str]]] = [
    (lambda: archive([("../manifest.toml", b"")]), "is no entry of a bundle"),
    (lambda: archive([("/etc/passwd", b"")]), "is no entry of a bundle"),
    (lambda: archive([("matches/../../x.rollbook", b"")]), "is no entry of a bundle"),
    (lambda: archive([("matches/..rollbook", b"")]), "is no entry of a bundle"),
    (lambda: archive([("matches\\x.rollbook", b"")]), "is no entry of a bundle"),
    (lambda: archive([("matches/", b"")]), "is no entry of a bundle"),
    (lambda: archive([(f"matches/{'x' * 101}.rollbook", b"")]), "is no entry of a bundle"),
    (lambda: archive([("matches/é.rollbook", b"")]), "is no entry of a bundle"),
    (
        lambda: archive([("manifest.toml", b""), (link(), b"/etc/passwd"), ("SIGNATURE", b"")]),
        "just their directory",
    ),
    (lambda: archive([("manifest.toml", bytes(1 << 28))], zipfile.ZIP_DEFLATED), "stores its files as they are"),
    (lambda: archive([("matches/x.rollbook", bytes(LARGEST_FILE + 1))]), "a replay has at most"),
    (lambda: archive([("manifest.toml", b"")]), "there is no SIGNATURE"),
    (lambda: archive([("SIGNATURE", b"")]), "there is no manifest.toml"),
    (lambda: good_bundle().replace(b"2026", b"20x6", 1), "manifest.toml: "),
    (lambda: re.sub(rb"[0-9a-f]{16} [0-9a-f]{128}", bytes(145), good_bundle()), "SIGNATURE is no line"),
    (lambda: good_bundle()[:-1], "cut or extended"),
    (lambda: good_bundle() + b"x", "cut or extended"),
    (lambda: good_bundle()[:60], "the archive was cut"),
    (lambda: b"PK\x03\x04", "there is no manifest.toml"),
    (lambda: b"PK\x03\x04" + random.Random(2).randbytes(10_000), "is no entry of a bundle"),
    # The directory claims an entry of four gigabytes, a wrong offset, 65,535 entries, and a huge directory.
    (lambda: patched(good_bundle(), CENTRAL, 20, b"\xff\xff\xff\xff" * 2), "just their directory"),
    (lambda: patched(good_bundle(), CENTRAL, 42, b"\x00\x00\x00\x00"), "just their directory"),
    (lambda: patched(good_bundle(), CENTRAL, 46, b"SIGNATURF"), "just their directory"),
    (lambda: patched(good_bundle(), END, 8, b"\xff\xff\xff\xff"), "just their directory"),
    (lambda: patched(good_bundle(), END, 12, b"\xff\xff\xff\xff"), "just their directory"),
    (lambda: patched(good_bundle(), CENTRAL, 8, b"\x01\x00"), "just their directory"),
    (lambda: patched(good_bundle(), CENTRAL, 10, b"\x08\x00"), "just their directory"),
    (lambda: good_bundle().replace(b"manifest.toml", b"manifest.lmot", 1), "is no entry of a bundle"),
    (lambda: patched(good_bundle(), END, -20, b"PK\x06\x07" + bytes(16)), "just their directory"),
    (lambda: patched(good_bundle(), LOCAL, 18, b"\xff\xff\xff\xff" * 2), "goes beyond its end"),
]


@pytest.mark.parametrize(("make", "why"), BUNDLES)
def test_hostile_bundles_are_refused(make: Callable[[], bytes], why: str, tmp_path: Path) -> None:
    """The reader uses no name as a path, unpacks no entry, and trusts no number."""
    file = tmp_path / "hostile.zip"
    file.write_bytes(make())
    with pytest.raises(NotABundle, match=why):
        open_bundle(file)


def test_an_entry_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Zip readers disagree on which of two equal entries counts."""
    with pytest.warns(UserWarning, match="Duplicate"):
        data = archive([("manifest.toml", b"a"), ("manifest.toml", b"b")])
    (tmp_path / "twice.zip").write_bytes(data)
    with pytest.raises(NotABundle, match="is there twice"):
        open_bundle(tmp_path / "twice.zip")


def test_a_sparse_bundle_of_terabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    """A sparse file takes no space on a disk, but would take a day to read."""
    file = tmp_path / "sparse.zip"
    with file.open("wb") as sparse:
        sparse.write(b"PK\x03\x04")
        sparse.truncate(1 << 40)
    with pytest.raises(NotABundle, match="at most"):
        open_bundle(file)


def test_a_zip_bomb_is_audited_in_little_memory(good_kb: int, tmp_path: Path) -> None:
    """A real audit process reads the file."""
    file = tmp_path / "bomb.zip"
    file.write_bytes(archive([("manifest.toml", bytes(1 << 29))], zipfile.ZIP_DEFLATED))
    code, said, kb = peak("audit", file)
    assert (3, True) == (code, "stores its files as they are" in said)
    assert kb < good_kb + PEAK_BEYOND_GOOD_KB


def test_a_huge_file_is_read_no_further_than_a_replay_is_long(good_kb: int, tmp_path: Path) -> None:
    """A sparse file costs a forger nothing."""
    file = tmp_path / "huge.rollbook"
    with file.open("wb") as huge:
        huge.truncate(1 << 33)
    code, said, kb = peak("show", file)
    assert (3, True) == (code, "magic" in said)
    assert kb < good_kb + PEAK_BEYOND_GOOD_KB


def test_a_device_is_not_read_at_all(good_kb: int) -> None:
    """A device may send data for ever, or never."""
    code, said, kb = peak("show", Path("/dev/zero"))
    assert (3, True) == (code, "a pipe or a device, and no file" in said)
    assert kb < good_kb + PEAK_BEYOND_GOOD_KB
