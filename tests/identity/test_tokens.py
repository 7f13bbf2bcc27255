"""Genuine tokens name a subject; all others are refused with a reason that programs can distinguish."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import sys
import traceback
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from rollbook.identity.refusals import TokenReason, TokenRefused
from rollbook.identity.tokens import (
    LONGEST_TOKEN,
    MOST_MATCHES,
    MOST_REMEMBERED,
    Issuer,
    Role,
    Subject,
    Verifier,
)
from rollbook.replay_file.key_lines import key_id
from tests.identity.forging import (
    CLAIMS,
    CLUB,
    HEADER,
    NOW,
    OUR_OLD,
    OURS,
    STRANGER,
    TRUSTED,
    base64url,
    signed,
    token,
    verifier,
    written,
)

ANNA = Subject("rollbook", "anna", Role.PLAYER, (), "Anna", NOW + 10)
GENUINE = token()
HEAD, PAYLOAD, SIGNATURE = GENUINE.split(b".")


def refusal(forged: str | bytes, by: Verifier | None = None) -> TokenRefused:
    """Verify the token, which must be refused."""
    with pytest.raises(TokenRefused) as refused:
        (by or verifier()).verify(forged)
    return refused.value


def with_mac(secret: bytes) -> bytes:
    """A token with HS256: a verifier that takes the public key for a MAC's secret would accept it."""
    content = written({**HEADER, "alg": "HS256"}) + b"." + PAYLOAD
    return content + b"." + base64url(hmac.digest(secret, content, hashlib.sha256))


def of_another_curve() -> bytes:
    """A token of a related algorithm whose key has the same key id."""
    content = written({**HEADER, "alg": "Ed448"}) + b"." + PAYLOAD
    return content + b"." + base64url(Ed448PrivateKey.generate().sign(content))


def nested(depth: int) -> bytes:
    """JSON nested deeper than a parser's limit."""
    return base64url(b"[" * depth)


