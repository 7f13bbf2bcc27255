"""`rollbook serve` as an operator runs it: flags, variables, messages, exit codes, on a terminal and into a pipe."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from rollbook.identity.keys import load, load_or_create
from rollbook.replay_file.key_lines import key_id
from rollbook.server.configuration.settings import Listen, SettingRefused, Settings
from rollbook.v1 import feed_pb2, identity_pb2, match_pb2, replay_pb2
from rollbook.v1.feed_pb2_grpc import FeedServiceStub
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from rollbook.v1.replay_pb2_grpc import ReplayServiceStub
from tests.server.serving import READY_SECONDS, started

SERVE = [sys.executable, "-m", "rollbook", "serve"]
ANY_PORT = "127.0.0.1:0"


def done(*flags: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `rollbook serve` with flags that make it exit at once."""
    return subprocess.run(
        [*SERVE, *flags],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=READY_SECONDS,
        env={**os.environ, **(env or {})},
    )


def test_serve_offers_the_whole_contract(tmp_path: Path) -> None:
    """The service registers every gRPC service and answers a call to most of them.

    It accepts parts of files of the largest size.
    """
    with started([*SERVE, "--data", str(tmp_path), "--listen", ANY_PORT]) as one, one.channel() as channel:
        assert health_pb2.HealthCheckResponse.SERVING == one.status()
        services = {name for name in ProtoReflectionDescriptorDatabase(channel).get_services() if "rollbook" in name}
        assert {f"rollbook.v1.{name}Service" for name in ("Admin", "Match", "Feed", "Identity", "Replay")} == services
        keys = IdentityServiceStub(channel).GetKeys(identity_pb2.GetKeysRequest(), timeout=20).keys
        assert [one.line("listening")["head_key_id"]] == [key.key_id for key in keys]
        assert MatchServiceStub(channel).ListGames(match_pb2.ListGamesRequest(), timeout=20).ByteSize()
        token = IdentityServiceStub(channel).SignIn(identity_pb2.SignInRequest(), timeout=20).token
        largest = [replay_pb2.AuditReplayRequest(part=bytes(65_536))] * 2
        metadata = (("authorization", f"Bearer {token}"),)
        audited = ReplayServiceStub(channel).AuditReplay(iter(largest), timeout=60, metadata=metadata)
        assert replay_pb2.VERDICT_UNREADABLE == audited.verdict
        one.process.terminate()
        assert 0 == one.ended()


def test_no_token_and_no_name_is_in_the_log(tmp_path: Path) -> None:
    """A guest signs in and opens a match.

    The log has match, request and sequence, but neither the name nor the token.
    """
    words = [*SERVE, "--data", str(tmp_path), "--listen", ANY_PORT, "--log-level", "debug"]
    with started(words) as one, one.channel() as channel:
        signed_in = IdentityServiceStub(channel).SignIn(identity_pb2.SignInRequest(name="Annabell"), timeout=20)
        metadata = (("authorization", f"Bearer {signed_in.token}"),)
        request = match_pb2.OpenMatchRequest(request_id="open-the-match", seats=2)
        request.options.cant_stop.SetInParent()
        opened = MatchServiceStub(channel).OpenMatch(request, timeout=20, metadata=metadata)
        one.process.terminate()
        assert 0 == one.ended()
        (told,) = [line for line in one.lines if line.get("method", "").endswith("/OpenMatch")]
        assert (opened.match_id, "open-the-match", "OK") == (told["match"], told["request"], told["status"])
        assert 1 == told["sequence"]
        said = "".join(one.said)
        assert "Annabell" not in said
        assert all(part not in said for part in signed_in.token.split("."))


def test_a_watcher_of_a_drained_service_goes_on_at_the_next_one(tmp_path: Path) -> None:
    """The feed ends with reason and position; after the next start the same token finds the match."""
    words = [*SERVE, "--data", str(tmp_path), "--listen", ANY_PORT]
    with started(words) as one, one.channel() as channel:
        token = IdentityServiceStub(channel).SignIn(identity_pb2.SignInRequest(name="Anna"), timeout=20).token
        metadata = (("authorization", f"Bearer {token}"),)
        request = match_pb2.OpenMatchRequest(request_id="open-the-match", seats=2)
        request.options.cant_stop.SetInParent()
        opened = MatchServiceStub(channel).OpenMatch(request, timeout=20, metadata=metadata)
        watched = feed_pb2.WatchMatchRequest(match_id=opened.match_id)
        feed = FeedServiceStub(channel).WatchMatch(watched, timeout=60, metadata=metadata)
        assert "confirmed" == next(feed).WhichOneof("frame")
        assert "events" == next(feed).WhichOneof("frame")
        one.process.terminate()
        *_, last = feed
        assert feed_pb2.END_REASON_DRAINING == last.ended.reason
        assert 1 == last.ended.position.sequence
        assert 0 == one.ended(10)
    with started(words) as two, two.channel() as channel:
        again = MatchServiceStub(channel).OpenMatch(request, timeout=20, metadata=metadata)
        assert opened == again


