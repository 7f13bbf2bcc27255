"""The table without `async`: the same calls, which wait; the asynchronous ones run in a thread of the table's own.

    from rollbook_clients.sdk import CaughtUp
    from rollbook_clients.sdk.sync import connect

    with connect("localhost:50051") as table:
        match = table.open("wuerfelzoo", seats=3)
        print("I sit on seat", match.join().number)
        for frame in match.watch():
            if isinstance(frame, CaughtUp):
                break
        for summary in table.matches(mine=True):
            print(summary.match_id)

`SyncTable` and `SyncMatch` have the methods of `Table` and `Match` in `rollbook_clients.sdk`, documented there.
"""

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from rollbook.match.chain import Position
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook_clients import sdk as asynchronous
from rollbook_clients.sdk.heads import KeptHeads

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        """Make it; nothing runs yet."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rollbook table", daemon=True)

    def start(self) -> None:
        """Run what comes."""
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Wait for what a coroutine gives; whatever ends the waiting ends it too."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @property
    def is_closed(self) -> bool:
        """Whether nothing can run any more."""
        return self._loop.is_closed()

    def close(self) -> None:
        """Stop it, and wait until it has."""
        self.run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


C = TypeVar("C", bound=Callable[..., Any])


class _Run(Generic[T]):
    """Something asynchronous, and the loop that runs it."""

    def __init__(self, inner: T, loop: Loop) -> None:
        self.inner = inner
        self.loop = loop


def _waiting(method: Callable[Concatenate[T, P], Coroutine[Any, Any, R]]) -> Callable[Concatenate[_Run[T], P], R]:
    """The method, which waits for its answer."""

    @wraps(method)
    def waits(run: _Run[T], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return run.loop.run(method(run.inner, *args, **kwargs))

    return waits


def _giving(function: C, method: Callable[..., Any], told: Callable[[str], str]) -> C:
    """The function, whose signature says what it gives: that of the method gives something to await."""
    signature = inspect.signature(method)
    result = told(str(signature.return_annotation))
    function.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]  # as inspect reads it
    return function


def _stepping(
    method: Callable[Concatenate[T, P], AsyncGenerator[R, None]],
) -> Callable[Concatenate[_Run[T], P], Generator[R, None, None]]:
    """The generator, which waits for each of its items."""

    @wraps(method)
    def steps(run: _Run[T], /, *args: P.args, **kwargs: P.kwargs) -> Generator[R, None, None]:
        items = method(run.inner, *args, **kwargs)
        try:
            while True:
                try:
                    item = run.loop.run(_next(items))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            if not run.loop.is_closed:
                run.loop.run(items.aclose())

    return _giving(steps, method, lambda told: told.replace("AsyncGenerator[", "Generator[").replace("]", ", None]"))


async def _next(items: AsyncGenerator[R, None]) -> R:
    return await anext(items)


class SyncMatch(_Run[asynchronous.Match]):
    """A match, as `rollbook_clients.sdk.Match` is one."""

    @property
    def id(self) -> str:
        """The match."""
        return self.inner.id

    @property
    def invitation_code(self) -> str:
        """What opens a seat of a private match to whoever has it; empty if it is public, or not known."""
        return self.inner.invitation_code

    @property
    def address(self) -> str:
        """Where the service is."""
        return self.inner.address

    @property
    def head(self) -> WitnessedHead | None:
        """The last head of the match that the service signed and this client has checked; none before it saw any."""
        return self.inner.head

    @property
    def position(self) -> Position | None:
        """What a choice answers unless it is told otherwise: the last that was shown."""
        return self.inner.position

    state = _waiting(asynchronous.Match.state)
    join = _waiting(asynchronous.Match.join)
    leave = _waiting(asynchronous.Match.leave)
    withdraw = _waiting(asynchronous.Match.withdraw)
    abort = _waiting(asynchronous.Match.abort)
    add_bot = _waiting(asynchronous.Match.add_bot)
    free_seat = _waiting(asynchronous.Match.free_seat)
    ready = _waiting(asynchronous.Match.ready)
    choose = _waiting(asynchronous.Match.choose)
    resign = _waiting(asynchronous.Match.resign)
    play = _stepping(asynchronous.Match.play)
    watch = _stepping(asynchronous.Match.watch)
    replay = _waiting(asynchronous.Match.replay)
    export = _waiting(asynchronous.Match.export)
    verify = _waiting(asynchronous.Match.verify)

    def rematch(self) -> "SyncMatch":
        """The rematch of this match, as the others who sat in it meet it."""
        return SyncMatch(self.loop.run(self.inner.rematch()), self.loop)


def _opening(
    method: Callable[Concatenate[T, P], Coroutine[Any, Any, asynchronous.Match]],
) -> Callable[Concatenate[_Run[T], P], SyncMatch]:
    """The method, which waits for the match that it gives."""

    @wraps(method)
    def opens(run: _Run[T], /, *args: P.args, **kwargs: P.kwargs) -> SyncMatch:
        return SyncMatch(run.loop.run(method(run.inner, *args, **kwargs)), run.loop)

    return _giving(opens, method, lambda _: "SyncMatch")


class SyncTable(_Run[asynchronous.Table]):
    """A table, as `rollbook_clients.sdk.Table` is one; `connect` makes it."""

    def __enter__(self) -> Self:
        """Sign in; Unreachable if no service answers."""
        self.loop.start()
        try:
            self.loop.run(self.inner.__aenter__())
        except BaseException:
            self.loop.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Hang up, and keep the heads that were seen."""
        try:
            self.loop.run(self.inner.__aexit__(kind, error, at))
        finally:
            self.loop.close()

    @property
    def address(self) -> str:
        """Where the service is."""
        return self.inner.address

    @property
    def name(self) -> str:
        """What a guest is called; empty if a token says who one is."""
        return self.inner.name

    @property
    def token(self) -> str:
        """The token that calls are made with. Whoever has it is this caller."""
        return self.inner.token

    @property
    def heads(self) -> KeptHeads:
        """The last signed head of every match that was seen."""
        return self.inner.heads

    games = _waiting(asynchronous.Table.games)
    device_code = _waiting(asynchronous.Table.device_code)
    open = _opening(asynchronous.Table.open)
    matches = _stepping(asynchronous.Table.matches)
    lobby = _stepping(asynchronous.Table.lobby)

    def match(self, match_id: str, invitation_code: str = "") -> SyncMatch:
        """A match by its id; nothing is asked yet. The code opens a private one."""
        return SyncMatch(self.inner.match(match_id, invitation_code), self.loop)


def _entering(method: Callable[P, asynchronous.Table]) -> Callable[P, SyncTable]:
    """The function, whose table is used with `with`."""

    @wraps(method)
    def enters(*args: P.args, **kwargs: P.kwargs) -> SyncTable:
        return SyncTable(method(*args, **kwargs), Loop())

    return _giving(enters, method, lambda _: "SyncTable")


connect = _entering(asynchronous.connect)