REFUSED: dict[str, tuple[TokenReason, bytes]] = {
    "a byte more than the limit": (TokenReason.OVERSIZED, b"a" * (LONGEST_TOKEN + 1)),
    "a genuine token that is too long": (TokenReason.OVERSIZED, token(more="a" * LONGEST_TOKEN)),
    "nothing": (TokenReason.MALFORMED, b""),
    "one segment": (TokenReason.MALFORMED, b"a" * LONGEST_TOKEN),
    "two segments": (TokenReason.MALFORMED, HEAD + b"." + PAYLOAD),
    "four segments": (TokenReason.MALFORMED, GENUINE + b"." + SIGNATURE),
    "only points": (TokenReason.MALFORMED, b".."),
    "padding": (TokenReason.MALFORMED, b".".join([HEAD + b"=", PAYLOAD, SIGNATURE])),
    "not ASCII": (TokenReason.MALFORMED, b"\xff\xfe." + PAYLOAD + b"." + SIGNATURE),
    "a header that is no JSON": (TokenReason.MALFORMED, signed(base64url(b"{alg}"), PAYLOAD)),
    "a header that is no UTF-8": (TokenReason.MALFORMED, signed(base64url(b'{"alg":"\xff"}'), PAYLOAD)),
    "a header that is a number": (TokenReason.MALFORMED, token(header=7)),
    "a header that is a list": (TokenReason.MALFORMED, token(header=["alg"])),
    "a header that is a text": (TokenReason.MALFORMED, token(header="alg")),
    "a header that is a text with an extension": (TokenReason.MALFORMED, token(header="alg b64")),
    "a header nested too deeply": (TokenReason.MALFORMED, signed(nested(384), PAYLOAD)),
    "a header that is too long": (TokenReason.MALFORMED, token(header={**HEADER, "typ": "a" * 1000})),
    "a header without algorithm": (TokenReason.MALFORMED, token(header={"kid": HEADER["kid"]})),
    "a header with a type that is no text": (TokenReason.MALFORMED, token(header={**HEADER, "typ": 1})),
    "a header with a member nobody knows": (TokenReason.MALFORMED, token(header={**HEADER, "role": "operator"})),
    "an extension": (TokenReason.MALFORMED, token(header={**HEADER, "crit": ["exp"], "exp": 1})),
    "an extension that is no list": (TokenReason.MALFORMED, token(header={**HEADER, "crit": 1})),
    "an unencoded payload": (
        TokenReason.MALFORMED,
        signed(written({**HEADER, "b64": False, "crit": ["b64"]}), json.dumps(CLAIMS).encode()),
    ),
    "claims that are no base64": (TokenReason.MALFORMED, signed(HEAD, b"a")),
    "claims that are no JSON": (TokenReason.MALFORMED, signed(HEAD, base64url(b"iss=rollbook"))),
    "claims that are no UTF-8": (TokenReason.MALFORMED, signed(HEAD, base64url(b'{"iss":"\xff"}'))),
    "claims that are a list": (TokenReason.MALFORMED, signed(HEAD, written(["iss"]))),
    "claims nested too deeply": (TokenReason.MALFORMED, signed(HEAD, nested(2800))),
    "no claims": (TokenReason.MALFORMED, signed(HEAD, b"")),
    "algorithm none, unsigned": (TokenReason.WRONG_ALGORITHM, written({"alg": "none"}) + b"." + PAYLOAD + b"."),
    "algorithm None, signed": (TokenReason.WRONG_ALGORITHM, token(header={**HEADER, "alg": "None"})),
    "algorithm null": (TokenReason.WRONG_ALGORITHM, token(header={**HEADER, "alg": None})),
    "algorithms in a list": (TokenReason.WRONG_ALGORITHM, token(header={**HEADER, "alg": ["Ed25519"]})),
    "the older name of the algorithm": (TokenReason.WRONG_ALGORITHM, token(header={**HEADER, "alg": "EdDSA"})),
    "a MAC with the raw public key": (TokenReason.WRONG_ALGORITHM, with_mac(OURS.public_key().public_bytes_raw())),
    "a MAC with the public key in PEM": (
        TokenReason.WRONG_ALGORITHM,
        with_mac(OURS.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)),
    ),
    "another curve": (TokenReason.WRONG_ALGORITHM, of_another_curve()),
    "an issuer nobody trusts": (TokenReason.WRONG_ISSUER, token(key=STRANGER, iss="stranger")),
    "an issuer in other letters": (TokenReason.WRONG_ISSUER, token(iss="Rollbook")),
    "no issuer": (TokenReason.WRONG_ISSUER, token(iss=None)),
    "an issuer that is a list": (TokenReason.WRONG_ISSUER, token(iss=["rollbook"])),
    "another issuer's key": (TokenReason.KEY_UNKNOWN, token(header={**HEADER, "kid": "2027"}, key=CLUB)),
    "a key nobody published": (TokenReason.KEY_UNKNOWN, token(header={**HEADER, "kid": "0" * 16}, key=STRANGER)),
    "no key": (TokenReason.KEY_UNKNOWN, token(header={"alg": "Ed25519"})),
    "a key that is a list": (TokenReason.KEY_UNKNOWN, token(header={**HEADER, "kid": [HEADER["kid"]]})),
    "a key brought along": (
        TokenReason.FORGED,
        token(
            header={
                **HEADER,
                "jwk": {
                    "kty": "OKP",
                    "crv": "Ed25519",
                    "x": base64url(STRANGER.public_key().public_bytes_raw()).decode(),
                },
            },
            key=STRANGER,
        ),
    ),
    "another key with the same key id": (TokenReason.FORGED, token(key=STRANGER)),
    "the old key with the new key id": (TokenReason.FORGED, token(key=OUR_OLD)),
    "changed claims": (TokenReason.FORGED, HEAD + b"." + written({**CLAIMS, "role": "operator"}) + b"." + SIGNATURE),
    "a changed header": (
        TokenReason.FORGED,
        written({**HEADER, "typ": "at+jwt"}) + b"." + PAYLOAD + b"." + SIGNATURE,
    ),
    "no signature": (TokenReason.FORGED, HEAD + b"." + PAYLOAD + b"."),
    "half a signature": (TokenReason.FORGED, HEAD + b"." + PAYLOAD + b"." + SIGNATURE[:43]),
    "a signature of zeros": (TokenReason.FORGED, HEAD + b"." + PAYLOAD + b"." + base64url(bytes(64))),
    "the signature of another token": (
        TokenReason.FORGED,
        HEAD + b"." + PAYLOAD + b"." + token(sub="ben").split(b".")[2],
    ),
    "another audience": (TokenReason.WRONG_AUDIENCE, token(aud="chess")),
    "an audience in other letters": (TokenReason.WRONG_AUDIENCE, token(aud="Rollbook")),
    "other audiences": (TokenReason.WRONG_AUDIENCE, token(aud=["chess", "go"])),
    "an audience that is an object": (TokenReason.WRONG_AUDIENCE, token(aud={"rollbook": True})),
    "no audience": (TokenReason.WRONG_AUDIENCE, token(aud=None)),
    "expired this second": (TokenReason.EXPIRED, token(exp=NOW)),
    "expired long ago": (TokenReason.EXPIRED, token(iat=1, exp=2)),
    "issued in the future": (TokenReason.NOT_YET_VALID, token(iat=NOW + 1)),
    "valid from later on": (TokenReason.NOT_YET_VALID, token(nbf=NOW + 1)),
    "a role its issuer may not give": (
        TokenReason.ROLE_NOT_TRUSTED,
        token(header={"alg": "Ed25519", "kid": "2027"}, key=CLUB, iss="club", role="operator"),
    ),
}

