"""`rollbook key` and `rollbook token` as an operator runs them: real processes, real files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from rollbook.identity.keys import list_published_keys, load
from rollbook.identity.tokens import Role, Subject, TrustedIssuer, Verifier
from rollbook.replay_file.key_lines import key_id, key_line, read_keys


def rollbook(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a separate process."""
    return subprocess.run(
        [sys.executable, "-X", "utf8", "-m", "rollbook", *words], capture_output=True, encoding="utf-8", check=False
    )


@pytest.fixture(name="key_file")
def created_key_file(tmp_path: Path) -> Path:
    """A key file that the command created."""
    path = tmp_path / "token.pem"
    assert 0 == rollbook("key", str(path), "--create").returncode
    return path


def subject_of(token: str, key_file: Path) -> Subject:
    """The subject of the token, for a service that trusts the key."""
    trusted = TrustedIssuer("rollbook", list_published_keys(key_file), frozenset(Role))
    return Verifier([trusted], time.time, leeway_seconds=5).verify(token)


def test_key_prints_the_public_key_and_nothing_else(key_file: Path) -> None:
    """The output is one line to publish; `--create` for an existing key changes nothing."""
    line = key_line(load(key_file).public_key())
    for words in ((), ("--create",)):
        done = rollbook("key", str(key_file), *words)
        assert (0, f"{line}\n", "") == (done.returncode, done.stdout, done.stderr)
    facts = json.loads(rollbook("key", str(key_file), "--json").stdout)
    assert line == f"{facts['key_id']} {facts['public_key']}"


def test_judges_get_every_key_that_heads_and_files_were_ever_signed_with(tmp_path: Path) -> None:
    """Current and retired keys for heads and replays, in one file; token keys are left out."""
    lines = []
    for name in ("head.key", "replay.key", "token.key"):
        path = tmp_path / name
        for _ in range(2):
            lines += rollbook("key", str(path), "--create").stdout.splitlines()
            path.unlink()
    name = lines[0].partition(" ")[0]
    roles = [
        f"{line} {role} {name}" for line, role in zip(lines[:4], ["head", "head", "replay", "replay"], strict=True)
    ]
    done = rollbook("key", str(tmp_path), "--published")
    assert (0, roles) == (done.returncode, done.stdout.splitlines())
    assert ["head", "head", "replay", "replay"] == [key.role for key in read_keys(done.stdout).values()]
    assert roles[:2] == rollbook("key", str(tmp_path / "head.key"), "--published").stdout.splitlines()
    assert roles[2:] == rollbook("key", str(tmp_path / "replay.key"), "--published").stdout.splitlines()
    named = rollbook("key", str(tmp_path), "--published", "--name", "Rollbook Köln", "--json").stdout.splitlines()
    assert {"Rollbook Köln"} == {json.loads(line)["name"] for line in named}
    assert ["head", "head", "replay", "replay"] == [json.loads(line)["role"] for line in named]
    (tmp_path / "none.key").touch()
    nothing = rollbook("key", str(tmp_path / "none.key"), "--published", "--role", "head")
    assert (3, "") == (nothing.returncode, nothing.stdout)
    assert "no key was ever published here" in nothing.stderr
    assert 64 == rollbook("key", str(tmp_path), "--published", "--create").returncode
    forgotten = rollbook("key", str(tmp_path))
    assert (3, True) == (forgotten.returncode, "--published prints" in forgotten.stderr)


def test_a_head_key_that_is_kept_elsewhere_is_a_line_of_the_same_name(tmp_path: Path) -> None:
    """A data directory without the head key does not know the service's name, so `--name` is required."""
    head, data = tmp_path / "secrets" / "head.pem", tmp_path / "data"
    for file in (head, data / "replay.key"):
        file.parent.mkdir()
        assert 0 == rollbook("key", str(file), "--create").returncode
    unnamed = rollbook("key", str(data), "--published")
    assert (64, "") == (unnamed.returncode, unnamed.stdout)
    assert "give --name, the same as for the head key" in unnamed.stderr
    lines = rollbook("key", str(head), "--published", "--role", "head", "--name", "Köln").stdout
    lines += rollbook("key", str(data), "--published", "--name", "Köln").stdout
    assert [("head", "Köln"), ("replay", "Köln")] == [(key.role, key.name) for key in read_keys(lines).values()]


def test_an_organiser_has_a_line_for_judges(tmp_path: Path) -> None:
    """The line has the role `bundle` and the name for verdicts; the default name is the key's id."""
    file = tmp_path / "organiser.key"
    made = rollbook("key", str(file), "--create", "--role", "bundle", "--name", "Spring cup")
    line = key_line(load(file).public_key())
    assert (0, f"{line} bundle Spring cup\n") == (made.returncode, made.stdout)
    assert f"{line} bundle {line[:16]}\n" == rollbook("key", str(file), "--role", "bundle").stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 64, "name a key file, or a service"),
        (("some.key", "--service", "127.0.0.1:1", "--published"), 64, "name a key file, or a service"),
        (("--service", "127.0.0.1:1"), 64, "--service goes with --published"),
        (("--service", "127.0.0.1:1", "--published", "--role", "head"), 64, "without --role"),
        (("some.key", "--name", "Köln"), 64, "--name goes behind a role"),
        (("some.key", "--role", "head", "--name", " "), 64, "--name: a name has 1 to 100 printable characters"),
        (("none.key", "--published"), 3, "none.key: no such file or directory"),
        (("none/head.key", "--published"), 3, "none/head.key: no such file or directory"),
        (("pyproject.toml", "--published"), 64, "pyproject.toml does not show what it signs"),
        ((".", "--published", "--role", "head"), 64, "files are named after their roles"),
        (("--service", "127.0.0.1:1", "--published"), 3, "no service answers at 127.0.0.1:1"),
        (("--service", "127.0.0.1:1", "--published", "--tls-ca", "none.pem"), 3, "none.pem: No such file"),
    ],
)
def test_a_service_is_asked_for_its_public_keys_and_for_nothing_else(
    words: tuple[str, ...], code: int, said: str
) -> None:
    """Wrong combinations are refused at once; standard output stays empty, so that only keys end up in a file."""
    done = rollbook("key", *words)
    assert (code, "") == (done.returncode, done.stdout)
    assert said in done.stderr


