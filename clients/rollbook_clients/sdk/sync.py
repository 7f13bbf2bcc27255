"""The SDK without `async`: the same calls, blocking. Each table runs an event loop in its own thread.

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
from rollbook_clients.sdk.rematches import LINGER_SECONDS, Answer

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Loop:
    """An event loop in its own thread."""

    def __init__(self) -> None:
        """Create the loop; `start` runs it."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rollbook table", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine and return its result; cancels the coroutine if the wait is interrupted."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @property
    def is_closed(self) -> bool:
        """Whether the loop is closed, so that it can run nothing more."""
        return self._loop.is_closed()

    def close(self) -> None:
        """Stop the loop and wait until its thread has ended."""
        self.run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


C = TypeVar("C", bound=Callable[..., Any])


class _Run(Generic[T]):
    """An asynchronous object, and the loop that runs its methods."""

    def __init__(self, inner: T, loop: Loop) -> None:
        self.inner = inner
        self.loop = loop


def _waiting(method: Callable[Concatenate[T, P], Coroutine[Any, Any, R]]) -> Callable[Concatenate[_Run[T], P], R]:
    """A blocking version of a coroutine method."""

    @wraps(method)
    def waits(run: _Run[T], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return run.loop.run(method(run.inner, *args, **kwargs))

    return waits


def _giving(function: C, method: Callable[..., Any], told: Callable[[str], str]) -> C:
    """Give a function the signature of `method`, with the return annotation changed by `told`."""
    signature = inspect.signature(method)
    result = told(str(signature.return_annotation))
    function.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]  # as inspect reads it
    return function


def _stepping(
    method: Callable[Concatenate[T, P], AsyncGenerator[R, None]],
) -> Callable[Concatenate[_Run[T], P], Generator[R, None, None]]:
    """A blocking generator version of an asynchronous generator method."""

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


class SyncOffer(_Run[asynchronous.Offer]):
    """The offer of a rematch, like `rollbook_clients.sdk.Offer`."""

    @property
    def asks_you(self) -> bool:
        """Whether the rematch waits for this client's answer."""
        return self.inner.asks_you

    @property
    def answers(self) -> tuple[Answer.ValueType, ...]:
        """By seat of the match before; `ANSWER_ASKED` means that the player has not answered yet."""
        return self.inner.answers

    decline = _waiting(asynchronous.Offer.decline)

    def accept(self, name: str | None = None) -> "SyncMatch":
        """Take a seat in the rematch, and return it; has no further effect if this client sits there."""
        return SyncMatch(self.loop.run(self.inner.accept(name)), self.loop)


class SyncMatch(_Run[asynchronous.Match]):
    """A match, like `rollbook_clients.sdk.Match`."""

    @property
    def id(self) -> str:
        """The id of the match."""
        return self.inner.id

    @property
    def invitation_code(self) -> str:
        """The code for joining a private match; empty if the match is public or the code is unknown. Keep it secret."""
        return self.inner.invitation_code

    @property
    def address(self) -> str:
        """The address of the service."""
        return self.inner.address

    @property
    def head(self) -> WitnessedHead | None:
        """The last head of the match that the service signed and this client checked; None before the first."""
        return self.inner.head

    @property
    def position(self) -> Position | None:
        """The position that a choice answers by default: the last one received. None before the first."""
        return self.inner.position

    state = _waiting(asynchronous.Match.state)
    join = _waiting(asynchronous.Match.join)
    leave = _waiting(asynchronous.Match.leave)
    withdraw = _waiting(asynchronous.Match.withdraw)
    abort = _waiting(asynchronous.Match.abort)
    add_bot = _waiting(asynchronous.Match.add_bot)
    free_seat = _waiting(asynchronous.Match.free_seat)
    ready = _waiting(asynchronous.Match.ready)
    begins = _waiting(asynchronous.Match.begins)
    choose = _waiting(asynchronous.Match.choose)
    resign = _waiting(asynchronous.Match.resign)
    play = _stepping(asynchronous.Match.play)
    watch = _stepping(asynchronous.Match.watch)
    replay = _waiting(asynchronous.Match.replay)
    export = _waiting(asynchronous.Match.export)
    verify = _waiting(asynchronous.Match.verify)

    def rematches(self, seconds: int = LINGER_SECONDS) -> Generator[SyncOffer, None, None]:
        """Yield the offer of a rematch, at once and whenever it changes, until `seconds` after the end of this match.

        For callers who had a seat in it.
        """
        for offer in _stepping(asynchronous.Match.rematches)(self, seconds):
            yield SyncOffer(offer, self.loop)

    def other(self, match_id: str) -> "SyncMatch":
        """Another match at the same service, for the same caller."""
        return SyncMatch(self.inner.other(match_id), self.loop)

    def rematch(self) -> "SyncMatch":
        """The rematch of this match; all players of the match get the same one."""
        return SyncMatch(self.loop.run(self.inner.rematch()), self.loop)


def _opening(
    method: Callable[Concatenate[T, P], Coroutine[Any, Any, asynchronous.Match]],
) -> Callable[Concatenate[_Run[T], P], SyncMatch]:
    """A blocking version of a method that returns a match."""

    @wraps(method)
    def opens(run: _Run[T], /, *args: P.args, **kwargs: P.kwargs) -> SyncMatch:
        return SyncMatch(run.loop.run(method(run.inner, *args, **kwargs)), run.loop)

    return _giving(opens, method, lambda _: "SyncMatch")


class SyncTable(_Run[asynchronous.Table]):
    """A table, like `rollbook_clients.sdk.Table`; created by `connect`."""

    def __enter__(self) -> Self:
        """Connect and sign in; raises Unreachable if no service replies."""
        self.loop.start()
        try:
            self.loop.run(self.inner.__aenter__())
        except BaseException:
            self.loop.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Disconnect, and save the heads."""
        try:
            self.loop.run(self.inner.__aexit__(kind, error, at))
        finally:
            self.loop.close()

    @property
    def address(self) -> str:
        """The address of the service."""
        return self.inner.address

    @property
    def name(self) -> str:
        """The name of the guest; empty if a token decides who calls."""
        return self.inner.name

    @property
    def token(self) -> str:
        """The token of the calls. Keep it secret: it gives full access as this caller."""
        return self.inner.token

    @property
    def heads(self) -> KeptHeads:
        """The last signed head of every match that was seen."""
        return self.inner.heads

    games = _waiting(asynchronous.Table.games)
    device_code = _waiting(asynchronous.Table.device_code)
    open = _opening(asynchronous.Table.open)
    play_now = _opening(asynchronous.Table.play_now)
    sit_now = _opening(asynchronous.Table.sit_now)
    matches = _stepping(asynchronous.Table.matches)
    lobby = _stepping(asynchronous.Table.lobby)

    def match(self, match_id: str, invitation_code: str = "") -> SyncMatch:
        """A match by its id, with the code of a private one; sends no request."""
        return SyncMatch(self.inner.match(match_id, invitation_code), self.loop)


def _entering(method: Callable[P, asynchronous.Table]) -> Callable[P, SyncTable]:
    """A version of `connect` that returns a table for `with`."""

    @wraps(method)
    def enters(*args: P.args, **kwargs: P.kwargs) -> SyncTable:
        return SyncTable(method(*args, **kwargs), Loop())

    return _giving(enters, method, lambda _: "SyncTable")


connect = _entering(asynchronous.connect)