INVALID: dict[str, list[Any]] = {
    "sub": [None, "", "a" * 201, 7, ["anna"], "an\nna", "an\u202ena", "an\ud800na", "an\u00a0na", "an\0na"],
    "jti": ["", 7, "a" * 201, "a\n"],
    "exp": [None, "soon", True, [], float("nan"), float("inf"), -1, 10**300, 253_402_300_800, NOW - 10, NOW - 11],
    "iat": [None, "now", False, {}, float("nan"), -float("inf"), -1],
    "nbf": ["now", True, float("nan"), []],
    "role": [None, "", "Player", "referee", 1, ["player"], {}],
    "name": [None, "", 7, ["Anna"], "a" * 41, " Anna", "An\u202ena", "An\ud800na"],
    "matches": [["m1"], "m1", 7, {}],
}


@pytest.mark.parametrize(("reason", "forged"), REFUSED.values(), ids=REFUSED.keys())
def test_a_token_that_is_not_as_it_should_be_is_refused_for_its_reason(reason: TokenReason, forged: bytes) -> None:
    """Clients act on the reason: they renew an expired token, but not a forged one."""
    refused = refusal(forged)
    assert reason == refused.reason
    assert refused.why == str(refused)


def test_every_reason_can_be_reached() -> None:
    """A reason that is never raised is dead code."""
    assert set(TokenReason) == {reason for reason, _ in REFUSED.values()} | {
        TokenReason.CLAIM_INVALID,
        TokenReason.REVOKED,
    }


def test_a_revoked_token_is_refused_at_every_verification_and_ends_streams() -> None:
    """A token that was verified before is refused as well; another one of the same subject is not."""
    revoked = set[str]()
    by = Verifier(TRUSTED, lambda: NOW, is_revoked=lambda subject: subject.jti in revoked)
    leaked, kept = by.verify(token(jti="leaked")), by.verify(token(jti="kept"))
    assert not by.has_expired(leaked)
    revoked.add("leaked")
    with pytest.raises(TokenRefused) as caught:
        by.verify(token(jti="leaked"))
    assert TokenReason.REVOKED is caught.value.reason
    assert by.has_expired(leaked)
    assert kept == by.verify(token(jti="kept"))


def test_a_minted_token_has_an_id_of_its_own() -> None:
    """Two tokens of one subject can be revoked one by one."""
    minter = Issuer(OURS)
    tokens = [minter.mint("anna", Role.PLAYER, name="Anna", issued_at=NOW, lifetime_seconds=10) for _ in range(2)]
    assert 2 == len({verifier().verify(each).jti for each in tokens} - {""})


@pytest.mark.parametrize(
    ("claim", "value"), [(claim, value) for claim, values in INVALID.items() for value in values], ids=repr
)
def test_claims_that_are_missing_or_out_of_bounds_are_refused_by_name(claim: str, value: Any) -> None:
    """Signed tokens are checked too: an issuer's mistake must not become an unexpected exception."""
    refused = refusal(token(**{claim: value}))
    assert TokenReason.CLAIM_INVALID == refused.reason
    assert refused.why.startswith(f"the claim {claim} must ") or (claim, "exp") == ("iat", refused.why.split()[2])


@pytest.mark.parametrize(
    "matches",
    [None, [], ["m"] * (MOST_MATCHES + 1), [7], [""], ["a b"], ["ä"], ["a\n"], ["a" * 101], [["m"]], "m", {"m": 1}],
    ids=repr,
)
def test_a_judge_names_the_matches_to_be_seen(matches: Any) -> None:
    """A judge of all matches, or of none, is a mistake."""
    refused = refusal(token(role="judge", matches=matches))
    assert (TokenReason.CLAIM_INVALID, True) == (refused.reason, refused.why.startswith("the claim matches must "))


