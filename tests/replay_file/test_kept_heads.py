"""Files of kept heads: written heads are read back, and other content is refused by line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rollbook.replay_file.kept_heads import WitnessedHead, numbered_heads, read_heads, write_heads
from rollbook.replay_file.lines import WrongLine

HEAD = WitnessedHead("cant_stop-7-0", 57, bytes(32), "0123456789abcdef", bytes(range(64)))


def test_heads_are_read_as_they_were_written() -> None:
    """The heads are of several matches, with empty lines between."""
    heads = [HEAD, WitnessedHead("raffzahn-1-2", 1, bytes(range(32)), "f" * 16, bytes(64))]
    lines = write_heads(heads)
    assert heads == read_heads(lines.replace("\n", "\n\n"))
    assert heads == read_heads("\ufeff# mine\r\n \t\r\n" + lines.replace("\n", "\r\n").rstrip())
    assert [(2, HEAD)] == list(numbered_heads("# mine\n" + json.dumps(json.loads(lines.splitlines()[0]))))
    assert ["match", "sequence", "link", "key_id", "signature"] == list(json.loads(lines.splitlines()[0]))


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("match", 7, "match must be"),
        ("match", "", "match must be"),
        ("match", "a b", "match must be"),
        ("match", "m" * 101, "match must be"),
        ("sequence", 57.0, "sequence must be"),
        ("link", "AA" * 32, "link must be 32 bytes"),
        ("link", " " + "00" * 32, "link must be 32 bytes"),
        ("link", "00 " * 21 + "00", "link must be 32 bytes"),
        ("sequence", 0, "sequence must be"),
        ("sequence", True, "sequence must be"),
        ("sequence", "57", "sequence must be"),
        ("sequence", 1 << 63, "sequence must be"),
        ("link", "00" * 31, "link must be 32 bytes"),
        ("link", None, "link must be 32 bytes"),
        ("key_id", "xyz", "key_id must be 8 bytes"),
        ("signature", "00", "signature must be 64 bytes"),
        ("more", 1, "a head is a JSON object of"),
    ],
)
def test_a_head_with_a_wrong_part_is_refused_by_its_line_and_the_part(key: str, value: Any, why: str) -> None:
    """The user can correct the named part."""
    first = write_heads([HEAD])
    wrong = json.dumps({**json.loads(first), key: value})
    with pytest.raises(WrongLine, match=f"2: {why}"):
        read_heads(f"{first}{wrong}\n")


def test_a_head_that_says_something_twice_is_refused() -> None:
    """Two readers could take two different heads from it."""
    line = write_heads([HEAD]).rstrip("\n}") + ',"sequence":58}'
    with pytest.raises(WrongLine, match="each of them once"):
        read_heads(line)


@pytest.mark.parametrize("line", ["{", "\x1b[2J", "# mine\x0b{}\n{", "[" * 900, "[]", '"' + "x" * 1_000 + '"', "7"])
def test_what_is_no_json_object_is_refused(line: str) -> None:
    """Nested and long values, which could harm a parser, are refused too."""
    with pytest.raises(WrongLine):
        read_heads(line)
