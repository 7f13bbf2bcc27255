"""Behaviour specific to external stores: settings, scripts, silence, and other clients of the store."""

from __future__ import annotations

import asyncio
import signal
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

from rollbook.match.chain import Entry
from rollbook.storage.data_format import FORMAT
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import Appended, AppendUnconfirmed, Conflict, Hole, LobbyEntry, StoreUnavailable
from rollbook.storage.redis import connection
from rollbook.storage.redis.keys import ANNOUNCEMENTS, lobby_key, partition_of, stream_key
from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.tails import MOST_KEYS
from tests.storage.servers import DURABLE, OLDEST_REDIS, Server, running
from tests.storage.waiting import wait

pytestmark = pytest.mark.asyncio

PATIENCE_SECONDS: Final = 60.0


@pytest.fixture(params=["valkey", "cluster", "oldest_redis"])
def server(request: pytest.FixtureRequest) -> Server:
    """Run the test with each kind of server in turn."""
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest_asyncio.fixture
async def log(server: Server) -> AsyncIterator[RedisLog]:
    """A log on the server."""
    log = await RedisLog.connect(server.url)
    yield log
    await log.close()


@pytest.fixture
def client(server: Server) -> Iterator[Any]:
    """A client that bypasses the log."""
    with server.client() as client:
        yield client


async def refusal(url: str, durability: str = "fsync", partitions: int = 256) -> str:
    """Connect to a store, which must be refused; return the reason."""
    with pytest.raises(StoreUnavailable) as refused:
        await RedisLog.connect(url, durability, partitions=partitions)  # type: ignore[arg-type]
    return str(refused.value)


async def test_a_match_lies_where_the_design_says(log: RedisLog, client: Any, match_id: str) -> None:
    """One stream in its partition, ids that are sequences, and a private field only where needed."""
    await log.append(match_id, 0, [Entry(b"opened"), Entry(b"drawn", b"queen")], lobby=LobbyEntry(b"open"))
    partition = partition_of(match_id, log.parts)
    assert b"{p%d}:m:%b" % (partition, match_id.encode()) == stream_key(match_id, log.parts)
    stored = client.execute_command("XRANGE", stream_key(match_id, log.parts), "-", "+")
    assert [(b"1-0", {b"e": b"opened"}), (b"2-0", {b"e": b"drawn", b"p": b"queen"})] == stored
    assert b"open" == client.execute_command("HGET", lobby_key(partition), match_id)
    assert b"%d" % log.parts == client.execute_command("GET", "rollbook:partitions")


async def test_a_server_that_forgot_the_script_is_taught_again(log: RedisLog, client: Any, match_id: str) -> None:
    """After a restart, a failover or a flush, for a single append and for a batch."""
    for expected in range(3):
        client.script_flush()
        assert Appended(expected + 1) == await log.append(match_id, expected, [Entry(b"alone")])
    client.script_flush()
    crowd = [log.append(f"{match_id}-{number}", 0, [Entry(b"%d" % number)]) for number in range(20)]
    assert [Appended(1)] * 20 == await asyncio.gather(*crowd)
    for number in range(20):
        assert [Entry(b"%d" % number)] == await log.read(f"{match_id}-{number}")


async def test_appends_that_come_together_travel_together(log: RedisLog, client: Any, match_id: str) -> None:
    """While one batch is running the next one gathers: hundreds of appends need few messages and few syncs."""

    def counted() -> tuple[int, int]:
        appends = client.info("commandstats").get("cmdstat_evalsha", {"calls": 0})["calls"]
        return appends, client.info("stats")["total_reads_processed"]

    await log.append(match_id, 0, [Entry(b"first")])
    appends, reads = counted()
    crowd = [log.append(f"{match_id}-{number}", 0, [Entry(b"x" * 100)]) for number in range(400)]
    assert [Appended(1)] * 400 == await asyncio.gather(*crowd)
    appends_after, reads_after = counted()
    assert 400 == appends_after - appends
    assert reads_after - reads < 40


