"""Key files for audits: what is written is read, and whatever else stands there is refused by its line."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.replay_file import key_lines as public_keys
from rollbook.replay_file.key_lines import key_line, read_keys, write_keys
from rollbook.replay_file.lines import WrongLine

ONE = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key()
TWO = Ed25519PrivateKey.from_private_bytes(bytes(31) + b"\1").public_key()


def test_keys_are_read_as_they_were_written() -> None:
    """Under the ids by which files and heads name them, also with empty lines between."""
    lines = write_keys([ONE, TWO])
    assert f"{key_line(ONE)}\n{key_line(TWO)}\n" == lines
    read = read_keys("\n" + lines.replace("\n", "\r\n"))
    assert [(public_keys.key_id(key), key) for key in (ONE, TWO)] == list(read.items())


@pytest.mark.parametrize(
    "line",
    [
        "no key",
        "0123456789abcdef",
        key_line(ONE)[:-2],
        key_line(ONE).replace(" ", "  0"),
        "0" * 16 + key_line(ONE)[16:],
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_a_line_that_is_no_key_is_refused_by_its_number(line: str) -> None:
    """A key under another's name would let anybody sign."""
    with pytest.raises(WrongLine) as refused:
        read_keys(f"{key_line(TWO)}\n{line}\n")
    assert 2 == refused.value.line


def test_a_file_of_too_many_keys_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge's memory is not for a stranger to fill."""
    monkeypatch.setattr(public_keys, "MOST_KEYS", 1)
    with pytest.raises(WrongLine, match="2: a key file holds at most 1 keys"):
        read_keys(write_keys([ONE, TWO]))
