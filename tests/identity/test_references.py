"""References to players and requests: equal to hashes computed by hand, and different for different inputs."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollbook.identity.references import match_id, player_reference, request_hash

SALT = bytes(range(16))
KEY = bytes(range(32))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


def test_references_are_the_hashes_that_their_scheme_says() -> None:
    """The bytes are fixed, so that other languages can compute the same references."""
    player = hashlib.sha256(b"rollbook/1/player" + b"\0\0\0\x10" + SALT + b"\0\0\0\x05" + "zoë1".encode())
    assert player.digest()[:16] == player_reference(SALT, "zoë1")
    request = hashlib.sha256(b"rollbook/1/request" + b"\0\0\0\x04anna" + b"\0\0\0\x02r1")
    assert request.digest()[:16] == request_hash("anna", "r1")
    opened = hmac.digest(KEY, b"rollbook/1/open" + b"\0\0\0\x04anna" + b"\0\0\0\x02r1", "sha256")
    assert base64.b32encode(opened[:15]).decode().lower() == match_id(KEY, "anna", "r1")


def test_a_player_cannot_be_followed_from_match_to_match() -> None:
    """Each match has its own salt; once the salt is erased, the reference cannot be guessed."""
    assert player_reference(SALT, "anna") != player_reference(bytes(16), "anna")
    with pytest.raises(ValueError, match="at least 16 bytes"):
        player_reference(b"salt", "anna")


def test_a_match_id_can_be_written_anywhere_and_guessed_nowhere() -> None:
    """The id is used in URLs, file names and keys of the store."""
    assert re.fullmatch(r"[a-z2-7]{24}", match_id(KEY, "anna", "r1"))
    assert match_id(KEY, "anna", "r1") != match_id(bytes(32), "anna", "r1")
    with pytest.raises(ValueError, match="at least 32 bytes"):
        match_id(b"", "anna", "r1")


@given(st.tuples(texts, texts), st.tuples(texts, texts))
def test_two_requests_are_never_taken_for_one(one: tuple[str, str], other: tuple[str, str]) -> None:
    """The joining of subject and request id is unambiguous for all texts."""
    same = one == other
    assert same == (request_hash(*one) == request_hash(*other))
    assert same == (match_id(KEY, *one) == match_id(KEY, *other))


def test_moving_a_character_from_subject_to_request_changes_everything() -> None:
    """Plain concatenation would give both pairs the same hash and the same match id."""
    assert request_hash("ab", "c") != request_hash("a", "bc")
    assert match_id(KEY, "ab", "c") != match_id(KEY, "a", "bc")