async def test_an_append_that_nobody_waits_for_any_more_takes_no_other_along(log: RedisLog, match_id: str) -> None:
    """A cancelled caller does not disturb the rest of its batch."""
    crowd = [asyncio.ensure_future(log.append(f"{match_id}-{n}", 0, [Entry(b"x")])) for n in range(10)]
    await asyncio.sleep(0)
    crowd[0].cancel()
    crowd[5].cancel()
    results = await asyncio.gather(*crowd, return_exceptions=True)
    assert 8 == results.count(Appended(1))
    assert Appended(1) == await log.append(match_id, 0, [Entry(b"next")])


async def test_the_append_of_a_caller_who_gave_up_is_not_sent_any_more(
    log: RedisLog, client: Any, match_id: str
) -> None:
    """It was waiting for the previous batch, and no caller would learn that it happened."""
    names = [f"{match_id}-{number}" for number in range(3)]
    client.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
    try:
        under_way = asyncio.ensure_future(log.append(match_id, 0, [Entry(b"under way")]))
        await until_blocked(client, 1)
        crowd = [asyncio.ensure_future(log.append(name, 0, [Entry(b"one")])) for name in names]
        await asyncio.sleep(0)
        crowd[1].cancel()
        await asyncio.gather(crowd[1], return_exceptions=True)
    finally:
        client.execute_command("CLIENT", "UNPAUSE")
    assert [Appended(1)] * 3 == list(await asyncio.gather(under_way, crowd[0], crowd[2]))
    assert [1, 0, 1] == [await log.head(name) for name in names]


STEPS = 40
"""Steps of the loop before a task is cancelled; more than connecting and an answer take."""


@pytest.mark.parametrize("steps", range(STEPS))
async def test_a_cancellation_is_heeded_whenever_it_comes(server: Server, steps: int) -> None:
    """A cancellation must never be lost, also during connecting, or the service could not end."""

    async def ask_for_ever() -> None:
        log = await RedisLog.connect(server.url)
        try:
            while True:
                await log.now_ms()
        finally:
            await log.close()

    asking = asyncio.create_task(ask_for_ever())
    for _ in range(steps):
        await asyncio.sleep(0)
    asking.cancel()
    ended, _ = await asyncio.wait({asking}, timeout=PATIENCE_SECONDS)
    asking.cancel()
    assert {asking} == ended


@pytest.mark.parametrize("steps", range(10))
async def test_a_cancellation_does_not_wait_for_the_server(steps: int, tmp_path: Path) -> None:
    """Cancelling a call to a silent server takes only a few steps of the loop."""
    with running(find_server(), tmp_path) as server:
        log = await RedisLog.connect(server.url)
        await log.now_ms()
        server.process.send_signal(signal.SIGSTOP)
        asking = asyncio.create_task(log.now_ms())
        for _ in range(steps):
            await asyncio.sleep(0)
        asking.cancel()
        for _ in range(STEPS):
            await asyncio.sleep(0)
        assert asking.cancelled()
        server.process.send_signal(signal.SIGCONT)
        assert 0 < await log.now_ms()
        await log.close()


async def test_many_more_matches_than_one_read_names_can_be_waited_for(log: RedisLog, match_id: str) -> None:
    """A wait can take over the reads of the previous wait, with an entry for any of them."""
    after = {f"{match_id}-{number}": 0 for number in range(2 * MOST_KEYS + 7)}
    names = list(after)
    for name in (names[0], names[MOST_KEYS], names[-1]):
        waiting = asyncio.ensure_future(wait(log, after, PATIENCE_SECONDS))
        await asyncio.sleep(0.01)
        await log.append(name, 0, [Entry(name.encode())])
        assert {name: [Entry(name.encode())]} == await waiting
        after[name] = 1


async def test_a_wait_survives_a_server_that_hangs_up(log: RedisLog, client: Any, match_id: str) -> None:
    """Reading again is harmless, so the log does it by itself."""
    waiting = asyncio.ensure_future(wait(log, {match_id: 0}, PATIENCE_SECONDS))
    await until_heard(client)
    client.client_kill_filter(_type="pubsub", skipme=True)
    client.client_kill_filter(_type="normal", skipme=True)
    await append_anyhow(log, match_id, 0, Entry(b"one"))
    assert {match_id: [Entry(b"one")]} == await waiting


