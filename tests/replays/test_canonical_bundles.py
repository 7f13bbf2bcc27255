"""The form of a bundle is canonical: the same entries in another archive are refused, although every hash is signed.

These archives are built byte by byte from the page alone, so that each can differ in one thing.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from rollbook.replay_file.key_lines import write_keys
from rollbook_replays.commands.audit import audit
from tests.replays.tournaments import KEYS_OF_JUDGE, bundled, small_cup

Judge = Callable[[bytes], int]
GOOD, DIVERGED, UNREADABLE = 0, 1, 3


@dataclass(frozen=True)
class Archive:
    """The parts of an archive; the defaults are those of a bundle."""

    flags: int = 0
    needs: int = 20
    time: int = 0
    date: int = 0x21
    extra: bytes = b""
    """Bytes after every name at the entries."""
    listed_extra: bytes = b""
    """Bytes after every name in the directory."""
    listed_date: int = 0x21
    comment: bytes = b""
    """The comment of every entry."""
    archive_comment: bytes = b""
    made: int = 0x314
    mode: int = 0o100644
    internal: int = 0
    before: bytes = b""
    """Bytes before the first entry."""
    between: bytes = b""
    """Bytes before every other entry."""
    before_directory: bytes = b""
    before_end: bytes = b""
    wrong_checksum: str = ""
    """The name of the entry with a wrong checksum."""

    def of(self, entries: Mapping[str, bytes]) -> bytes:
        """Build the archive of these entries in this order."""
        made, listed = bytearray(self.before), bytearray()
        for number, (name, data) in enumerate(entries.items()):
            made += self.between if number else b""
            at = len(made)
            crc = zlib.crc32(data) ^ (name == self.wrong_checksum)
            sizes = (crc, len(data), len(data), len(name))
            version = (self.needs, self.flags, 0, self.time)
            made += struct.pack("<4s5H3L2H", b"PK\3\4", *version, self.date, *sizes, len(self.extra))
            made += name.encode() + self.extra + data
            listed += struct.pack(
                "<4s6H3L5H2L",
                b"PK\1\2",
                self.made,
                *version,
                self.listed_date,
                *sizes,
                len(self.listed_extra),
                len(self.comment),
                0,
                self.internal,
                self.mode << 16,
                at,
            )
            listed += name.encode() + self.listed_extra + self.comment
        made += self.before_directory
        count = len(entries)
        ending = (0, 0, count, count, len(listed), len(made), len(self.archive_comment))
        return (
            bytes(made + listed) + self.before_end + struct.pack("<4s4H2LH", b"PK\5\6", *ending) + self.archive_comment
        )


@pytest.fixture
def entries() -> dict[str, bytes]:
    """Return the entries of a good bundle, in order, with the signature."""
    return entries_of(*small_cup())


def entries_of(described: str, matches: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the entries of the bundle of these matches."""
    data = bundled(described, matches)
    found = {f"matches/{match_id}.rollbook": matches[match_id] for match_id in sorted(matches)}
    signature = data[data.index(b"SIGNATURE") + len("SIGNATURE") :][: 16 + 1 + 128 + 1]
    return {"manifest.toml": described.encode(), **found, "SIGNATURE": signature}


@pytest.fixture
def judged(tmp_path: Path) -> Judge:
    """Return a judge that audits an archive with all needed keys and returns the exit code."""
    keys, file = tmp_path / "judge.pub", tmp_path / "cup.zip"
    keys.write_text(write_keys(KEYS_OF_JUDGE.values()))

    def judged(data: bytes) -> int:
        file.write_bytes(data)
        return audit(file, key=[keys], jobs=1)

    return judged


def test_an_archive_made_from_the_page_is_the_one_that_is_written(entries: dict[str, bytes], judged: Judge) -> None:
    """The page defines every byte, so each archive below differs in one thing only."""
    assert bundled(*small_cup()) == Archive().of(entries)
    assert GOOD == judged(Archive().of(entries))


OTHERS: Final[list[tuple[dict[str, Any], str]]] = [
    ({"date": 0x5C21}, "dated or has extra fields"),
    ({"time": 1}, "dated or has extra fields"),
    ({"listed_date": 0x5C21}, "stands not just their directory"),
    ({"extra": b"\xca\xfe\4\0Anna"}, "dated or has extra fields"),
    ({"listed_extra": b"\xca\xfe\4\0Anna"}, "stands not just their directory"),
    ({"comment": b"Anna"}, "stands not just their directory"),
    ({"archive_comment": b"Anna"}, "stands not just their directory"),
    ({"before_directory": b"Anna"}, "stands not just their directory"),
    ({"before_end": b"Anna"}, "stands not just their directory"),
    ({"between": b"Anna"}, "there is no SIGNATURE"),
    ({"flags": 0x800}, "dated or has extra fields"),
    ({"flags": 1}, "dated or has extra fields"),
    ({"needs": 45}, "dated or has extra fields"),
    ({"made": 0x14}, "stands not just their directory"),
    ({"mode": 0o120777}, "stands not just their directory"),
    ({"internal": 1}, "stands not just their directory"),
]


@pytest.mark.parametrize(("other", "why"), OTHERS)
def test_the_same_entries_in_any_other_archive_are_no_bundle(
    other: dict[str, Any],
    why: str,
    entries: dict[str, bytes],
    judged: Judge,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Bytes outside the list could mean anything, and the signature does not cover them."""
    assert UNREADABLE == judged(Archive(**other).of(entries))
    assert why in capsys.readouterr().out


def test_what_stands_before_the_first_entry_makes_it_no_bundle(entries: dict[str, bytes], judged: Judge) -> None:
    """Programs that unpack archives ignore such bytes."""
    assert UNREADABLE == judged(Archive(before=b"Anna").of(entries))


def test_entries_in_another_order_are_no_bundle(
    entries: dict[str, bytes], judged: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    """The signature covers sorted lines, so it does not fix the order."""
    names = list(entries)
    for order in ([*names[:1], *reversed(names[1:-1]), names[-1]], names[::-1], [*names[1:-1], names[0], names[-1]]):
        assert UNREADABLE == judged(Archive().of({name: entries[name] for name in order}))
        assert "the entries are not in their order" in capsys.readouterr().out


def test_an_entry_with_another_checksum_was_changed(
    entries: dict[str, bytes], judged: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    """An archive with a wrong checksum is refused even if the signature is valid."""
    for name in ("manifest.toml", "matches/wuerfelzoo-7-0.rollbook", "SIGNATURE"):
        assert DIVERGED == judged(Archive(wrong_checksum=name).of(entries))
        assert f"signature ({name}): expected the checksum of its bytes" in capsys.readouterr().out
