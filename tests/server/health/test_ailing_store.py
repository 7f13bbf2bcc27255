"""A store that answers but accepts no writes: health reports it, refusals name the cause, two processes agree."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2

from rollbook.server.refusals import refusal_of
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import AppendUnconfirmed, StoreUnavailable
from tests.server.play.test_matches import Client, Forgetful
from tests.server.replica.keeping import Process
from tests.server.replica.spoiling import Spoiler, run
from tests.server.rpc.talking import refusal
from tests.server.serving import another, call, health, service
from tests.storage.servers import Server, running

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
AILMENTS = [
    ("maxmemory", "1", "0", "out of memory"),
    ("min-replicas-to-write", "1", "0", "too few replicas"),
    ("appendfsync", "everysec", "always", "would not keep what it acknowledges"),
]


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module."""
    with running(find_server(), tmp_path_factory.mktemp("valkey")) as found:
        yield found


@pytest.mark.parametrize("ailment", AILMENTS)
def test_health_is_that_of_what_can_be_written(valkey: Server, tmp_path: Path, ailment: tuple[str, ...]) -> None:
    """Every process reports it and acknowledges nothing meanwhile; when the store recovers, all serve again."""
    setting, ill, well, _ = ailment
    flags = ("--redis", valkey.url)
    with valkey.client() as client:
        client.flushall()
    with (
        service(tmp_path / "one", *flags) as one,
        service(another(tmp_path / "one", one), *flags) as two,
        one.channel() as channel,
        two.channel() as other,
        valkey.client() as client,
    ):
        watches: list[Any] = [health(line).Watch(health_pb2.HealthCheckRequest()) for line in (channel, other)]
        assert [SERVING] * 2 == [next(watch).status for watch in watches]
        before = call(channel, "Write")
        client.config_set(setting, ill)
        try:
            assert [NOT_SERVING] * 2 == [next(watch).status for watch in watches]
            with pytest.raises(grpc.RpcError):
                call(channel, "Write")
        finally:
            client.config_set(setting, well)
        assert [SERVING] * 2 == [next(watch).status for watch in watches]
        assert before + 1 == call(other, "Write")


@pytest.mark.parametrize(("setting", "ill", "well", "cause"), AILMENTS)
def test_a_refusal_names_the_cause(valkey: Server, setting: str, ill: str, well: str, cause: str) -> None:
    """The message also confirms that nothing was changed."""

    async def scenario(world: Spoiler) -> None:
        await world.client.config_set(setting, ill)
        try:
            if setting == "appendfsync":
                with pytest.raises(StoreUnavailable):
                    await world.log.store.prove()
            told = await refusal(world.person("p0").open())
        finally:
            await world.client.config_set(setting, well)
        assert (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE") == (told.code, told.reason)
        assert cause in told.message
        assert "this changed nothing" in told.message
        assert await world.person("p0").open()

    run(valkey, scenario)


class Failing(Forgetful):
    """A store that loses the answer of an append and is unreachable afterwards."""

    async def append(self, match_id: str, expected: int, entries: Any, **how: Any) -> Any:
        """Append and lose the answer, or be unreachable."""
        if not self.times:
            raise StoreUnavailable
        return await super().append(match_id, expected, entries, **how)


@pytest.mark.parametrize("times", [0, 1])
def test_what_may_have_happened_is_told_so(times: int) -> None:
    """An append that is refused in the end may have happened at an earlier attempt."""

    async def scenario() -> None:
        log = Failing(happens=True, times=times)
        log.times = times
        with pytest.raises((AppendUnconfirmed, StoreUnavailable)) as caught:
            await Client(Process(log), "p0").open()
        told = refusal_of(caught.value)
        assert told is not None
        assert (times == 1) == ("may have happened" in told.why) == ("changed nothing" not in told.why)
        assert times == await log.inner.head("m")

    asyncio.run(scenario())