async def test_a_server_that_falls_silent_is_not_listened_to_for_ever(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A connection may die without a sign: after a silence the listener sends a ping, and gives up without a reply."""
    monkeypatch.setattr(connection, "_SIGN_SECONDS", 1.0)
    with running(find_server(), tmp_path) as server, server.client() as client:
        log = await RedisLog.connect(server.url)
        began = asyncio.Event()
        listening = asyncio.create_task(log.listen(lambda _said: None, began.set))
        await began.wait()
        before = pings(client)
        await until(lambda: pings(client) >= before + 2)
        assert not listening.done(), "it answers"
        monkeypatch.setattr(connection, "_SIGN_SECONDS", 0.05)
        server.process.send_signal(signal.SIGSTOP)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await listening
        finally:
            server.process.send_signal(signal.SIGCONT)
        await log.close()


async def test_what_others_wrote_is_not_carried_on(log: RedisLog, client: Any, match_id: str) -> None:
    """A stream with foreign ids has no valid position, and a hole raises Hole instead of being skipped."""
    key = stream_key(match_id, log.parts)
    client.execute_command("XADD", key, "1-5", "e", "strange")
    assert Conflict(2) == await log.append(match_id, 1, [Entry(b"two")])
    with pytest.raises(Hole, match="has a hole behind event 0"):
        await log.read(match_id)
    client.execute_command("DEL", key)
    await log.append(match_id, 0, [Entry(b"one"), Entry(b"two"), Entry(b"three")])
    client.execute_command("XDEL", key, "2-0")
    with pytest.raises(Hole, match="has a hole behind event 1"):
        await log.read(match_id)
    assert [Entry(b"three")] == await log.read(match_id, after=2)


async def test_a_hole_in_one_match_is_told_and_the_others_do_not_wait(
    log: RedisLog, client: Any, match_id: str
) -> None:
    """The match with the hole is returned without entries, also if the hole appears during the wait."""
    sound = f"{match_id}-sound"
    after = {match_id: 0, sound: 0}
    waiting = asyncio.ensure_future(wait(log, after, PATIENCE_SECONDS))
    await until_heard(client)
    client.execute_command("XADD", stream_key(match_id, log.parts), "2-0", "e", "two")
    client.publish(ANNOUNCEMENTS, f"2 0 {match_id}")
    assert {match_id: []} == await waiting
    await append_anyhow(log, sound, 0, Entry(b"one"))
    seen: dict[str, list[Entry]] = {}
    while sound not in seen:
        seen |= await wait(log, after, PATIENCE_SECONDS)
    assert [Entry(b"one")] == seen[sound]
    assert [] == seen.get(match_id, [])
    with pytest.raises(Hole):
        await log.read(match_id)


async def test_a_lobby_that_is_none_lets_nothing_be_written(log: RedisLog, client: Any, match_id: str) -> None:
    """The script checks everything that could fail before its first write."""
    lobby = lobby_key(partition_of(match_id, log.parts))
    client.execute_command("DEL", lobby)
    client.execute_command("SET", lobby, "no hash")
    with pytest.raises(StoreUnavailable, match="WRONGTYPE"):
        await log.append(match_id, 0, [Entry(b"one")], lobby=LobbyEntry(b"open"))
    client.execute_command("DEL", lobby)
    assert 0 == await log.head(match_id)


async def test_what_is_no_log_is_a_log_with_a_hole(log: RedisLog, client: Any, match_id: str) -> None:
    """A key of another type affects only its match: the store counts as healthy, and other matches are returned."""
    sound = f"{match_id}-sound"
    await append_anyhow(log, sound, 0, Entry(b"one"))
    client.execute_command("SET", stream_key(match_id, log.parts), "no stream")
    assert Conflict(0) == await log.append(match_id, 0, [Entry(b"one")])
    assert 0 == await log.head(match_id)
    with pytest.raises(Hole):
        await log.read(match_id)
    seen: dict[str, list[Entry]] = {}
    while left := {match_id: 0, sound: 0}.keys() - seen.keys():
        seen |= await wait(log, dict.fromkeys(left, 0), PATIENCE_SECONDS)
    assert {match_id: [], sound: [Entry(b"one")]} == seen


async def test_a_part_of_the_lobby_that_is_none_hides_no_other(log: RedisLog, client: Any, match_id: str) -> None:
    """A field that no match of this part can have is skipped as well; the rest is listed."""
    part = partition_of(match_id, log.parts)
    sound = next(f"{match_id}-{n}" for n in range(99) if partition_of(f"{match_id}-{n}", log.parts) != part)
    await append_anyhow(log, sound, 0, Entry(b"one"))
    of_sound = lobby_key(partition_of(sound, log.parts))
    client.execute_command("HSET", of_sound, sound, b"sound", b"\xff", b"?", match_id, b"?")
    client.execute_command("DEL", lobby_key(part))
    client.execute_command("SET", lobby_key(part), "no hash")
    assert b"sound" == (listed := await log.lobby())[sound]
    assert match_id not in listed
    for changed in (match_id, sound):
        client.execute_command("DEL", lobby_key(partition_of(changed, log.parts)))


async def test_an_entry_that_is_missing_at_the_end_is_a_hole(log: RedisLog, client: Any, match_id: str) -> None:
    """The archivist's trim is no hole: it leaves a stream that expires."""
    for keep in (2, 0):
        await log.append(match_id, 0, [Entry(b"one"), Entry(b"two"), Entry(b"three")])
        key = stream_key(match_id, log.parts)
        client.execute_command(*(("XDEL", key, "3-0") if keep else ("XTRIM", key, "MAXLEN", 0)))
        with pytest.raises(Hole) as hole:
            await log.read(match_id)
        assert (keep, 3) == (hole.value.stored, hole.value.head)
        client.execute_command("DEL", stream_key(match_id, log.parts))
    await log.append(match_id, 0, [Entry(b"one"), Entry(b"two")])
    await log.trim(match_id)
    assert [] == await log.read(match_id)
    assert 2 == await log.head(match_id)


async def test_a_match_that_was_dropped_is_not_begun_again(log: RedisLog, client: Any, match_id: str) -> None:
    """After a drop of a trimmed or deleted log the match is in no list, and its log stays lost."""
    for spoil in (("XTRIM", "MAXLEN", 0), ("DEL",)):
        await log.append(match_id, 0, [Entry(b"one"), Entry(b"two")], lobby=LobbyEntry(b"open"))
        client.execute_command(spoil[0], stream_key(match_id, log.parts), *spoil[1:])
        await log.drop(match_id)
        assert None is await log.summary(match_id)
        head = await log.head(match_id)
        assert Conflict(head) == await log.append(match_id, 0, [Entry(b"one")], lobby=LobbyEntry(b"open"))
        with pytest.raises(Hole):
            await log.read(match_id)
        client.execute_command("DEL", stream_key(match_id, log.parts))


async def test_a_full_server_writes_all_or_nothing(tmp_path: Path, match_id: str) -> None:
    """The script refuses before the first entry or writes all, however little memory is left."""
    with running(find_server(), tmp_path, {"maxmemory": "8mb"}) as server, server.client() as client:
        log = await RedisLog.connect(server.url)
        head = 0

        async def fill() -> None:
            nonlocal head
            while True:
                assert Appended(head + 7) == await log.append(match_id, head, [Entry(b"x" * 30_000)] * 7)
                head += 7

        with pytest.raises(StoreUnavailable, match="maxmemory"):
            await fill()
        assert 0 < head == await log.head(match_id)
        client.config_set("maxmemory", "0")
        assert Appended(head + 1) == await log.append(match_id, head, [Entry(b"more")])
        await log.close()


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ("appendonly", "no"),
        ("appendfsync", "everysec"),
        ("no-appendfsync-on-rewrite", "yes"),
        ("maxmemory-policy", "allkeys-lru"),
    ],
)
async def test_a_server_that_could_lose_entries_is_refused_by_name(setting: str, found: str, tmp_path: Path) -> None:
    """The message has the setting, the needed value and the command; only `relaxed` accepts less."""
    with running(find_server(), tmp_path, {setting: found}) as server:
        told = await refusal(server.url)
        assert f"{setting} is {found}, and has to be {DURABLE[setting]}" in told
        assert f"CONFIG SET {setting} {DURABLE[setting]}" in told
        assert "durability 'relaxed'" in told
        log = await RedisLog.connect(server.url, "relaxed")
        assert Appended(1) == await log.append("match", 0, [Entry(b"one")])
        await log.close()


