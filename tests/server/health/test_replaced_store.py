"""A store that lost all its data under a service: no process uses it until an operator accepts the loss."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
import redis
from grpc_health.v1 import health_pb2

from rollbook.server.health.store_health import NOTE
from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.keys import lobby_key, marker_key
from rollbook.v1 import identity_pb2, match_pb2
from rollbook.v1.cant_stop_pb2 import CantStopOptions
from rollbook.v1.games_pb2 import Options
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from tests.ports import free_port
from tests.server.health.test_metrics import number, read, scrape
from tests.server.process.test_workers import TWO
from tests.server.rpc.talking import refused
from tests.server.serving import Service, another, call, service, started, until
from tests.storage.failovers import clustered
from tests.storage.servers import Server, running

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVE = [sys.executable, "-m", "rollbook", "serve", "--listen", "127.0.0.1:0"]


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Server]:
    """A store that runs elsewhere."""
    with running(find_server(), tmp_path / "valkey") as found:
        yield found


@contextmanager
def whole(data: Path, *flags: str) -> Iterator[Service]:
    """A service with all its parts, without the page."""
    with started([*SERVE, "--data", str(data), *flags]) as one:
        yield one


def open_match(one: Service, token: str, request_id: str) -> str:
    """Open a match and return its id."""
    request = match_pb2.OpenMatchRequest(request_id=request_id, seats=2, options=Options(cant_stop=CantStopOptions()))
    with one.channel() as channel:
        metadata = (("authorization", f"Bearer {token}"),)
        return str(MatchServiceStub(channel).OpenMatch(request, metadata=metadata, timeout=20).match_id)


def reason(one: Service, token: str) -> tuple[grpc.StatusCode, str]:
    """The status and the reason with which an opening is refused."""
    with pytest.raises(grpc.RpcError) as failure:
        open_match(one, token, "refused-request")
    told: Any = failure.value
    return told.code(), refused(told).reason


def is_(status: int, one: Service) -> bool:
    """Whether this is the service's health."""
    return status == one.status()


def is_refused(one: Service) -> bool:
    """Whether an append over a new connection is refused."""
    try:
        with one.channel() as channel:
            call(channel, "Write", "word")
    except grpc.RpcError:
        return True
    return False


def admin(command: str, one: Service, data: Path) -> tuple[int, str]:
    """Run a command of `rollbook admin` with JSON; returns its exit code and output."""
    rollbook = [sys.executable, "-m", "rollbook"]
    minted = [*rollbook, "token", "--key", str(data / "token.key"), "--subject", "olga", "--role", "operator"]
    token = subprocess.run(minted, check=True, capture_output=True, text=True).stdout.strip()
    words = [*rollbook, "admin", command, "--service", one.address, "--token", token, "--json"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_after_flushall_nothing_is_opened_until_an_operator_accepts_the_loss(valkey: Server, tmp_path: Path) -> None:
    """Two processes, a restart, and a process with a new data directory: all refuse, and all go on afterwards."""
    flags, metrics = ("--redis", valkey.url, "--archive", str(tmp_path / "archive")), f"127.0.0.1:{free_port()}"
    data = tmp_path / "one"
    with ExitStack() as stack:
        one = stack.enter_context(whole(data, *flags, "--metrics", metrics))
        two = stack.enter_context(whole(another(data, one), *flags))
        assert 0 == number(read(scrape(metrics)), "rollbook_store_replaced")
        with one.channel() as channel:
            token = IdentityServiceStub(channel).SignIn(identity_pb2.SignInRequest(name="Anna"), timeout=20).token
        before = open_match(one, token, "request-1")
        code, said = admin("accept-loss", one, data)
        assert 1 == code
        assert "the store is the one that it was" in said
        with valkey.client() as client:
            client.flushall()
        for each in (one, two):
            until(partial(is_, NOT_SERVING, each), each)
            assert (grpc.StatusCode.UNAVAILABLE, "STORE_REPLACED") == reason(each, token)
        found = read(scrape(metrics))
        assert 1 == number(found, "rollbook_store_replaced")
        assert 0 == number(found, "rollbook_serving")
        assert 1 <= number(found, "rollbook_store_errors_total", kind="replaced")
        assert "rollbook admin accept-loss" in one.line("the store cannot be written to")["why"]
        two.process.terminate()
        assert 0 == two.ended()
        # The second one again, with its note, and a third one that has none.
        three = tmp_path / "three"
        three.mkdir()
        for key in data.glob("*.key*"):
            (three / key.name).write_bytes(key.read_bytes())
            (three / key.name).chmod(0o600)
        others = [stack.enter_context(whole(path, *flags)) for path in (data.with_name("one-too"), three)]
        for each in others:
            assert NOT_SERVING == each.status()
            assert (grpc.StatusCode.UNAVAILABLE, "STORE_REPLACED") == reason(each, token)
        with valkey.client() as client:
            assert not client.exists(*(lobby_key(partition) for partition in range(256)))
        code, said = admin("accept-loss", others[0], data)
        assert (0, {"accepted": True, "ended": []}) == (code, json.loads(said))
        for each in (one, *others):
            until(partial(is_, SERVING, each), each)
            assert open_match(each, token, f"request-of-{each.process.pid}") != before
        assert 0 == number(read(scrape(metrics)), "rollbook_store_replaced")
        notes = {(path / NOTE).read_text(encoding="utf-8") for path in (data, three)}
        assert 1 == len(notes)
    with service(data, *flags) as again:
        assert SERVING == again.status()


@pytest.mark.parametrize("workers", [(), TWO], ids=["one process", "workers"])
def test_an_own_store_that_was_flushed_while_it_ran_or_between_two_starts_is_noticed(
    tmp_path: Path, workers: Sequence[str]
) -> None:
    """A new data directory is no loss; a start on an emptied store is one, whether it was noticed before or not."""
    with service(tmp_path, *workers) as one:
        assert SERVING == one.status()
        with own(tmp_path) as client:
            marker = client.get(marker_key(0))
            client.flushall()
        until(lambda: NOT_SERVING == one.status(), one)
        # With workers, each notices it at its own beat.
        until(lambda: all(is_refused(one) for _ in range(8)), one)
        with own(tmp_path) as client:
            # As a restored backup has it.
            client.set(marker_key(0), marker)
        until(lambda: all(is_(SERVING, one) for _ in range(8)), one)
        one.process.terminate()
        assert 0 == one.ended()
    with service(tmp_path, *workers) as again:
        assert SERVING == again.status()
        with own(tmp_path) as client:
            client.flushall()
            again.process.kill()
            again.process.wait()
    with service(tmp_path, *workers) as emptied:
        assert NOT_SERVING == emptied.status()


@contextmanager
def own(data: Path) -> Iterator[Any]:
    """A client of a service's own store."""
    with redis.Redis(unix_socket_path=str(data / "server.sock"), protocol=2) as client:
        yield client


def test_one_flushed_master_of_a_cluster_is_noticed(tmp_path: Path) -> None:
    """The other masters still have their markers; slots may move without an alarm."""
    with clustered(tmp_path / "cluster") as store:
        with service(tmp_path / "data", "--redis", store.url) as one:
            assert SERVING == one.status()
            master = store.masters(store.servers[0])[-1]
            with master.client() as client:
                client.flushall()
            until(lambda: NOT_SERVING == one.status(), one)
        with service(tmp_path / "data", "--redis", store.url) as again:
            assert NOT_SERVING == again.status()
