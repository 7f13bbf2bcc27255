"""Choices by single calls and over Play, beside a bare server that answers as many bytes.

The requests are prepared in a rehearsal: a world with the same clock, keys and calls has the same matches byte for
byte. So both measures have a client that only sends and reads bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import islice
from typing import Any, TypeAlias

import grpc

from rollbook.v1.match_pb2 import ChooseRequest, PlayRequest, PlayResponse
from tests.bench.measure import Measure, Run
from tests.bench.service.bare import CHOICE_BYTES, PLAYED_BYTES, Bare
from tests.bench.service.size import Size
from tests.bench.service.stage import Stage, next_choice, stage
from tests.server.rpc.talking import Person

Table: TypeAlias = tuple[str, list[Person]]
Lines: TypeAlias = Iterator[tuple[int, bytes]]
"""The requests of a match in order: seat and bytes."""


class Choices:
    """A service with running matches, a bare server, and the calls to both."""

    def __init__(self, run: Run, rounds: int, size: Size) -> None:
        """`rounds`: how many to rehearse; one more is the warm-up."""
        self._run = run
        self._size = size
        self._rounds = rounds + 1
        self._answers: list[bytes] = []

    async def begin(self, stack: AsyncExitStack) -> None:
        """Rehearse, then start the servers."""
        one_by_one, played = await rehearsal(self._rounds, size := self._size)
        world = await stack.enter_async_context(stage().serving())
        tables = [await world.started() for _ in range(size.chosen_matches + size.played_matches)]
        choose: Any = world.channel.unary_unary("/rollbook.v1.MatchService/Choose")
        self._one_by_one = [
            (choose, [person.metadata for person in people], lines)
            for (_, people), lines in zip(tables, one_by_one, strict=False)
        ]
        play: Any = world.channel.stream_stream("/rollbook.v1.MatchService/Play")
        self._played = [
            ([play(metadata=person.metadata) for person in people], lines)
            for (_, people), lines in zip(tables[size.chosen_matches :], played, strict=True)
        ]
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(await Bare().serve(stack)))
        self._answer: Any = channel.unary_unary("/Bare/Answer")
        chat: Any = channel.stream_stream("/Bare/Chat")
        self._chats = [chat() for _ in range(size.played_matches)]
        for stream in (*self._chats, *[stream for streams, _ in self._played for stream in streams]):
            stack.callback(stream.cancel)

    def measures(self) -> list[list[Measure]]:
        """The groups of measures that run side by side."""
        run, size = self._run, self._size
        return [
            [
                Measure("bare unary calls", "calls/s", lambda: run(self.bare_calls())),
                Measure(
                    f"Choose, {size.chosen_matches} matches at once", "choices/s", lambda: run(self.one_by_one()), 0.6
                ),
            ],
            [
                Measure("bare bidirectional streams", "answers/s", lambda: run(self.bare_chats())),
                Measure(f"Play, {size.played_matches} matches at once", "choices/s", lambda: run(self.played()), 0.5),
            ],
        ]

    async def one_by_one(self) -> int:
        """Make single choices in each match, one after the other."""

        async def table(choose: Any, metadata: list[Any], lines: Lines) -> None:
            for seat, request in islice(lines, self._size.choices_each):
                await choose(request, metadata=metadata[seat])

        await asyncio.gather(*[table(*each) for each in self._one_by_one])
        return self._size.chosen_matches * self._size.choices_each

    async def bare_calls(self) -> int:
        """Make as many calls to the bare server."""

        async def caller() -> None:
            for _ in range(self._size.choices_each):
                await self._answer(CHOICE_BYTES)

        await asyncio.gather(*[caller() for _ in range(self._size.chosen_matches)])
        return self._size.chosen_matches * self._size.choices_each

    async def played(self) -> int:
        """Make choices over Play, with a stream for each seat."""

        async def table(streams: list[Any], lines: Lines) -> None:
            for seat, request in islice(lines, self._size.plays_each):
                await streams[seat].write(request)
                self._answers.append(await streams[seat].read())

        await asyncio.gather(*[table(*each) for each in self._played])
        return self._size.played_matches * self._size.plays_each

    async def bare_chats(self) -> int:
        """Read as many answers from the bare server."""

        async def chat(stream: Any) -> None:
            for _ in range(self._size.plays_each):
                await stream.write(PLAYED_BYTES)
                await stream.read()

        await asyncio.gather(*[chat(stream) for stream in self._chats])
        return self._size.played_matches * self._size.plays_each

    def check(self) -> None:
        """Assert that every choice over Play was accepted."""
        assert {"made"} == {PlayResponse.FromString(answer).WhichOneof("answer") for answer in self._answers}


async def rehearsal(rounds: int, size: Size) -> tuple[list[Lines], list[Lines]]:
    """Return the requests of all matches: by single calls, and over Play."""
    async with stage().serving() as world:
        chosen_tables = [await world.started() for _ in range(size.chosen_matches)]
        played_tables = [await world.started() for _ in range(size.played_matches)]
        one_by_one = [await _lines(world, table, ChooseRequest, rounds * size.choices_each) for table in chosen_tables]
        played = [await _lines(world, table, PlayRequest, rounds * size.plays_each) for table in played_tables]
        return one_by_one, played


async def _lines(world: Stage, table: Table, kind: type[ChooseRequest | PlayRequest], times: int) -> Lines:
    match_id, people = table
    lines = []
    for number in range(times):
        ledger = world.service.replicas.known_ledger(match_id)
        assert ledger is not None
        seat, choice, position = next_choice(ledger)
        said = {"request_id": f"choice-{number}", "choice": choice, "position": position}
        briefly = {"outcomes_only": True} if kind is PlayRequest else {}
        lines.append((seat, kind(match_id=match_id, **said, **briefly).SerializeToString()))  # type: ignore[arg-type]
        await people[seat].call("Choose", match_id=match_id, **said)
    return iter(lines)