async def test_settings_that_cannot_be_read_are_refused_too(tmp_path: Path) -> None:
    """An unknown setting does not count as durable."""
    with running(find_server(), tmp_path) as server, server.client() as client:
        client.execute_command("ACL", "SETUSER", "service", "on", ">secret", "~*", "+@all", "-config")
        url = f"redis://service:secret@127.0.0.1:{server.port}"
        told = await refusal(url)
        assert "CONFIG GET appendonly was refused" in told
        assert "secret" not in told
        log = await RedisLog.connect(url, "relaxed")
        await log.close()


async def test_durability_is_looked_at_on_every_new_connection(tmp_path: Path) -> None:
    """A server whose settings have changed gets no append over new connections."""
    with running(find_server(), tmp_path) as server, server.client() as client:
        log = await RedisLog.connect(server.url)
        await log.append("match", 0, [Entry(b"one")])
        client.config_set("appendfsync", "everysec")
        client.client_kill_filter(_type="normal", skipme=True)
        with pytest.raises(StoreUnavailable, match="appendfsync is everysec"):
            await append_anyhow(log, "match", 1, Entry(b"two"))
        assert 1 == await log.head("match")
        client.config_set("appendfsync", "always")
        assert Appended(2) == await log.append("match", 1, [Entry(b"two")])
        await log.close()


