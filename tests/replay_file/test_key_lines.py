"""Key files for audits: written keys are read back, and other content is refused by line."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.replay_file import key_lines as public_keys
from rollbook.replay_file.key_lines import KeyRole, KnownKey, key_id, key_line, keys_of_service, read_keys, write_keys
from rollbook.replay_file.lines import WrongLine
from tests.test_ed25519 import SMALL_ORDER

ONE = KnownKey(Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key(), KeyRole.HEAD, "Rollbook Köln e. V.")
TWO = KnownKey(Ed25519PrivateKey.from_private_bytes(bytes(31) + b"\1").public_key(), KeyRole.REPLAY, "#2")
WEAK = bytes.fromhex(SMALL_ORDER[0])


def refusal(text: str) -> WrongLine:
    """Return the refusal of a text."""
    with pytest.raises(WrongLine) as refused:
        read_keys(text)
    return refused.value


def test_keys_are_read_as_they_were_written() -> None:
    """Keys are read with their ids, roles and names, which reach to the end of the line."""
    lines = write_keys([ONE, TWO])
    assert f"{key_line(ONE.public)} head Rollbook Köln e. V.\n{key_line(TWO.public)} replay #2\n" == lines
    assert {ONE.key_id: ONE, TWO.key_id: TWO} == read_keys(lines)
    assert {} == read_keys("")


def test_what_editors_leave_in_a_file_does_not_matter() -> None:
    """A byte-order mark, Windows line ends, blank lines, comments, and a missing last line end."""
    lines = write_keys([ONE, TWO])
    windows = "\ufeff# of the spring cup\n \t\n\n" + lines
    for text in (windows, windows.replace("\n", "\r\n"), lines.rstrip("\n"), lines + lines, "\ufeff" + lines):
        assert {ONE.key_id: ONE, TWO.key_id: TWO} == read_keys(text)


@pytest.mark.parametrize(
    "line",
    [
        "no key",
        "0123456789abcdef",
        ONE.line.replace(" ", "  ", 1),
        ONE.line.upper(),
        f" {ONE.line}",
        f"{ONE.line} ",
        f"{ONE.line}\r",
        f"{ONE.line}\x85{TWO.line}",
        f"{ONE.line}\v{TWO.line}",
        f"{ONE.line}\u2028",
        f"{ONE.line}\x1b[2J",
        ONE.line.replace(" head ", " head  "),
        ONE.line.replace(" head ", "\thead "),
        ONE.line.replace(" head ", " HEAD "),
        ONE.line.replace(" head ", " judge "),
        ONE.line.replace("Rollbook", "Roll\u200bbook"),
        ONE.line + "x" * public_keys.LONGEST_NAME,
        f"{key_line(ONE.public)} head",
        f"{key_line(ONE.public)} head ",
        f"\ufeff{ONE.line}",
        f" # {ONE.line}",
        "0" * 16 + ONE.line[16:],
        ONE.line[:40] + ONE.line[42:],
        "-----BEGIN PRIVATE KEY-----",
        f"{'0' * 16} {WEAK.hex()} head weak",
        "\x1b[2J",
    ],
    ids=ascii,
)
def test_a_line_that_is_no_key_is_refused_by_its_number(line: str) -> None:
    """A key under another's name could sign for it; and the refusal can be printed safely."""
    end = "\n" if not line.endswith("\r") else "\r\n"
    refused = refusal(f"{TWO.line}\n# comment\n{line}{end}")
    assert (3, True) == (refused.line, str(refused).isprintable())


@pytest.mark.parametrize("line", [key_line(ONE.public), f"{key_line(ONE.public)} ", f"{key_line(ONE.public)} Rollbook"])
def test_a_line_without_a_role_is_refused_with_how_to_get_a_good_one(line: str) -> None:
    """Files from before the roles, and hand-made files, have lines without a role."""
    assert "`rollbook key DATA --published` writes" in refusal(line).reason
    assert "--role bundle --name" in refusal(line).reason


@pytest.mark.parametrize("other", [KnownKey(ONE.public, KeyRole.BUNDLE, ONE.name), KnownKey(ONE.public, ONE.role, "b")])
def test_a_key_has_one_role_and_one_name(other: KnownKey) -> None:
    """Otherwise it would vouch for two services or have both roles; the check covers several files."""
    why = f"key {ONE.key_id} is {other} here, and {ONE} before: it can be but one of them"
    assert (2, why) == (refusal(write_keys([ONE, other])).line, refusal(write_keys([ONE, other])).reason)
    with pytest.raises(WrongLine, match="1: "):
        read_keys(write_keys([other]), {ONE.key_id: ONE})
    assert {ONE.key_id: ONE, TWO.key_id: TWO} == read_keys(write_keys([TWO, ONE]), {ONE.key_id: ONE})


def test_the_keys_of_a_service_are_called_by_its_name_or_by_its_oldest_head_key() -> None:
    """The oldest key stays when keys are rotated, so the name stays too."""
    one, two, three = (Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32).public_key() for number in range(3))
    keys = keys_of_service([one, two], [three])
    roles = [KeyRole.HEAD, KeyRole.HEAD, KeyRole.REPLAY]
    assert [KnownKey(key, role, key_id(one)) for key, role in zip([one, two, three], roles, strict=True)] == keys
    assert {"Rollbook"} == {key.name for key in keys_of_service([one], [three], "Rollbook")}
    with pytest.raises(ValueError, match="needs a name"):
        keys_of_service([], [three])


def test_a_file_of_too_many_keys_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's file cannot fill the judge's memory."""
    monkeypatch.setattr(public_keys, "MOST_KEYS", 1)
    with pytest.raises(WrongLine, match="2: there are at most 1 keys"):
        read_keys(write_keys([ONE, TWO]))
    assert {ONE.key_id: ONE} == read_keys(write_keys([ONE, ONE]))


def test_a_carriage_return_ends_a_line_only_before_a_line_feed() -> None:
    """The last line may lack its end; a carriage return there belongs to no name."""
    assert {ONE.key_id: ONE} == read_keys(f"{ONE.line}\r\n")
    with pytest.raises(WrongLine, match="1: a name has"):
        read_keys(f"{ONE.line}\r")
