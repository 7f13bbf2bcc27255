"""Watchers in their own process, so that their cost is not counted for the server.

The process reads JSON objects, one a line: first the match to watch, then repeatedly the number of events to wait for.
It answers each with the times at which every watcher had them, by the clock of the machine.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import grpc

from rollbook.v1.feed_pb2 import MatchFrame

WATCHERS_A_CONNECTION = 100
LONGEST_LINE = 2**20


class Crowd:
    """The parent's handle on such a process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    @asynccontextmanager
    async def watching(
        cls, address: str, method: str, request: bytes, metadata: Any, watchers: int
    ) -> AsyncIterator[Crowd]:
        """Start watchers; each of them has its first frame."""
        program = (sys.executable, "-m", "tests.bench.service.crowd")
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*program, stdin=pipe, stdout=pipe, limit=LONGEST_LINE)
        crowd = cls(process)
        try:
            what = {"address": address, "method": method, "request": request.hex(), "metadata": metadata}
            await crowd._ask({**what, "watchers": watchers})
            yield crowd
        finally:
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()

    async def told(self, events: int) -> list[float]:
        """Return the times, in seconds, at which each watcher had this many more events."""
        answer: list[float] = await self._ask(events)
        return answer

    async def frame(self) -> bytes:
        """Return the bytes of the last frame with events."""
        return bytes.fromhex(await self._ask("frame"))

    async def _ask(self, question: Any) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(question).encode() + b"\n")
        await stdin.drain()
        line = await stdout.readline()
        assert line, "the crowd has gone home"
        return json.loads(line)


class _Watcher:
    """A stream that is always read, with the time of its last events."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._told = 0
        self._awaited = 0
        self._has_all = asyncio.Event()
        self._at = 0.0
        self.frame = b""

    async def follow(self) -> None:
        while (data := await self._call.read()) is not grpc.aio.EOF:
            if events := len(MatchFrame.FromString(data).events.events):
                self._at = time.monotonic()
                self._told += events
                self.frame = data
                if self._told >= self._awaited:
                    self._has_all.set()

    async def wait_for(self, events: int) -> float:
        self._awaited += events
        if self._told < self._awaited:
            self._has_all.clear()
            await self._has_all.wait()
        return self._at


async def main() -> None:
    """Watch, and answer."""
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    what = json.loads(await lines.readline())
    metadata = [tuple(each) for each in what["metadata"] or ()]
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with AsyncExitStack() as stack:
        watchers: list[_Watcher] = []
        for number in range(what["watchers"]):
            if number % WATCHERS_A_CONNECTION == 0:
                channel = await stack.enter_async_context(grpc.aio.insecure_channel(what["address"], options))
                watch: Any = channel.unary_stream(what["method"])
            call = watch(bytes.fromhex(what["request"]), metadata=metadata)
            stack.callback(call.cancel)
            await call.read()
            watchers.append(_Watcher(call))
        following = [asyncio.create_task(watcher.follow()) for watcher in watchers]
        print(json.dumps(None), flush=True)
        while line := await lines.readline():
            asked = json.loads(line)
            if asked == "frame":
                answer: Any = watchers[0].frame.hex()
            else:
                answer = await asyncio.gather(*[watcher.wait_for(asked) for watcher in watchers])
            print(json.dumps(answer), flush=True)
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main())