async def test_durability_goes_by_its_names() -> None:
    """A misspelt durability must not mean less than the default."""
    with pytest.raises(ValueError, match="one of fsync, relaxed, replicated, replicated-memory, quorum, not 'fast'"):
        await RedisLog.connect("redis://127.0.0.1:1", "fast")  # type: ignore[arg-type]


async def test_another_number_of_partitions_is_refused(server: Server) -> None:
    """It would look for every match in the wrong place."""
    first = await RedisLog.connect(server.url)
    await first.close()
    told = await refusal(server.url, partitions=128)
    assert f"begun with {first.parts} partitions" in told
    assert "counts on 128" in told


async def test_a_store_keeps_the_format_of_its_matches(server: Server) -> None:
    """The first service writes the format; a service with another format refuses the store before reading a match."""
    first = await RedisLog.connect(server.url)
    await first.close()
    with server.client() as client:
        assert FORMAT.encode() == client.execute_command("GET", "rollbook:format")
        client.execute_command("SET", "rollbook:format", "rollbook data 99")
        assert "'rollbook data 99', and this version knows only" in await refusal(server.url)
        client.execute_command("DEL", "rollbook:format")
        assert "written before the first release" in await refusal(server.url)
        client.execute_command("SET", "rollbook:format", FORMAT)


async def test_a_password_is_asked_for_and_accepted(tmp_path: Path) -> None:
    """The password is not printed, and all connections use it."""
    with running(find_server(), tmp_path, {"requirepass": "let me in"}) as server:
        assert "cannot be reached" in await refusal(server.url) or "Authentication" in await refusal(server.url)
        told = await refusal(f"redis://:let%20me%20out@127.0.0.1:{server.port}")
        assert "let me out" not in told
        log = await RedisLog.connect(f"redis://:let%20me%20in@127.0.0.1:{server.port}")
        assert Appended(1) == await log.append("match", 0, [Entry(b"one")])
        assert {"match": [Entry(b"one")]} == await wait(log, {"match": 0}, PATIENCE_SECONDS)
        await log.close()


