"""A service that starts before its store is ready waits for it, and logs the reason."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from redis.exceptions import BusyLoadingError, ConnectionError  # noqa: A004 - what the store's clients call it

from rollbook.storage.embedded.server import find_server
from tests.server.process.test_running import refused
from tests.server.serving import Service, call, service, until
from tests.storage.servers import Server, running

LOADS_SLOWLY = {"key-load-delay": "50000", "loading-process-events-interval-bytes": "1024"}
"""Load delay per key in microseconds, and bytes between two replies while loading."""

KEYS, BYTES = 2_000, 2_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """A server that would take 100 s to load its data, until its delay is set to 0."""
    with running(find_server(), tmp_path / "store", LOADS_SLOWLY) as found:
        yield found


def stopped(store: Server) -> Callable[[], None]:
    """Stop the server; return a function that starts it again."""
    store.kill()
    return store.start_again


def loading(store: Server) -> Callable[[], None]:
    """Make the server reply LOADING to every command; return a function that lets it finish."""
    with store.client() as client:
        for number in range(KEYS):
            client.set(f"filler-{number}", os.urandom(BYTES))
        client.bgrewriteaof()

        def is_written() -> bool:
            found = client.info("persistence")
            return not (found["aof_rewrite_in_progress"] or found["aof_rewrite_scheduled"])

        until(is_written)
    store.kill()
    store.start_again(is_awaited=False)

    def is_loading() -> bool:
        try:
            with store.client() as client:
                client.get("filler-0")
        except BusyLoadingError:
            return True
        except ConnectionError:
            pass
        return False

    until(is_loading)

    def finish() -> None:
        with store.client() as client:
            client.config_set("key-load-delay", 0)

    return finish


def without_replicas(store: Server) -> Callable[[], None]:
    """Make the server refuse every write with NOREPLICAS; return a function that ends this."""

    def need(replicas: int) -> None:
        with store.client() as client:
            client.config_set("min-replicas-to-write", replicas)

    need(1)
    return partial(need, 0)


def waits(one: Service) -> list[str]:
    """The reasons that the service logged while it waited."""
    return [str(line["why"]) for line in one.lines if line["event"] == "waiting for the store"]


AILMENTS = [(stopped, "Connect call failed"), (loading, "is loading"), (without_replicas, "NOREPLICAS")]


@pytest.mark.parametrize(("spoil", "why"), AILMENTS)
def test_a_store_that_is_not_ready_is_waited_for_and_the_log_says_why(
    store: Server, tmp_path: Path, spoil: Callable[[Server], Callable[[], None]], why: str
) -> None:
    """The reason is logged every second. Once the store is ready, the service serves."""
    mend = spoil(store)
    with service(tmp_path / "data", "--redis", store.url) as one:
        until(lambda: len(waits(one)) >= 3, one)
        assert all(why in each for each in waits(one)[1:])
        mend()
        with one.channel() as channel:
            assert 1 == call(channel, "Write")
        one.process.terminate()
        assert 0 == one.ended()


@pytest.mark.parametrize(("spoil", "why"), AILMENTS)
def test_without_a_wait_a_store_that_is_not_ready_ends_the_start(
    store: Server, tmp_path: Path, spoil: Callable[[Server], Callable[[], None]], why: str
) -> None:
    """The exit code is 1, with the reason in one line."""
    spoil(store)
    wait = ("--store-wait", "0")
    done = refused("--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--redis", store.url, *wait)
    assert 1 == done.returncode
    assert why in done.stderr
    assert "waiting" not in done.stderr


def test_the_wait_ends_with_its_time_or_with_a_signal(store: Server, tmp_path: Path) -> None:
    """After the time limit the exit code is 1 with the reason; after a signal it is 0."""
    stopped(store)
    wait = ("--store-wait", "2")
    late = refused("--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--redis", store.url, *wait)
    assert 1 == late.returncode
    assert "rollbook serve: The store does not answer" in late.stderr
    assert "waiting for the store" in late.stderr
    with service(tmp_path / "data", "--redis", store.url) as one:
        one.line("waiting for the store")
        one.process.send_signal(signal.SIGTERM)
        assert 0 == one.ended()


def test_what_waiting_does_not_mend_ends_the_start_at_once(store: Server, tmp_path: Path) -> None:
    """A wrong password, and a store that lacks the durability."""
    with store.client() as client:
        client.config_set("requirepass", "right")
    flags = ("--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--redis")
    done = refused(*flags, store.url.replace("//", "//:wrong@"))
    assert (1, False) == (done.returncode, "waiting" in done.stderr)
    with store.client("right") as client:
        client.config_set("appendfsync", "everysec")
    done = refused(*flags, store.url.replace("//", "//:right@"))
    assert (1, True, False) == (done.returncode, "appendfsync is everysec" in done.stderr, "waiting" in done.stderr)