@pytest.mark.parametrize("forged", [case for _, case in REFUSED.values()], ids=REFUSED.keys())
def test_no_refusal_tells_anything_of_the_token(forged: bytes) -> None:
    """Refusals may be logged, and a token refused here may be valid elsewhere."""
    refused = refusal(forged)
    told = "".join(traceback.format_exception_only(refused)) + repr(refused) + repr(refused.__cause__)
    assert refused.__suppress_context__ or refused.__context__ is None
    for segment in forged.split(b"."):
        assert len(segment) < 4 or segment.decode("latin-1") not in told
    for secret in ("Anna", "anna", "stranger", "chess", "at+jwt", "2027", HEADER["kid"]):
        assert secret not in told


def test_a_name_that_is_refused_is_explained_without_being_repeated() -> None:
    """The message lets the issuer find the mistake."""
    assert "the claim name must be a player's name: character 3 (U+0007) is a control character" == str(
        refusal(token(name="An\ana"))
    )


def test_a_genuine_token_tells_who_somebody_is() -> None:
    """The token may be bytes or text; unknown claims are ignored."""
    assert ANNA == verifier().verify(GENUINE)
    assert ANNA == verifier().verify(GENUINE.decode())
    assert ANNA == verifier().verify(token(jti="1", nbf=NOW, aud=["chess", "rollbook"], email="anna@example.org"))
    assert ANNA == verifier().verify(token(iat=NOW - 10.5, exp=NOW + 10.5))


def test_a_name_is_kept_as_all_names_are() -> None:
    """Two encodings of one name are the same name."""
    assert "Zo\u00eb" == verifier().verify(token(name="Zoe\u0308")).name


def test_a_name_that_new_players_may_not_have_stays_valid_in_a_token() -> None:
    """Otherwise its owner would be locked out."""
    assert "An\u3164na" == verifier().verify(token(name="An\u3164na")).name