async def test_a_database_of_its_own_is_one(valkey: Server) -> None:
    """Two database numbers of one server are two stores."""
    log = await RedisLog.connect(f"{valkey.url}/5")
    match_id = uuid.uuid4().hex
    assert Appended(1) == await log.append(match_id, 0, [Entry(b"one")])
    elsewhere = await RedisLog.connect(valkey.url)
    assert 0 == await elsewhere.head(match_id)
    await elsewhere.close()
    await log.close()


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1", "unix:///nowhere/at/all", "redis+cluster://127.0.0.1:1"])
async def test_a_store_that_is_not_there_is_unavailable(url: str) -> None:
    """The call fails at once with StoreUnavailable and a message."""
    assert await refusal(url)


async def test_an_append_to_a_server_that_is_gone_was_not_made(tmp_path: Path) -> None:
    """A command that was never sent has not happened."""
    with running(find_server(), tmp_path) as server:
        log = await RedisLog.connect(server.url, append_seconds=2.0)
        await log.append("match", 0, [Entry(b"one")])
        server.process.kill()
        server.process.wait()
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            await append_anyhow(log, "match", 1, Entry(b"two"))
        with pytest.raises(StoreUnavailable):
            await log.head("match")
        with pytest.raises(StoreUnavailable):
            await wait(log, {"match": 1}, PATIENCE_SECONDS)
        await log.close()


@pytest.mark.parametrize("binary", [find_server(), OLDEST_REDIS], ids=["valkey", "oldest_redis"])
async def test_silence_leaves_an_append_unknown_and_asking_again_tells(binary: Path, tmp_path: Path) -> None:
    """The log never reports a possible success as a failure, and never sends an append twice by itself."""
    with running(binary, tmp_path) as server:
        log = await RedisLog.connect(server.url, append_seconds=0.3)
        await log.append("match", 0, [Entry(b"one")])
        server.process.send_signal(signal.SIGSTOP)
        with pytest.raises(AppendUnconfirmed):
            await log.append("match", 1, [Entry(b"two"), Entry(b"three")])
        with pytest.raises(StoreUnavailable):
            await log.append("match", 1, [Entry(b"never sent")])
        server.process.send_signal(signal.SIGCONT)
        with server.client() as client:
            await until(lambda: client.execute_command("XLEN", stream_key("match")) == 3)
        assert Conflict(3) == await log.append("match", 1, [Entry(b"two"), Entry(b"three")])
        assert [Entry(b"one"), Entry(b"two"), Entry(b"three")] == await log.read("match")
        await log.close()


async def test_a_batch_that_is_cut_off_is_unknown_as_far_as_it_was_not_answered(tmp_path: Path) -> None:
    """On a killed server each append is either acknowledged and stored, or unconfirmed; none counts as failed."""
    with running(find_server(), tmp_path) as server:
        log = await RedisLog.connect(server.url, append_seconds=5.0)
        server.process.send_signal(signal.SIGSTOP)
        crowd = [asyncio.ensure_future(log.append(f"match-{n}", 0, [Entry(b"one")])) for n in range(30)]
        for _ in range(STEPS):
            await asyncio.sleep(0)
        server.process.kill()
        results = await asyncio.gather(*crowd, return_exceptions=True)
        assert [AppendUnconfirmed] * 30 == [type(result) for result in results]
        await log.close()


async def append_anyhow(log: RedisLog, match_id: str, expected: int, entry: Entry) -> None:
    """Append like a service that retries after unconfirmed results until the outcome is known."""
    while True:
        try:
            result = await log.append(match_id, expected, [entry])
        except AppendUnconfirmed:
            continue
        assert result in (Appended(expected + 1), Conflict(expected + 1))
        return


def pings(client: Any) -> int:
    """The number of pings that the server has received."""
    return int(client.info("commandstats").get("cmdstat_ping", {}).get("calls", 0))


async def until(condition: Callable[[], bool]) -> None:
    """Poll until the condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


async def until_blocked(client: Any, count: int) -> None:
    """Poll until this many clients are blocked."""
    await until(lambda: client.info("clients")["blocked_clients"] >= count)


async def until_heard(client: Any) -> None:
    """Poll until a client has subscribed."""
    await until(lambda: client.pubsub_numsub(ANNOUNCEMENTS)[0][1] >= 1)
