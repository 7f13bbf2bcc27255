"""Keys have roles and owners: each vouches for one kind of content and for one service.

The events of every file here are consistent; only the keys differ from those that the file needs.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.chain import sign_head
from rollbook.match.commands import Resign
from rollbook.match.decide import decide
from rollbook.match.events import Resigned, Sealed
from rollbook.replay_file.container import Replay, write
from rollbook.replay_file.kept_heads import WitnessedHead, write_heads
from rollbook.replay_file.key_lines import KeyRole, KnownKey, key_id, write_keys
from rollbook.replay_file.recording import Keys
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Verdict, Vouching
from tests.cli.test_commands import rollbook
from tests.match.played import Played
from tests.replays.forging import ENTROPY, eventful, head_of, play, put_together, replay_of, taken_apart
from tests.replays.test_audit_lines import documented
from tests.replays.tournaments import IDS, NUMBERS, bundled, manifest
from tests.replays.tournaments import match as cup_match

HEAD, REPLAY, BUNDLE = KeyRole

SERVICE, OLD, RIVAL, ORGANISERS = (Keys.of(number) for number in (1, 3, 4, 5))
"""Each organiser has one bundle key."""


def known(key: Ed25519PrivateKey, role: KeyRole, name: str) -> KnownKey:
    """Return a line of the judge's key file."""
    return KnownKey(key.public_key(), role, name)


LINES: Final = (
    known(OLD.heads, HEAD, "Köln"),
    known(SERVICE.heads, HEAD, "Köln"),
    known(OLD.replays, REPLAY, "Köln"),
    known(SERVICE.replays, REPLAY, "Köln"),
    known(RIVAL.heads, HEAD, "Bonn"),
    known(RIVAL.replays, REPLAY, "Bonn"),
    known(ORGANISERS.heads, BUNDLE, "Spring cup"),
    known(ORGANISERS.replays, BUNDLE, "Autumn cup"),
)
KNOWN: Final = {line.key_id: line for line in LINES}
ID: Final = {
    "head": key_id(SERVICE.heads.public_key()),
    "replay": key_id(SERVICE.replays.public_key()),
    "old head": key_id(OLD.heads.public_key()),
    "old replay": key_id(OLD.replays.public_key()),
    "rival head": key_id(RIVAL.heads.public_key()),
    "rival replay": key_id(RIVAL.replays.public_key()),
    "spring": key_id(ORGANISERS.heads.public_key()),
    "autumn": key_id(ORGANISERS.replays.public_key()),
}


@cache
def honest() -> Replay:
    """Return a match with every kind of event."""
    return replay_of(eventful(brief=True), SERVICE)


@cache
def resigned() -> Replay:
    """Return the same match up to its middle, where all seats but one resign, so that another seat wins."""
    rng = random.Random(1)
    played = Played("cant_stop", 3, entropy=ENTROPY).start()
    for _ in range(4):
        played.append(play(played, rng))
    for player in ("p0", "p1"):
        played.append(decide(played.ledger, Resign(played.by(player))))
    assert played.ledger.match.sealed is not None
    return replay_of(played, SERVICE)


def signed(replay: Replay, heads: Ed25519PrivateKey, replays: Ed25519PrivateKey) -> bytes:
    """Return the file of this match, signed by these two keys."""
    keys = Keys(heads, replays)
    return write(put_together(taken_apart(replay), keys), replays)


@dataclass(frozen=True)
class Forged:
    """A file with the verdict that a judge should get."""

    heads: Ed25519PrivateKey
    replays: Ed25519PrivateKey
    missing: tuple[str, ...]