def test_key_without_create_makes_nothing_and_says_how_to(tmp_path: Path) -> None:
    """A mistyped path must not create a new key."""
    path = tmp_path / "token.pem"
    done = rollbook("key", str(path))
    assert (3, "") == (done.returncode, done.stdout)
    assert f"{path}: No such file or directory; rollbook key {path} --create makes one\n" == done.stderr
    assert [] == list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    """The message has the system's reason and no traceback."""
    done = rollbook("key", str(tmp_path / "none" / "token.pem"), "--create")
    assert (3, "") == (done.returncode, done.stdout)
    assert done.stderr.endswith(": No such file or directory\n")


@pytest.mark.parametrize("command", ["key", "token"])
def test_a_key_file_that_is_refused_ends_both_commands_with_1(key_file: Path, command: str) -> None:
    """A file that others can read, or a key of the wrong kind: the message names the file and the reason."""
    words = {
        "key": ("key", str(key_file)),
        "token": ("token", "--key", str(key_file), "--subject", "anna", "--role", "player"),
    }[command]
    key_file.chmod(0o644)
    exposed = rollbook(*words)
    assert (1, "") == (exposed.returncode, exposed.stdout)
    assert exposed.stderr.startswith(f"{key_file}: the mode of token.pem is 0644")
    key_file.write_bytes(Ed448PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    key_file.chmod(0o600)
    other = rollbook(*words)
    assert (1, f"{key_file}: it holds a private key, but not one of Ed25519\n") == (other.returncode, other.stderr)


def test_token_prints_one_token_and_explains_it_on_standard_error(key_file: Path) -> None:
    """Only the token is on standard output, so that $(rollbook token …) is the token."""
    done = rollbook("token", "--key", str(key_file), "--subject", "anna", "--role", "player", "--hours", "2")
    assert 0 == done.returncode
    assert re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]+\n", done.stdout)
    assert f"signed by key {key_id(load(key_file).public_key())}\n" in done.stderr
    assert re.match(r"player, valid until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, ", done.stderr)
    subject = subject_of(done.stdout.strip(), key_file)
    assert ("anna", "anna", Role.PLAYER) == (subject.sub, subject.name, subject.role)
    assert 7100 < subject.expires_at - time.time() <= 7200


@pytest.mark.parametrize("matches", [("--match", "m1", "--match", "m2"), ("--match", "m1", "m2")])
def test_a_judge_is_given_the_matches_named(key_file: Path, matches: tuple[str, ...]) -> None:
    """`--match` may be repeated, or take several values."""
    words = ("--subject", "j", "--role", "judge", *matches, "--name", "Jürgen R.")
    subject = subject_of(rollbook("token", "--key", str(key_file), *words).stdout.strip(), key_file)
    assert (Role.JUDGE, ("m1", "m2"), "Jürgen R.") == (subject.role, subject.matches, subject.name)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--role", "referee"), "player"),
        (("--role", "judge"), "the claim matches must name 1 to 64 matches"),
        (("--role", "player", "--match", "m1"), "the claim matches must be left out but for a judge"),
        (("--role", "judge", "--match", "a b"), "the claim matches must be ids of matches"),
        (("--role", "player", "--hours", "0"), "--hours must be 1 to 87,600"),
        (("--role", "player", "--hours", "87601"), "--hours must be 1 to 87,600"),
        (("--role", "player", "--hours", "soon"), "hours"),
        (("--role", "player", "--name", "An\u202ena"), "character 3 (U+202E) changes the direction of the text"),
        (("--role", "player", "--name", ""), "the claim name must be a player's name"),
        (("--role", "player", "--subject", ""), "the claim sub must be 1 to 200 printable characters"),
        (
            ("--role", "player", "--name", "An\u3164na"),
            "no player may have this name: character 3 (U+3164) is invisible",
        ),
        (("--role", "judge", "--match", *["m" * 100] * 60), "a token has at most 4096 bytes"),
        ((), "role"),
        (("--role", "player", "anna"), "anna"),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_wrong_usage_of_token_is_explained_and_ends_with_64(key_file: Path, words: tuple[str, ...], said: str) -> None:
    """The message on standard error names the allowed values and the help; standard output stays empty."""
    subject = () if "--subject" in words else ("--subject", "anna")
    done = rollbook("token", "--key", str(key_file), *subject, *words)
    assert (64, "") == (done.returncode, done.stdout)
    assert said.lower() in done.stderr.lower()
    assert "--help" in done.stderr


def test_token_without_a_key_file_says_how_to_make_one(tmp_path: Path) -> None:
    """The command does not create a key: no service would trust it."""
    path = tmp_path / "none.pem"
    done = rollbook("token", "--key", str(path), "--subject", "anna", "--role", "player")
    assert (3, "") == (done.returncode, done.stdout)
    assert f"{path}: No such file or directory; rollbook key {path} --create makes one\n" == done.stderr


@pytest.mark.parametrize("command", ["key", "token"])
def test_both_commands_explain_themselves(command: str) -> None:
    """Operators can learn both commands from `--help`."""
    done = rollbook(command, "--help")
    assert 0 == done.returncode
    assert f"Usage: rollbook {command}" in done.stdout