def test_texts_that_are_not_ascii_are_refused_like_bytes() -> None:
    """Request headers can hold any text, also lone surrogates."""
    assert TokenReason.MALFORMED == refusal("\ud800.ä.€").reason
    assert TokenReason.OVERSIZED == refusal("€" * (LONGEST_TOKEN // 3 + 1)).reason


def test_tokens_of_all_published_keys_are_taken() -> None:
    """A key can be rotated without signing out its users."""
    for key in (OURS, OUR_OLD):
        assert ANNA == verifier().verify(token(header={**HEADER, "kid": key_id(key.public_key())}, key=key))


def test_issuers_are_kept_apart() -> None:
    """The same sub of two issuers is two subjects, and each issuer can sign only for itself."""
    club = {"alg": "Ed25519", "kid": "2027"}
    anna = verifier().verify(token(header=club, key=CLUB, iss="club"))
    assert ("club", "anna") == (anna.issuer, anna.sub)
    assert ANNA.key != anna.key
    assert TokenReason.KEY_UNKNOWN == refusal(token(header=club, key=CLUB)).reason


def test_an_issuer_that_is_named_twice_is_a_mistake() -> None:
    """A second entry of the same issuer would silently replace the first."""
    with pytest.raises(ValueError, match="the issuer club is named twice"):
        Verifier([*TRUSTED, TRUSTED[1]], lambda: NOW)


@given(st.tuples(st.text(), st.text()), st.tuples(st.text(), st.text()))
def test_no_two_subjects_have_the_same_key(one: tuple[str, str], other: tuple[str, str]) -> None:
    """The joining of issuer and sub is unambiguous for all texts."""
    keys = [Subject(*pair, Role.PLAYER, (), "Anna", 0).key for pair in (one, other)]
    assert (one == other) == (keys[0] == keys[1])


def test_a_key_stays_the_same_where_a_separator_moves() -> None:
    """Keys contain lengths, because plain concatenation would give these subjects the same key."""
    keys = {Subject(*pair, Role.PLAYER, (), "Anna", 0).key for pair in [("a:b", "c"), ("a", "b:c"), ("a:", "b:c")]}
    assert {"3:a:b:c", "1:a:b:c", "2:a::b:c"} == keys


def test_leeway_moves_both_ends_of_a_token_and_nothing_else() -> None:
    """Clocks of issuers differ a little; a token is invalid from its last second and valid from its first."""
    late, early = token(exp=NOW - 5, iat=NOW - 9), token(iat=NOW + 5, nbf=NOW + 5)
    assert TokenReason.EXPIRED == refusal(late, verifier(leeway_seconds=5)).reason
    assert NOW - 5 == verifier(leeway_seconds=5.5).verify(late).expires_at
    assert TokenReason.NOT_YET_VALID == refusal(early, verifier(leeway_seconds=4.5)).reason
    assert NOW + 10 == verifier(leeway_seconds=5).verify(early).expires_at


def test_expiry_is_noticed_later_by_the_same_clock() -> None:
    """A stream can outlive its token, and must end when a new call would be refused."""
    now = float(NOW)
    by = Verifier(TRUSTED, lambda: now, leeway_seconds=2)
    subject = by.verify(GENUINE)
    now = NOW + 11.9
    assert (False, ANNA) == (by.has_expired(subject), by.verify(GENUINE))
    now = NOW + 12
    assert (True, TokenReason.EXPIRED) == (by.has_expired(subject), refusal(GENUINE, by).reason)


def test_a_remembered_token_vouches_for_no_other() -> None:
    """A cached token must not make a token with another signature or other claims valid."""
    by = verifier()
    assert ANNA == by.verify(GENUINE)
    forged = (token(key=STRANGER), b".".join((HEAD, written({**CLAIMS, "role": "operator"}), SIGNATURE)))
    assert [TokenReason.FORGED] * 2 == [refusal(each, by).reason for each in forged]
    assert ANNA == by.verify(GENUINE.decode())


def test_a_token_is_not_remembered_beyond_its_time_nor_when_it_is_refused() -> None:
    """Strangers could fill the cache with refused tokens, and an expired token is useless."""
    now = float(NOW)
    by = Verifier(TRUSTED, lambda: now)
    for _, forged in REFUSED.values():
        assert refusal(forged, by)
    assert 0 == by.remembered
    by.verify(GENUINE)
    by.verify(GENUINE)
    assert 1 == by.remembered
    now = NOW + 10
    assert TokenReason.EXPIRED == refusal(GENUINE, by).reason
    assert 0 == by.remembered


def test_only_so_many_tokens_are_remembered_and_all_are_taken() -> None:
    """An issuer may mint more tokens than the cache holds; evicted tokens are verified again."""
    by = verifier()
    issuer = Issuer(OURS)
    tokens = [
        issuer.mint(f"guest-{number}", Role.PLAYER, name="Guest", issued_at=NOW, lifetime_seconds=60)
        for number in range(MOST_REMEMBERED + 2)
    ]
    for number, minted in enumerate(tokens):
        assert f"guest-{number}" == by.verify(minted).sub
    assert MOST_REMEMBERED == by.remembered
    assert "guest-0" == by.verify(tokens[0]).sub


def test_a_service_with_another_audience_takes_only_its_own_tokens() -> None:
    """For example a test service next to the real one."""
    by = Verifier(TRUSTED, lambda: NOW, audience="rehearsal")
    assert "anna" == by.verify(token(aud="rehearsal")).sub
    assert TokenReason.WRONG_AUDIENCE == refusal(GENUINE, by).reason


@pytest.mark.parametrize("role", Role)
def test_what_is_minted_is_taken(role: Role) -> None:
    """Every verifier that trusts the key accepts the minted token."""
    matches = ("m1", "m2") if role is Role.JUDGE else ()
    minted = Issuer(OURS).mint(
        "ben", role, name="Be\u0301n", issued_at=NOW, lifetime_seconds=60, matches=matches, jti="7"
    )
    assert Subject("rollbook", "ben", role, matches, "B\u00e9n", NOW + 60) == verifier().verify(minted)


def test_a_token_says_who_when_and_what_in_the_open() -> None:
    """Other programs read tokens too, so the claims have their standard names."""
    minted = Issuer(OURS).mint("ben", Role.PLAYER, name="Ben", issued_at=NOW, lifetime_seconds=60, jti="7")
    header, claims = (json.loads(base64.urlsafe_b64decode(f"{segment}==")) for segment in minted.split(".")[:2])
    assert HEADER == header
    assert {
        "iss": "rollbook",
        "sub": "ben",
        "aud": "rollbook",
        "iat": NOW,
        "exp": NOW + 60,
        "role": "player",
        "name": "Ben",
        "jti": "7",
    } == claims


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"sub": ""}, TokenReason.CLAIM_INVALID),
        ({"sub": "\ud800"}, TokenReason.CLAIM_INVALID),
        ({"name": "An\u202ena"}, TokenReason.CLAIM_INVALID),
        ({"role": Role.JUDGE}, TokenReason.CLAIM_INVALID),
        ({"matches": ["m"]}, TokenReason.CLAIM_INVALID),
        ({"lifetime_seconds": 0}, TokenReason.CLAIM_INVALID),
        ({"jti": ""}, TokenReason.CLAIM_INVALID),
        ({"role": Role.JUDGE, "matches": ["m" * 100] * MOST_MATCHES}, TokenReason.OVERSIZED),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_what_no_verifier_would_take_is_not_minted(wrong: dict[str, Any], reason: TokenReason) -> None:
    """The minting program gets the error, not the player at the table."""
    good: dict[str, Any] = {"sub": "ben", "role": Role.PLAYER, "name": "Ben", "issued_at": NOW, "lifetime_seconds": 60}
    with pytest.raises(TokenRefused) as refused:
        Issuer(OURS).mint(**{**good, **wrong})
    assert reason == refused.value.reason