FORGED: Final = {
    "an old and a new replay key": Forged(
        OLD.replays, SERVICE.replays, (f"the head key {ID['old replay']} of Köln (it is a replay key of Köln)",)
    ),
    "two head keys": Forged(
        OLD.heads, SERVICE.heads, (f"the replay key {ID['head']} of Köln (it is a head key of Köln)",)
    ),
    "the two keys in each other's place": Forged(
        SERVICE.replays,
        SERVICE.heads,
        (
            f"the head key {ID['replay']} (it is a replay key of Köln)",
            f"the replay key {ID['head']} (it is a head key of Köln)",
        ),
    ),
    "two organisers' bundle keys": Forged(
        ORGANISERS.heads,
        ORGANISERS.replays,
        (
            f"the head key {ID['spring']} (it is a bundle key of Spring cup)",
            f"the replay key {ID['autumn']} (it is a bundle key of Autumn cup)",
        ),
    ),
    "a stolen replay key and an organiser's": Forged(
        ORGANISERS.heads, SERVICE.replays, (f"the head key {ID['spring']} of Köln (it is a bundle key of Spring cup)",)
    ),
    "a stolen head key and an organiser's": Forged(
        SERVICE.heads,
        ORGANISERS.replays,
        (f"the replay key {ID['autumn']} of Köln (it is a bundle key of Autumn cup)",),
    ),
    "a stolen head key and another service": Forged(
        SERVICE.heads, RIVAL.replays, (f"the head key {ID['head']} of Bonn (it is a head key of Köln)",)
    ),
    "a stolen replay key and another service": Forged(
        RIVAL.heads, SERVICE.replays, (f"the head key {ID['rival head']} of Köln (it is a head key of Bonn)",)
    ),
}


def audited(file: bytes, folder: Path, *words: str, lines: Sequence[KnownKey] = LINES) -> tuple[int, list[Any]]:
    """Run the command with these key lines; returns exit code and JSON objects."""
    (folder / "match.rollbook").write_bytes(file)
    (folder / "KEY.pub").write_text(write_keys(lines), encoding="utf-8")
    where = (str(folder / "match.rollbook"), "--key", str(folder / "KEY.pub"))
    done = rollbook("audit", *where, *words, "--json")
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_the_result_that_is_forged_here_is_another_one() -> None:
    """Signed by the service's own keys the resignations would count, so only the keys reveal the forgery."""
    forged = audit(signed(resigned(), SERVICE.heads, SERVICE.replays), KNOWN)
    assert any(isinstance(line.event, Resigned) for line in taken_apart(resigned()))
    assert Verdict.EXACT is forged.verdict
    assert honest().match_id == forged.match_id
    assert audit(signed(honest(), SERVICE.heads, SERVICE.replays), KNOWN).places != forged.places


@pytest.mark.parametrize("case", FORGED)
def test_two_keys_that_are_not_the_two_of_one_service_vouch_for_nothing(case: str, tmp_path: Path) -> None:
    """With any stolen keys the file is UNVERIFIED, and the result names the missing key and its owner."""
    forged = FORGED[case]
    code, (told,) = audited(signed(resigned(), forged.heads, forged.replays), tmp_path)
    assert (2, "unverified", None, None) == (code, told["verdict"], told["check"], told["event"])
    assert (list(forged.missing), None) == (told["missing"], told["keys"])


def test_an_exact_file_names_both_keys_and_whose_they_are(tmp_path: Path) -> None:
    """Text, JSON and report name the owner of the keys beside EXACT."""
    file = signed(honest(), SERVICE.heads, SERVICE.replays)
    assert Vouching("Köln", (ID["head"],), ID["replay"]) == audit(file, KNOWN).keys
    page = tmp_path / "page.html"
    code, (told,) = audited(file, tmp_path, "--report", str(page))
    assert (0, {"name": "Köln", "head_keys": [ID["head"]], "replay_key": ID["replay"]}) == (code, told["keys"])
    words = f"keys of Köln (head key {ID['head']}, replay key {ID['replay']})"
    assert words in rollbook("audit", str(tmp_path), "--key", str(tmp_path / "KEY.pub")).stdout
    assert words in page.read_text("utf-8")


