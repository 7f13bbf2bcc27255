"""Files signed by the wrong keys, and kept heads that fit, accuse or prove nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Final

from rollbook.match.chain import sign_head
from rollbook.match.events import Sealed
from rollbook.replay_file.container import Replay
from rollbook.replay_file.kept_heads import WitnessedHead, write_heads
from rollbook.replay_file.key_lines import key_id, write_keys
from rollbook.replay_file.recording import Keys
from tests.replays import test_key_roles as roles
from tests.replays.corpus.forged import match
from tests.replays.corpus.sample import EXACT, UNVERIFIED, Sample, diverged, of_replay, sample
from tests.replays.example import KEYS as EXAMPLE
from tests.replays.forging import SERVICE, head_of, put_together, taken_apart
from tests.replays.replaying import PUBLIC
from tests.replays.test_one_meaning import cut
from tests.replays.tournaments import OF_ORGANISER

SMALL_ORDER: Final = "0100000000000000000000000000000000000000000000000000000000000000"
"""The encoding of the neutral point."""
NO_POINT: Final = "02" + "00" * 31


def _id_of(public: str) -> str:
    return sha256(bytes.fromhex(public)).hexdigest()[:16]


def key_files() -> dict[str, str]:
    """Return the key files of judges by name."""
    lines = roles.LINES
    judge = [*lines, *PUBLIC.values(), OF_ORGANISER]
    spread = write_keys(judge).replace("\n", "\r\n").split("\r\n")
    return {
        "judge": write_keys(judge),
        "nobody": "",
        "without-the-old-head-key": write_keys([each for each in lines if each.key_id != roles.ID["old head"]]),
        "without-the-replay-key": write_keys([each for each in lines if each.key_id != roles.ID["replay"]]),
        "without-the-head-key": write_keys([each for each in lines if each.key_id != roles.ID["head"]]),
        "without-bonn": write_keys(lines[:4]),
        "of-two-names": write_keys([lines[1], replace(lines[3], name="Bonn")]),
        "spread-out": "\ufeff# keys of the judge\r\n \t\r\n\r\n" + "\r\n".join([*spread[:-1], spread[0]]),
    }


def refused_key_files() -> dict[str, tuple[bytes, int]]:
    """Return malformed key files, each with the first wrong line."""
    good = EXAMPLE.public
    head, replay = good.splitlines()
    ident, public, role, name = head.split(" ", 3)
    line = "{} {} {} {}\n".format
    return {
        "without-a-role": (f"{ident} {public}\n".encode(), 1),
        "another-role": (line(ident, public, "heads", name).encode(), 1),
        "large-letters": (line(ident, public.upper(), role, name).encode(), 1),
        "another-id": (line("0" * 16, public, role, name).encode(), 1),
        "two-spaces": (line(ident, f" {public}", role, name).encode(), 1),
        "a-space-at-the-end": (line(ident, public, role, f"{name} ").encode(), 1),
        "a-control-character": (line(ident, public, role, "A\x1b[2J").encode(), 1),
        "a-long-name": (line(ident, public, role, "x" * 101).encode(), 1),
        "no-name": (f"{ident} {public} {role}\n".encode(), 1),
        "two-roles": (f"{head}\n{line(ident, public, 'replay', name)}".encode(), 2),
        "two-names": (f"# first\n{head}\n{line(ident, public, role, 'another')}".encode(), 3),
        "a-key-of-small-order": (
            line(_id_of(SMALL_ORDER), SMALL_ORDER, role, name).encode(),
            1,
        ),
        "no-point": (line(_id_of(NO_POINT), NO_POINT, role, name).encode(), 1),
        "no-utf-8": (f"{head}\n".encode() + b"\xff\n", 2),
        "a-mark-in-the-middle": (f"{head}\n\ufeff{replay}\n".encode(), 2),
        "a-line-of-another-break": (f"{head}\r{replay}\n".encode(), 1),
    }


def refused_head_files() -> dict[str, tuple[bytes, int]]:
    """Return malformed files of kept heads, each with the first wrong line."""
    good = kept_line()
    return {
        "no-object": (b"[]\n", 1),
        "a-member-twice": (good[:1] + b'"sequence":1,' + good[1:], 1),
        "a-member-more": (good[:1] + b'"name":"Anna",' + good[1:], 1),
        "a-fraction": (good.replace(b'"sequence":40', b'"sequence":40.0'), 1),
        "an-exponent": (good.replace(b'"sequence":40', b'"sequence":4e1'), 1),
        "event-0": (good.replace(b'"sequence":40', b'"sequence":0'), 1),
        "too-large": (good.replace(b'"sequence":40', b'"sequence":9223372036854775808'), 1),
        "large-letters": (good.replace(good[good.index(b'"link"') :], good[good.index(b'"link"') :].upper()), 1),
        "too-long": (b"# kept\n" + good[:1] + b" " * 1_000 + good[1:], 2),
    }


def kept_line() -> bytes:
    """Return one valid line."""
    return write_heads([roles.kept(40, SERVICE.heads)]).encode()


def vouched() -> Iterator[Sample]:
    """Yield files for every pair of keys that is not the pair of one service."""
    resigned = roles.resigned()
    for name, forged in roles.FORGED.items():
        data = roles.signed(resigned, forged.heads, forged.replays)
        yield sample(name.replace(" ", "-").replace("'", ""), data, UNVERIFIED)
    data = roles.signed(resigned, roles.RIVAL.heads, roles.RIVAL.replays)
    yield sample("another-service", data, EXACT)
    yield sample("another-service-that-nobody-knows", data, UNVERIFIED, keys="without-bonn")
    whole = put_together(taken_apart(match()), SERVICE)
    early = head_of(whole.match_id, whole.events, 20, roles.OLD)
    rotated = of_replay(replace(whole, heads=(early, *whole.heads)))
    yield sample("rotated", rotated, EXACT)
    yield sample("rotated-and-forgotten", rotated, UNVERIFIED, keys="without-the-old-head-key")
    for keys in ("nobody", "without-the-replay-key", "without-the-head-key", "of-two-names"):
        yield sample(f"genuine-{keys}", whole, UNVERIFIED, keys=keys)
    yield sample("genuine-spread-out", whole, EXACT, keys="spread-out")
    for signer, name in ((SERVICE.replays, "replay"), (roles.ORGANISERS.heads, "bundle"), (roles.RIVAL.heads, "rival")):
        lines = taken_apart(whole)[:50]
        lost = head_of(whole.match_id, whole.events, 60, replace(SERVICE, heads=signer))
        secret = taken_apart(whole)[-1].event.secret
        lines.append(replace(lines[-1], event=Sealed(None, "log_lost", secret, lost), request=b""))
        said = diverged("result", 51) if name == "replay" else UNVERIFIED
        yield sample(f"lost-log-by-a-{name}-key", put_together(lines, SERVICE), said)
    weak = bytes.fromhex(SMALL_ORDER)
    (head,) = whole.heads
    weakly = replace(whole, heads=(replace(head, signature=weak + bytes(32)),))
    yield sample("a-head-signed-by-a-point-of-small-order", weakly, diverged("heads", head.sequence))
    file = of_replay(whole)
    yield sample("signed-by-a-point-of-small-order", file[:-64] + weak + bytes(32), diverged("container", None))
    yield sample("not-reduced", file[:-64] + _not_reduced(file[-64:]), diverged("container", None))


def _not_reduced(signature: bytes) -> bytes:
    """Return the same signature with its second half increased by the order of the group."""
    order = 2**252 + 27742317777372353535851937790883648493
    return signature[:32] + (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")


def kept_heads() -> Iterator[Sample]:
    """Yield files with kept heads that fit, that accuse, and that prove nothing."""
    honest = roles.honest()
    file = of_replay(honest)
    good = roles.kept(30, SERVICE.heads)
    yield sample("fits", file, EXACT, heads=(good, roles.kept(40, SERVICE.heads)))
    for name, (head, _) in roles.FLAWED.items():
        slug = name.replace(" ", "-").replace(",", "")
        yield sample(slug, file, EXACT, heads=(good, head), flawed=(2,))
    rewritten = of_replay(put_together(taken_apart(roles.resigned()), SERVICE))
    accusing = (roles.FLAWED["by a bundle key"][0], roles.kept(40, SERVICE.heads))
    yield sample("flawed-and-accusing", rewritten, diverged("heads", 40), heads=accusing, flawed=(1,))
    yield sample("of-another-service", file, UNVERIFIED, heads=(roles.kept(40, roles.RIVAL.heads, bytes(32)),))
    yield sample("of-another-service-that-agrees", file, EXACT, heads=(roles.kept(40, roles.RIVAL.heads),))
    unknown = Keys.of(2)
    yield sample("by-an-unknown-key", file, UNVERIFIED, heads=(roles.kept(40, unknown.heads, bytes(32)),))
    beyond = _beyond(honest)
    yield sample("beyond-the-end", file, diverged("heads", beyond.sequence), heads=(beyond,))
    running = of_replay(cut(honest, 50))
    yield sample("beyond-a-running-match", running, UNVERIFIED, heads=(roles.kept(60, SERVICE.heads),))
    elsewhere = replace(good, match_id="n", signature=sign_head(SERVICE.heads, "n", 30, bytes(32)), link=bytes(32))
    yield sample("of-another-match-truly", file, EXACT, heads=(elsewhere,))


def _beyond(replay: Replay) -> WitnessedHead:
    number = len(replay.events) + 5
    signature = sign_head(SERVICE.heads, replay.match_id, number, bytes(32))
    return WitnessedHead(replay.match_id, number, bytes(32), key_id(SERVICE.heads.public_key()), signature)