def test_guests_can_be_switched_off(tmp_path: Path) -> None:
    """`SignIn` is refused."""
    words = [*SERVE, "--data", str(tmp_path), "--listen", ANY_PORT, "--no-guests"]
    with started(words) as one, one.channel() as channel:
        with pytest.raises(grpc.RpcError) as failure:
            IdentityServiceStub(channel).SignIn(identity_pb2.SignInRequest(name="Anna"), timeout=20)
        assert "takes no guests" in str(failure.value.details())


def test_every_flag_is_a_variable_too(tmp_path: Path) -> None:
    """Containers use variables; a flag overrides its variable."""
    key = load_or_create(tmp_path / "elsewhere.key")
    env = {
        "ROLLBOOK_DATA": str(tmp_path / "data"),
        "ROLLBOOK_LISTEN": "0.0.0.0:0",
        "ROLLBOOK_INSECURE": "true",
        "ROLLBOOK_DURABILITY": "relaxed",
        "ROLLBOOK_NAME": "Rollbook Köln",
        "ROLLBOOK_HEAD_KEY": str(tmp_path / "elsewhere.key"),
        "ROLLBOOK_GUESTS": "false",
        "ROLLBOOK_LOG_LEVEL": "error",
    }
    with started([*SERVE, "--listen", ANY_PORT], env=env) as one, one.channel() as channel:
        line = one.line("listening")
        asked = IdentityServiceStub(channel).GetKeys(identity_pb2.GetKeysRequest(), timeout=20)
        assert "Rollbook Köln" == asked.name
        assert str(line["address"]).startswith("127.0.0.1:")
        assert (str(tmp_path / "data"), "relaxed") == (line["data"], line["durability"])
        assert key_id(key.public_key()) == line["head_key_id"]
        assert not (tmp_path / "data" / "head.key").exists()
    env |= {"ROLLBOOK_REDIS": "redis://127.0.0.1:1", "ROLLBOOK_LISTEN": ANY_PORT, "ROLLBOOK_STORE_WAIT": "0"}
    assert "The store does not answer" in done(env=env).stderr
    env |= {"ROLLBOOK_TLS_CERT": str(tmp_path / "none")}
    assert "--tls-key: needed as well, because --tls-cert is given" in done(env=env).stderr


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--listen", "nowhere"), "--listen: 'nowhere' is not host:port, such as 127.0.0.1:50051"),
        (("--listen", "127.0.0.1:65536"), "--listen: a port is 0 (any that is free) to 65535"),
        (("--listen", "0.0.0.0:50051"), "--listen: 0.0.0.0 can be reached from other machines"),
        (("--redis", "http://x"), "--redis: http:// is not known"),
        (("--durability", "none"), "--durability"),
        (
            ("--durability", "replicated"),
            "--durability: replicated needs a store with replicas: give its URL by --redis",
        ),
        (("--replicas", "0"), "--replicas: a whole number, 1 to 16, not 0"),
        (("--store-wait", "-1"), "--store-wait: a whole number, 0 to 3600, not -1"),
        (("--archive", "http://x"), "--archive: a folder, or s3://bucket/prefix"),
        (("--archive", "s3://UPPER"), "--archive: a folder, or s3://bucket/prefix"),
        (("--archive-after", "-1"), "--archive-after: a whole number, 0 to 604800, not -1"),
        (("--tls-key", "key.pem"), "--tls-cert: needed as well, because --tls-key is given"),
        (("--no-such-flag",), "--no-such-flag"),
    ],
)
def test_wrong_flags_are_wrong_usage(tmp_path: Path, flags: tuple[str, ...], says: str) -> None:
    """The command exits with 64, names the flag and creates nothing."""
    refused = done("--data", str(tmp_path / "data"), *flags)
    assert 64 == refused.returncode
    assert says in refused.stdout + refused.stderr
    assert not (tmp_path / "data").exists()


def test_the_password_of_a_store_is_told_to_nobody(tmp_path: Path) -> None:
    """Neither a malformed URL nor an absent store prints the password."""
    malformed = done("--data", str(tmp_path), "--redis", "redis://user:hush/hush@host:port")
    assert 64 == malformed.returncode
    absent = done("--data", str(tmp_path), "--redis", "redis://user:hush@127.0.0.1:1", "--store-wait", "1")
    assert 1 == absent.returncode
    assert "rollbook serve: The store does not answer" in absent.stderr
    assert "hush" not in malformed.stderr + malformed.stdout + absent.stderr + absent.stdout