def test_keys_that_were_rotated_are_further_lines_of_their_service(tmp_path: Path) -> None:
    """A later file has heads by an old and a new key; without the line of the old key that key is missing."""
    replay = put_together(taken_apart(honest()), SERVICE)
    early = head_of(replay.match_id, replay.events, 20, OLD)
    file = write(replace(replay, heads=(early, *replay.heads)), SERVICE.replays)
    assert Vouching("Köln", (ID["old head"], ID["head"]), ID["replay"]) == audit(file, KNOWN).keys
    code, (told,) = audited(file, tmp_path)
    assert (0, "exact") == (code, told["verdict"])
    code, (told,) = audited(file, tmp_path, lines=[line for line in LINES if line.key_id != ID["old head"]])
    assert (2, [f"the head key {ID['old head']} of Köln"]) == (code, told["missing"])


def test_another_service_that_signs_a_match_is_named_as_itself(tmp_path: Path) -> None:
    """With both keys of the other service it is exact under that name, and unverified for judges without them."""
    file = signed(resigned(), RIVAL.heads, RIVAL.replays)
    code, (told,) = audited(file, tmp_path)
    assert (0, "exact", "Bonn") == (code, told["verdict"], told["keys"]["name"])
    code, (told,) = audited(file, tmp_path, lines=LINES[:4])
    lacking = [f"the head key {ID['rival head']}", f"the replay key {ID['rival replay']}"]
    assert (2, "unverified", lacking) == (code, told["verdict"], told["missing"])


@pytest.mark.parametrize(
    ("signer", "of"), [(SERVICE.replays, "replay"), (ORGANISERS.heads, "spring"), (RIVAL.heads, "rival head")]
)
def test_a_log_that_is_called_lost_needs_a_head_by_a_head_key_of_the_service(
    signer: Ed25519PrivateKey, of: str, tmp_path: Path
) -> None:
    """With another key no one can end a match by declaring its log lost."""
    lines = taken_apart(honest())[:50]
    lost = head_of(honest().match_id, honest().events, 60, replace(SERVICE, heads=signer))
    lines.append(replace(lines[-1], event=Sealed(None, "log_lost", b"", lost), request=b""))
    seal = taken_apart(honest())[-1].event
    lines[-1] = replace(lines[-1], event=replace(lines[-1].event, secret=seal.secret))
    code, (told,) = audited(write(put_together(lines, SERVICE), SERVICE.replays), tmp_path)
    if signer is SERVICE.replays:
        # The key that signs the file.
        assert (1, "diverged", "result", len(lines)) == (code, told["verdict"], told["check"], told["event"])
        return
    assert (2, "unverified", None) == (code, told["verdict"], told["check"])
    assert [f"the head key {ID[of]} of Köln (it is {KNOWN[ID[of]]}) for the lost head"] == told["missing"]


# Kept heads


def kept(number: int, key: Ed25519PrivateKey, link: bytes | None = None) -> WitnessedHead:
    """Return a head of the honest match, or of a match that was never played."""
    head = head_of(honest().match_id, honest().events, number, SERVICE)
    link = head.link if link is None else link
    signature = sign_head(key, honest().match_id, number, link)
    return WitnessedHead(honest().match_id, number, link, key_id(key.public_key()), signature)


FLAWED: Final = {
    "by a replay key": (kept(40, SERVICE.replays, bytes(32)), "is a replay key of Köln, and signs no heads"),
    "by a bundle key": (kept(40, ORGANISERS.heads, bytes(32)), "is a bundle key of Spring cup, and signs no heads"),
    "by a replay key, and true": (kept(40, SERVICE.replays), "is a replay key of Köln, and signs no heads"),
    "that nobody signed": (replace(kept(40, SERVICE.heads), link=bytes(32)), "its signature is not that of key"),
    "of an event that is not there": (replace(kept(40, SERVICE.heads), sequence=4_000), "its signature is not that of"),
    "of another match": (replace(kept(40, SERVICE.heads), match_id="final"), "its signature is not that of key"),
}