def test_as_many_matches_as_allowed_fit_into_a_token() -> None:
    """The ids have the length that the service uses."""
    matches = [f"{number:024}" for number in range(MOST_MATCHES)]
    minted = Issuer(OURS).mint(
        "j" * 200, Role.JUDGE, name="J", issued_at=NOW, lifetime_seconds=60, matches=matches, jti="t" * 200
    )
    assert tuple(matches) == verifier().verify(minted).matches


@given(st.binary(max_size=LONGEST_TOKEN + 10) | st.text(max_size=2000))
def test_any_bytes_and_any_text_are_refused_and_nothing_else_happens(garbage: str | bytes) -> None:
    """Clients can send any bytes."""
    assert refusal(garbage).reason in (TokenReason.MALFORMED, TokenReason.OVERSIZED)


@given(st.lists(st.binary(max_size=60).map(base64url), min_size=3, max_size=3).map(b".".join))
def test_anything_in_the_form_of_a_token_is_refused(garbage: bytes) -> None:
    """The form of a token is easy to imitate."""
    assert refusal(garbage).reason


def test_a_deeply_nested_header_is_refused_also_where_little_stack_is_left() -> None:
    """Servers verify deep in the stack, where a recursive parser fails sooner."""

    def verified(depth: int) -> TokenReason:
        return verified(depth - 1) if depth else refusal(signed(nested(384), PAYLOAD)).reason

    for depth in range(0, sys.getrecursionlimit() - 250, 50):
        assert TokenReason.MALFORMED == verified(depth)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(sorted(CLAIMS)),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=8), values, max_size=3),
    max_leaves=6,
)
HEADERS = ("alg", "kid", "typ", "crit", "b64", "jwk", "jku", "x5c", "cty")


@given(json_values | st.dictionaries(st.sampled_from(HEADERS), json_values).map(lambda some: {**HEADER, **some}))
def test_any_header_even_signed_is_taken_or_refused(header: Any) -> None:
    """The JWT library trusts the types of some members."""
    try:
        assert ANNA == verifier().verify(token(header=header))
    except TokenRefused as refused:
        assert refused.reason in TokenReason


@given(json_values | st.dictionaries(st.sampled_from([*CLAIMS, "matches", "jti", "nbf"]), json_values))
def test_any_claims_even_signed_are_taken_or_refused(claims: Any) -> None:
    """A trusted issuer may be careless."""
    payload = {**CLAIMS, **claims} if isinstance(claims, dict) else claims
    try:
        subject = verifier().verify(signed(HEAD, written(payload)))
    except TokenRefused as refused:
        assert refused.reason in TokenReason
    else:
        assert subject.expires_at > NOW
        subject.key.encode()


@given(st.data())
def test_a_token_with_any_byte_changed_is_refused(data: st.DataObject) -> None:
    """A token has exactly one encoding, so that it can be recognised by its bytes."""
    place = data.draw(st.integers(0, len(GENUINE) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != GENUINE[place]))
    assert refusal(GENUINE[:place] + bytes([other]) + GENUINE[place + 1 :]).reason


@pytest.mark.parametrize(
    ("issuer", "sub", "expected"),
    [("rollbook", "house-anna", True), ("rollbook", "anna-house-", False), ("club", "house-anna", False)],
)
def test_only_the_services_own_issuer_names_bots_of_the_house(issuer: str, sub: str, *, expected: bool) -> None:
    """A trusted issuer may choose any subject, but its players are never this service's bots."""
    assert expected is Subject(issuer, sub, Role.PLAYER, (), "Anna", NOW).is_house