def test_keys_that_cannot_be_used_end_the_start(tmp_path: Path) -> None:
    """A missing key that was named is not created; a key file that others can read is refused."""
    missing = done("--data", str(tmp_path / "data"), "--listen", ANY_PORT, "--head-key", str(tmp_path / "none"))
    assert 3 == missing.returncode
    assert f"rollbook key {tmp_path / 'none'} --create makes one" in missing.stderr
    with started([*SERVE, "--data", str(tmp_path / "data"), "--listen", ANY_PORT]) as one:
        one.line("listening")
    load(tmp_path / "data" / "token.key")
    for name in ("service.key", "token.key"):
        (tmp_path / "data" / name).chmod(0o644)
        exposed = done("--data", str(tmp_path / "data"), "--listen", ANY_PORT)
        assert 1 == exposed.returncode
        assert f"{name}: " in exposed.stderr
        assert "only its owner may reach a key file (chmod 600)" in exposed.stderr
        (tmp_path / "data" / name).chmod(0o600)


def test_a_port_in_use_is_one_clear_line(tmp_path: Path) -> None:
    """The output has neither a message of gRPC nor a traceback."""
    with started([*SERVE, "--data", str(tmp_path / "one"), "--listen", ANY_PORT]) as one:
        refused = done("--data", str(tmp_path / "two"), "--listen", one.address)
        assert 1 == refused.returncode
        assert (
            f"rollbook serve: cannot listen on {one.address}: Address already in use; --listen names another place\n"
            == refused.stderr
        )


def test_a_directory_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    """A file in place of the data directory."""
    (tmp_path / "file").touch()
    refused = done("--data", str(tmp_path / "file"), "--listen", ANY_PORT)
    assert 1 == refused.returncode
    assert f"rollbook serve: {tmp_path / 'file'} cannot be used" in refused.stderr


def test_on_a_terminal_logs_are_for_people(tmp_path: Path) -> None:
    """Logs have colours and no JSON; Ctrl-C stops the service and its store with exit code 0."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [*SERVE, "--data", str(tmp_path), "--listen", ANY_PORT])  # noqa: S606 - our own
    shown = b""
    deadline = time.monotonic() + READY_SECONDS
    while b"listening on" not in shown or b"head_key_id" not in shown:
        assert time.monotonic() < deadline, shown
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65536)
    os.write(terminal, b"\x03")
    while select.select([terminal], [], [], READY_SECONDS)[0]:
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert 0 == os.waitstatus_to_exitcode(status), shown
    assert b"\x1b[" in shown
    assert b"drained" in shown
    assert b'{"' not in shown


def test_data_is_kept_in_the_users_data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data directory follows the XDG standard, which ignores relative paths."""
    if sys.platform != "linux":
        pytest.skip("directories are called otherwise elsewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert tmp_path / "share" / "rollbook" == Settings.read().data
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert tmp_path / ".local" / "share" / "rollbook" == Settings.read().data
    env = {"XDG_DATA_HOME": str(tmp_path / "share"), "ROLLBOOK_LISTEN": ANY_PORT}
    with started(SERVE, env=env) as one:
        assert str(tmp_path / "share" / "rollbook") == one.line("listening")["data"]
        one.process.send_signal(signal.SIGTERM)
        assert 0 == one.ended()


@pytest.mark.parametrize(
    "text",
    ["", ":1", "host", "host:", "host:-1", "host:x", "::1:50051", "[host]:1", "a b:1", "h:\N{FULLWIDTH DIGIT ONE}"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    """An invalid address is refused before the service starts."""
    with pytest.raises(SettingRefused) as refused:
        Listen.read(text)
    assert str(refused.value).startswith(("--listen: a port is 0", f"--listen: {text!r} is not host:port"))


@pytest.mark.parametrize("listen", ["127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "localhost:1"])
def test_a_loopback_address_needs_no_tls(listen: str) -> None:
    """Other machines cannot reach a loopback address."""
    assert listen == str(Settings.read(listen=listen).listen)


@pytest.mark.parametrize("listen", ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "example.org:1"])
def test_any_other_address_needs_tls_or_a_word(listen: str) -> None:
    """Tokens must not cross a network unencrypted by accident."""
    with pytest.raises(SettingRefused) as refused:
        Settings.read(listen=listen)
    assert "--listen" == refused.value.flag
    assert "can be reached from other machines" in refused.value.why
    assert listen == str(Settings.read(listen=listen, insecure=True).listen)
    tls = Settings.read(listen=listen, tls_cert=Path("a"), tls_key=Path("b")).tls
    assert tls is not None
