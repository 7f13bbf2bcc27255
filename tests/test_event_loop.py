"""Our event loop handles gRPC's pending wake-up calls at once and loses none."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any

import grpc
import pytest

from rollbook import event_loop
from rollbook.event_loop import ServiceLoop, new_loop

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there the platform's loop is used")

CALLS = 300


class Queue:
    """Imitates gRPC's poller: it reads one byte, then handles all pending events."""

    def __init__(self, ours: socket.socket) -> None:
        """`ours`: the socket that receives the wake-up calls."""
        self.socket = ours
        self.looks = 0

    def _handle_events(self, _loop: Any) -> None:
        self.looks += 1
        try:
            self.socket.recv(1)
        except BlockingIOError:
            return


def test_all_wake_up_calls_are_taken_at_once() -> None:
    """Any number of pending calls causes one iteration; on other loops each call costs one."""

    async def looks() -> int:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            queue, loop = Queue(ours), asyncio.get_running_loop()
            theirs.send(bytes(100))
            loop.add_reader(ours, partial(queue._handle_events, loop))
            for _ in range(10):
                await asyncio.sleep(0)
            loop.remove_reader(ours)
            return queue.looks

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert 1 == runner.run(looks())
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        assert 1 < runner.run(looks())


def test_other_readers_are_left_as_they_are() -> None:
    """A reader that reads its own socket receives all of the data."""

    async def heard() -> bytes:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            loop, found = asyncio.get_running_loop(), asyncio.Event()
            loop.add_reader(ours, found.set)
            theirs.send(b"word")
            await found.wait()
            loop.remove_reader(ours)
            return ours.recv(10)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert b"word" == runner.run(heard())


@pytest.mark.parametrize("debug", [False, True])
def test_what_is_called_back_comes_in_order_in_its_context_and_never_after_the_end(debug: bool) -> None:
    """As in asyncio: callbacks run in order, can be cancelled, and do not run on a closed loop."""
    word: ContextVar[str] = ContextVar("word", default="nothing")
    heard: list[tuple[int, str]] = []

    def hear(number: int) -> None:
        heard.append((number, word.get()))

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        loop.set_debug(debug)
        context = copy_context()
        context.run(word.set, "a word")
        for number in range(4):
            given = context if number == 1 else None
            handle = loop.call_soon(partial(hear, number), context=given)
            if number == 2:
                handle.cancel()
        word.set("too late")
        await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scenario())
        loop = runner.get_loop()
    assert [(0, "nothing"), (1, "a word"), (3, "nothing")] == heard
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_soon(heard.clear)


def test_grpc_is_recognised_and_answers_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop depends on internals of grpcio; a release that renames them fails here only."""
    found: list[Any] = []
    usual = event_loop._woken

    def noted(*how: Any) -> None:
        found.append(how)
        usual(*how)

    monkeypatch.setattr(event_loop, "_woken", noted)

    async def answered() -> list[bytes]:
        server = grpc.aio.server()

        async def echo(request: bytes, _context: Any) -> bytes:
            return request

        methods: dict[str, Any] = {"Echo": grpc.unary_unary_rpc_method_handler(echo)}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Test", methods),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        async with asyncio.timeout(60), grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            call: Any = channel.unary_unary("/Test/Echo")
            answers = await asyncio.gather(*[call(b"%d" % number) for number in range(CALLS)])
        await server.stop(None)
        return answers

    with asyncio.Runner(loop_factory=ServiceLoop) as runner:
        assert [b"%d" % number for number in range(CALLS)] == runner.run(answered())
    assert found


def test_the_collector_and_the_threads_are_as_before_when_the_service_has_ended() -> None:
    """The collector runs less often meanwhile, and threads give way sooner, however the service ends."""
    before = gc.get_threshold(), sys.getswitchinterval()

    async def failing() -> None:
        assert event_loop.GARBAGE == gc.get_threshold()
        assert pytest.approx(event_loop.SWITCH_SECONDS) == sys.getswitchinterval()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        event_loop.run(failing())
    assert before == (gc.get_threshold(), sys.getswitchinterval())
    assert event_loop.SWITCH_SECONDS * 5 < before[1]


def test_a_collection_has_few_objects_to_look_at() -> None:
    """It blocks the loop, and every object takes its time; 50,000 of them would take about 20 ms."""
    sizes: list[int] = []

    def note(phase: str, found: dict[str, int]) -> None:
        if phase == "start" and not found["generation"]:
            sizes.append(len(gc.get_objects(generation=0)))

    async def fill() -> None:
        assert len([[] for _ in range(100_000)]) == 100_000

    gc.callbacks.append(note)
    try:
        event_loop.run(fill())
    finally:
        gc.callbacks.remove(note)
    assert len(sizes) > 10
    assert max(sizes) < 10_000
