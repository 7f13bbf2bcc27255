"""Files that describe trusted issuers. They are read strictly, because they decide whose tokens are accepted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rollbook.identity import issuers
from rollbook.identity.issuers import IssuerReason, IssuerRefused, read_issuer, read_issuers
from rollbook.identity.tokens import Role, TrustedIssuer, Verifier
from rollbook.replay_file.key_lines import key_id, key_line
from tests.identity.forging import CLUB, NOW, OURS, STRANGER, base64url, token
from tests.test_ed25519 import SMALL_ORDER

WEB_KEY = {
    "kty": "OKP",
    "crv": "Ed25519",
    "kid": "2027",
    "x": base64url(CLUB.public_key().public_bytes_raw()).decode(),
}
WEAK = bytes.fromhex(SMALL_ORDER[4])
DESCRIBED: dict[str, Any] = {"issuer": "https://club.example", "roles": ["player", "judge"], "keys": [WEB_KEY]}


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes the description of an issuer with some members changed."""

    def write(name: str = "club.json", **changed: Any) -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(DESCRIBED | changed), "utf-8")
        path.chmod(0o644)
        return path

    return write


def refused(path: Path) -> tuple[IssuerReason, str]:
    """Read the file, which must be refused; return the reason."""
    with pytest.raises(IssuerRefused) as caught:
        read_issuer(path)
    return caught.value.reason, caught.value.why


def test_a_file_says_who_may_sign_and_which_roles_they_give(written: Callable[..., Path]) -> None:
    """Accepts JSON Web Keys with irrelevant members, and keys as `rollbook key` prints them."""
    line = key_line(STRANGER.public_key())
    read = read_issuer(written(keys=[WEB_KEY | {"use": "sig", "alg": "Ed25519"}, line]))
    keys = {"2027": CLUB.public_key(), key_id(STRANGER.public_key()): STRANGER.public_key()}
    assert TrustedIssuer("https://club.example", keys, frozenset({Role.PLAYER, Role.JUDGE})) == read
    signed = token({"alg": "Ed25519", "kid": "2027"}, CLUB, iss="https://club.example")
    assert "https://club.example" == Verifier([read], lambda: NOW).verify(signed).issuer


def test_the_example_in_the_documentation_is_one(tmp_path: Path) -> None:
    """Readers can copy the example and use it."""
    text = issuers.__doc__ or ""
    path = tmp_path / "example.json"
    path.write_text(text[text.index("{") : text.rindex("}") + 1], "utf-8")
    path.chmod(0o600)
    read = read_issuer(path)
    assert ("https://club.example", ["2027", "21fe31dfa154a261"]) == (read.name, list(read.keys))