@pytest.mark.parametrize("case", FLAWED)
def test_a_kept_head_that_proves_nothing_is_listed_by_its_line_and_changes_no_verdict(
    case: str, tmp_path: Path
) -> None:
    """Otherwise a line of text could spoil an honest match; the judge still sees that the head proves nothing."""
    head, why = FLAWED[case]
    file, heads, page = (
        signed(honest(), SERVICE.heads, SERVICE.replays),
        tmp_path / "kept.jsonl",
        tmp_path / "page.html",
    )
    heads.write_text("# kept by Tom\n\n" + write_heads([kept(30, SERVICE.heads), head]), encoding="utf-8")
    assert audit(file, KNOWN) == audit(file, KNOWN, [head])
    code, (flawed, told) = audited(file, tmp_path, "--head", str(heads), "--report", str(page))
    assert (2, "exact", []) == (code, told["verdict"], told["missing"])
    assert (f"{heads}:4", head.match_id, head.sequence) == (flawed["kept_head"], flawed["match"], flawed["event"])
    assert ["version", "kind", *documented("A kept head")] == list(flawed)
    assert why in flawed["found"]
    assert f"{heads}:4" in page.read_text("utf-8")
    words = ("--key", str(tmp_path / "KEY.pub"), "--head", str(heads))
    done = rollbook("audit", str(tmp_path / "match.rollbook"), *words)
    assert done.stdout.startswith(f"{heads}:4: this head of event {head.sequence} of {head.match_id} proves nothing: ")


def test_a_head_that_proves_nothing_hides_nothing_worse(tmp_path: Path) -> None:
    """The other heads are still compared: a rewritten match diverges, with exit code 1."""
    heads = tmp_path / "kept.jsonl"
    heads.write_text(write_heads([FLAWED["by a bundle key"][0], kept(40, SERVICE.heads)]), encoding="utf-8")
    file = signed(resigned(), SERVICE.heads, SERVICE.replays)
    code, (_, told) = audited(file, tmp_path, "--head", str(heads))
    assert (1, "diverged", "heads", 40) == (code, told["verdict"], told["check"], told["event"])


def test_a_kept_head_of_another_service_accuses_nobody_and_is_not_passed_over(tmp_path: Path) -> None:
    """Another service can sign heads of matches that it does not host; the contradiction leaves the match unproved."""
    heads = tmp_path / "kept.jsonl"
    file = signed(honest(), SERVICE.heads, SERVICE.replays)
    for head, verdict in ((kept(40, RIVAL.heads, bytes(32)), "unverified"), (kept(40, RIVAL.heads), "exact")):
        heads.write_text(write_heads([head]), encoding="utf-8")
        code, (told,) = audited(file, tmp_path, "--head", str(heads))
        assert ({"unverified": 2, "exact": 0}[verdict], verdict) == (code, told["verdict"])
        assert (["agreement with Bonn" in missing for missing in told["missing"]]) == [True] * (verdict != "exact")


# Bundles


@pytest.mark.parametrize(
    ("signer", "of"), [(SERVICE.replays, "replay"), (SERVICE.heads, "head"), (RIVAL.heads, "rival head")]
)
def test_a_bundle_that_a_service_signed_is_not_an_organisers(
    signer: Ed25519PrivateKey, of: str, tmp_path: Path
) -> None:
    """A key for heads or files cannot sign a tournament; its matches keep their verdicts."""
    matches = {IDS[number]: write(_by_service(cup_match(number)), SERVICE.replays) for number in NUMBERS}
    code, told = audited(bundled(manifest(), matches, signer), tmp_path)
    *files, judgement = told
    assert (2, ["exact"] * 3) == (code, [file["verdict"] for file in files])
    assert ("unverified", None, []) == (judgement["verdict"], judgement["key"], judgement["findings"])
    assert [f"the bundle key {ID[of]} (it is {KNOWN[ID[of]]})"] == judgement["missing"]
    code, told = audited(bundled(manifest(), matches, ORGANISERS.heads), tmp_path)
    assert (0, {"name": "Spring cup", "bundle_key": ID["spring"]}) == (code, told[-1]["key"])


def _by_service(replay: Replay) -> Replay:
    return replace(replay, heads=(head_of(replay.match_id, replay.events, len(replay.events), SERVICE),))
