"""Key files: complete or absent, equal for processes that create one at once, refused if others can read them."""

from __future__ import annotations

import hashlib
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from rollbook.identity.keys import list_published_keys, load, load_or_create
from rollbook.identity.refusals import KeyReason, KeyRefused
from rollbook.replay_file.key_lines import key_id, key_line
from tests.test_ed25519 import SMALL_ORDER

SOME_KEY = Ed25519PrivateKey.from_private_bytes(b"\1" * 32)


def in_pem(key: Ed25519PrivateKey | Ed448PrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    """The key in the format of key files."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def written(path: Path, data: bytes, mode: int = 0o600) -> Path:
    """Write a file with this mode, independent of the umask."""
    path.write_bytes(data)
    path.chmod(mode)
    return path


def refusal(path: Path) -> KeyRefused:
    """Load the key file, which must be refused."""
    with pytest.raises(KeyRefused) as refused:
        load(path)
    return refused.value


def names_in(folder: Path) -> list[str]:
    """The names in the folder, with hidden files."""
    return sorted(path.name for path in folder.iterdir())


def mode_of(path: Path) -> int:
    """The permission bits of the file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_key_id_is_the_beginning_of_the_hash_of_the_public_key() -> None:
    """A client can compute the id from the key."""
    public = SOME_KEY.public_key()
    digest = hashlib.sha256(public.public_bytes_raw()).hexdigest()
    assert digest[:16] == key_id(public)
    assert f"{digest[:16]} {public.public_bytes_raw().hex()}" == key_line(public)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_created_key_file_is_for_its_owner_alone_and_its_list_for_all_to_read(tmp_path: Path, umask: int) -> None:
    """The modes do not depend on the umask, and no other file remains in the folder."""
    path = tmp_path / "token.pem"
    before = os.umask(umask)
    try:
        key = load_or_create(path)
    finally:
        os.umask(before)
    assert 0o600 == mode_of(path)
    assert 0o644 & ~umask == mode_of(tmp_path / "token.pem.public")
    assert ["token.pem", "token.pem.public"] == names_in(tmp_path)
    assert in_pem(key) == path.read_bytes() == in_pem(load(path))


def test_a_key_file_is_created_once_and_never_changed(tmp_path: Path) -> None:
    """A restarted service keeps its key."""
    path = tmp_path / "token.pem"
    first = load_or_create(path)
    data, noted = path.read_bytes(), (tmp_path / "token.pem.public").read_bytes()
    assert in_pem(first) == in_pem(load_or_create(path))
    assert (data, noted) == (path.read_bytes(), (tmp_path / "token.pem.public").read_bytes())


def test_loading_writes_nothing(tmp_path: Path) -> None:
    """A process that only mints or reads may lack the right to write."""
    path = written(tmp_path / "token.pem", in_pem(SOME_KEY))
    assert in_pem(SOME_KEY) == in_pem(load(path))
    assert ["token.pem"] == names_in(tmp_path)
    assert {} == list_published_keys(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.pem")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o620, 0o601, 0o610])
def test_a_key_file_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    """Other users may have read the secret; the message suggests what to do."""
    refused = refusal(written(tmp_path / "token.pem", in_pem(SOME_KEY), mode))
    assert KeyReason.KEY_EXPOSED == refused.reason
    assert f"the mode of token.pem is {mode:04o}: only its owner may reach a key file (chmod 600)" == str(refused)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_a_key_file_that_only_its_owner_can_reach_is_taken(tmp_path: Path, mode: int) -> None:
    """Read-only secrets are common."""
    assert in_pem(SOME_KEY) == in_pem(load(written(tmp_path / "token.pem", in_pem(SOME_KEY), mode)))


@pytest.mark.parametrize(
    ("reason", "data"),
    [
        (KeyReason.NOT_ED25519, in_pem(Ed448PrivateKey.generate())),
        (KeyReason.NOT_ED25519, in_pem(ec.generate_private_key(ec.SECP256R1()))),
        (KeyReason.KEY_MALFORMED, b""),
        (KeyReason.KEY_MALFORMED, b"\0" * 10_000),
        (KeyReason.KEY_MALFORMED, in_pem(SOME_KEY)[:60]),
        (KeyReason.KEY_MALFORMED, b"\n" * 5000 + in_pem(SOME_KEY)),
        (KeyReason.KEY_MALFORMED, SOME_KEY.private_bytes_raw()),
        (
            KeyReason.KEY_MALFORMED,
            SOME_KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")),
        ),
        (
            KeyReason.KEY_MALFORMED,
            SOME_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        ),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_file_that_holds_anything_but_an_ed25519_key_is_refused(
    tmp_path: Path, reason: KeyReason, data: bytes
) -> None:
    """The reason is a `KeyReason`; the message never contains the file's content."""
    refused = refusal(written(tmp_path / "token.pem", data))
    assert reason == refused.reason
    assert "BEGIN" not in str(refused)


def test_a_pipe_is_refused_and_does_not_block(tmp_path: Path) -> None:
    """Reading a pipe would block the start of the service."""
    os.mkfifo(tmp_path / "token.pem", 0o600)
    assert KeyReason.KEY_MALFORMED == refusal(tmp_path / "token.pem").reason


def test_a_folder_in_the_place_of_a_key_cannot_be_read(tmp_path: Path) -> None:
    """The system's own error is raised, as for a missing file."""
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def test_public_keys_stay_published_after_their_key_file_is_gone(tmp_path: Path) -> None:
    """Signatures of old keys can always be verified; the keys are listed oldest first."""
    path = tmp_path / "token.pem"
    keys = []
    for _ in range(3):
        keys.append(load_or_create(path).public_key())
        path.unlink()
    assert [key_id(key) for key in keys] == list(list_published_keys(path))
    assert keys == list(list_published_keys(path).values())
    assert "".join(f"{key_line(key)}\n" for key in keys) == (tmp_path / "token.pem.public").read_text()


def test_a_line_that_a_crash_cut_short_is_written_again(tmp_path: Path) -> None:
    """A crash while publishing must neither stop the next start nor lose a published key."""
    path = tmp_path / "token.pem"
    old = SOME_KEY.public_key()
    new = load_or_create(path).public_key()
    line = f"{key_line(new)}\n".encode()
    noted = tmp_path / "token.pem.public"
    for length in range(len(line)):
        noted.write_bytes(f"{key_line(old)}\n".encode() + line[:length])
        assert [key_id(old)] == list(list_published_keys(path))
        load_or_create(path)
        assert f"{key_line(old)}\n".encode() + line == noted.read_bytes()


@pytest.mark.parametrize(
    "line",
    [
        " #",
        "no hexadecimal",
        key_line(SOME_KEY.public_key())[:-2],
        key_line(SOME_KEY.public_key()).upper(),
        "0" * 16 + key_line(SOME_KEY.public_key())[16:],
        key_line(SOME_KEY.public_key()) + " ",
        "ü",
    ],
)
def test_a_list_of_published_keys_with_a_wrong_line_is_refused(tmp_path: Path, line: str) -> None:
    """Clients trust this list, so the reader must not guess."""
    path = tmp_path / "token.pem"
    load_or_create(path)
    with (tmp_path / "token.pem.public").open("a") as noted:
        noted.write(f"{line}\n")
    for read in (list_published_keys, load_or_create):
        with pytest.raises(KeyRefused) as refused:
            read(path)
        assert KeyReason.PUBLISHED_MALFORMED == refused.value.reason
        assert str(refused.value).startswith("line 2 of the published keys")


def test_a_list_of_published_keys_may_have_what_editors_leave_in_it(tmp_path: Path) -> None:
    """Operators add lines with any editor to rotate keys; weak keys are refused in the list as well."""
    path, noted = tmp_path / "token.pem", tmp_path / "token.pem.public"
    old = key_line(SOME_KEY.public_key())
    noted.write_text(f"\ufeff# of the other replica\r\n\r\n{old}\r\n", encoding="utf-8")
    new = load_or_create(path).public_key()
    assert [old, key_line(new)] == [key_line(key) for key in list_published_keys(path).values()]
    weak = bytes.fromhex(SMALL_ORDER[4])
    noted.write_text(f"{old}\n{hashlib.sha256(weak).hexdigest()[:16]} {weak.hex()}\n")
    with pytest.raises(KeyRefused, match=r"line 2 of the published keys .* small order"):
        list_published_keys(path)


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_list_of_published_keys_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    """Another user could add a key and sign as the service."""
    path = tmp_path / "token.pem"
    load_or_create(path)
    (tmp_path / "token.pem.public").chmod(mode)
    for read in (list_published_keys, load_or_create):
        with pytest.raises(KeyRefused) as refused:
            read(path)
        assert KeyReason.KEY_EXPOSED == refused.value.reason


def test_every_reason_to_refuse_a_key_is_tested_here() -> None:
    """A reason without a test might never be raised."""
    assert [] == [reason for reason in KeyReason if f"KeyReason.{reason.name}" not in Path(__file__).read_text()]


RACE = """
import sys
from pathlib import Path
from rollbook.identity.keys import load_or_create
from rollbook.replay_file.key_lines import key_line
folder = Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    print(key_line(load_or_create(folder / f"{number}.pem").public_key()), flush=True)
"""


def test_processes_that_create_a_key_at_once_get_the_same_key(tmp_path: Path) -> None:
    """Replicas that start together must not sign with two keys of which one is lost."""
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert "ready\n" == racer.stdout.readline()
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = [racer.communicate()[0].splitlines() for racer in racers]
    assert [0] * 4 == [racer.returncode for racer in racers]
    for number, lines in enumerate(zip(*said, strict=True)):
        assert [lines[0]] == sorted(set(lines))
        assert f"{lines[0]}\n" == (tmp_path / f"{number}.pem.public").read_text()
    assert sorted(f"{number}.pem{end}" for number in range(20) for end in ("", ".public")) == names_in(tmp_path)


CREATE_MANY = """
import sys
from itertools import count
from pathlib import Path
from rollbook.identity.keys import load_or_create
print("ready", flush=True)
for number in count():
    load_or_create(Path(sys.argv[1]) / f"{number}.pem")
"""


@pytest.mark.parametrize("milliseconds", [3, 10, 20, 31, 47])
def test_a_process_that_is_killed_leaves_no_half_key(tmp_path: Path, milliseconds: int) -> None:
    """At any moment of the kill, the next start finds a whole key or none."""
    child = subprocess.Popen([sys.executable, "-c", CREATE_MANY, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert "ready\n" == child.stdout.readline()
    time.sleep(milliseconds / 1000)
    child.kill()
    child.communicate()
    assert -signal.SIGKILL == child.returncode
    for path in [*tmp_path.glob("*.pem"), tmp_path / "next.pem"]:
        key = load_or_create(path)
        assert [key_id(key.public_key())] == list(list_published_keys(path))


def test_a_full_disk_leaves_no_half_key(tmp_path: Path) -> None:
    """A truncated file would stop every later start."""
    # The child limits itself: limiting it between fork and exec is unsafe with gRPC's threads.
    script = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))\n{CREATE_MANY}"
    limited = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert "OSError" in limited.stderr
    assert [] == names_in(tmp_path)