@pytest.mark.parametrize(
    ("changed", "reason", "says"),
    [
        ({"issuer": "rollbook"}, IssuerReason.NAME_REFUSED, "is the service itself"),
        ({"issuer": ""}, IssuerReason.NAME_REFUSED, "1 to 200"),
        ({"issuer": "a\u202eb"}, IssuerReason.NAME_REFUSED, "printable"),
        ({"issuer": 7}, IssuerReason.NAME_REFUSED, "1 to 200"),
        ({"roles": []}, IssuerReason.ROLES_REFUSED, "one or more of player, judge, operator"),
        ({"roles": "player"}, IssuerReason.ROLES_REFUSED, "list"),
        ({"roles": ["player", "king"]}, IssuerReason.ROLES_REFUSED, "player, judge, operator"),
        ({"roles": ["player", ["judge"]]}, IssuerReason.ROLES_REFUSED, "player, judge, operator"),
        ({"keys": []}, IssuerReason.KEYS_REFUSED, "1 to 64 keys"),
        ({"keys": {}}, IssuerReason.KEYS_REFUSED, "1 to 64 keys"),
        ({"keys": [WEB_KEY] * 65}, IssuerReason.KEYS_REFUSED, "1 to 64 keys"),
        ({"keys": [WEB_KEY, WEB_KEY]}, IssuerReason.KEYS_REFUSED, "key 2 has the id of a key before it"),
        ({"keys": [7]}, IssuerReason.KEYS_REFUSED, "key 1 is not a JSON Web Key"),
        ({"keys": [WEB_KEY | {"kty": "RSA"}]}, IssuerReason.KEYS_REFUSED, "not a JSON Web Key with"),
        ({"keys": [WEB_KEY | {"crv": "X25519"}]}, IssuerReason.KEYS_REFUSED, "not a JSON Web Key with"),
        ({"keys": [WEB_KEY | {"d": "secret"}]}, IssuerReason.KEYS_REFUSED, "is a private key"),
        ({"keys": [WEB_KEY | {"kid": ""}]}, IssuerReason.KEYS_REFUSED, "needs a kid"),
        ({"keys": [WEB_KEY | {"x": "AAAA"}]}, IssuerReason.KEYS_REFUSED, "needs an x of 43 characters"),
        ({"keys": [WEB_KEY | {"x": "!" * 43}]}, IssuerReason.KEYS_REFUSED, "needs an x of 43 characters"),
        ({"keys": [WEB_KEY | {"x": None}]}, IssuerReason.KEYS_REFUSED, "needs an x of 43 characters"),
        ({"keys": ["0" * 16 + " " + "0" * 64]}, IssuerReason.KEYS_REFUSED, "is not what `rollbook key FILE` prints"),
        ({"keys": [key_line(OURS.public_key()).upper()]}, IssuerReason.KEYS_REFUSED, "`rollbook key FILE` prints"),
        ({"keys": [WEB_KEY | {"x": base64url(WEAK).decode()}]}, IssuerReason.KEYS_REFUSED, "an x that is no key"),
        ({"keys": [f"{'0' * 16} {WEAK.hex()}"]}, IssuerReason.KEYS_REFUSED, "small order"),
        (
            {"keys": [f"{key_line(OURS.public_key())} head Köln"]},
            IssuerReason.KEYS_REFUSED,
            "`rollbook key FILE` prints",
        ),
        ({"keys": [f"{key_line(OURS.public_key())}\n"]}, IssuerReason.KEYS_REFUSED, "`rollbook key FILE` prints"),
        ({"keys": ["nothing"]}, IssuerReason.KEYS_REFUSED, "`rollbook key FILE` prints"),
        ({"role": ["operator"]}, IssuerReason.FILE_MALFORMED, "by_address, and nothing else"),
        ({"by_address": "no"}, IssuerReason.BY_ADDRESS_REFUSED, "true or false"),
    ],
)
def test_whatever_is_wrong_with_a_file_nobody_is_trusted_by_it(
    written: Callable[..., Path], changed: dict[str, Any], reason: IssuerReason, says: str
) -> None:
    """The refusal has a reason and the expected form; the reader neither guesses nor skips anything."""
    found, why = refused(written(**changed))
    assert reason == found
    assert says in why


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"[" * 60_000, b'{"issuer":"a","roles":["player"]}'])
def test_what_is_no_description_is_refused(tmp_path: Path, data: bytes) -> None:
    """Refused data includes bytes that are no JSON, and deeply nested JSON."""
    path = tmp_path / "club.json"
    path.write_bytes(data)
    path.chmod(0o600)
    assert IssuerReason.FILE_MALFORMED == refused(path)[0]


def test_a_file_has_a_size_that_is_read(written: Callable[..., Path]) -> None:
    """A longer file is refused, never read in part."""
    path = written()
    path.write_bytes(path.read_bytes() + b" " * 65_536)
    assert "at most 65,536 bytes" in refused(path)[1]


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o646])
def test_a_file_that_others_may_write_to_is_refused(written: Callable[..., Path], mode: int) -> None:
    """Other users could trust their own key and sign for anyone."""
    path = written()
    path.chmod(mode)
    assert (IssuerReason.FILE_EXPOSED, f"its mode is 0{mode:o}: only its owner may write to it (chmod 644)") == refused(
        path
    )


def test_an_issuer_is_described_once(written: Callable[..., Path]) -> None:
    """Two files could give an issuer different roles; the refusal names the second file."""
    paths = [written("one.json"), written("two.json")]
    with pytest.raises(IssuerRefused, match=r"two\.json: https://club\.example is described by another file as well"):
        read_issuers(paths)
    other = written("two.json", issuer="other", roles=["king"])
    with pytest.raises(IssuerRefused, match=r"two\.json: roles must list"):
        read_issuers([paths[0], other])
    assert [] == read_issuers([])
