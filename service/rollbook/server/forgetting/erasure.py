"""Erases names everywhere a service keeps them: lobby, archive, index, and the files of the store.

An erasure repeats rounds until nothing is left: it erases in lobby and archive, calls all processes (`forgetter`), and
checks again, because a process may have written a name that it had read before. Then the store's files are rewritten.
Every step may be repeated, so after a crash the whole erasure is run again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from google.protobuf.message import DecodeError

from rollbook.files import Step, no_step
from rollbook.identity.names import plain_name
from rollbook.replay_file.container import NotAReplay, read, without_names
from rollbook.server.forgetting.kept_names import Place
from rollbook.server.lobby.archive_index import ArchiveIndex
from rollbook.server.lobby.finished_matches import Finished
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.storage.archive.log import ArchivedLog
from rollbook.storage.archive.port import Archive
from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.rewrite import rewrite_files
from rollbook.storage.redis.roll_call import RollCall
from rollbook.storage.strays import remove_strays, store_files
from rollbook.v1.events_pb2 import Event

MOST_ROUNDS: Final = 10
AT_ONCE: Final = 8
"""Files of the archive examined at the same time."""

ANSWERED_SECONDS: Final = 120.0
"""How long processes may take to forget names."""

_POLL_SECONDS: Final = 0.1


class NotForgotten(Exception):
    """Some running services have not forgotten names."""

    def __init__(self, processes: frozenset[str]) -> None:
        """Keep the names of these processes."""
        super().__init__(processes)
        self.processes = processes

    def __str__(self) -> str:
        """The sentence, with the names of the processes."""
        named = ", ".join(sorted(self.processes))
        return f"no answer from {named}, whose log names what keeps it from forgetting; run this again then"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which names to erase."""

    matches: frozenset[str]
    """Erase all names in these matches."""
    player: str | None = None
    """Erase exactly this name, also where it has the number of a table."""
    reference: Callable[[str], bytes] | None = None
    """Returns the reference, in a match, of the player whose names to erase."""

    def may_be_in(self, match_id: str) -> bool:
        """Whether the match must be examined."""
        return match_id in self.matches or self.player is not None or self.reference is not None

    def seats(self, match_id: str, names: Sequence[str], players: Sequence[bytes]) -> set[int]:
        """The named seats of a match whose names to erase."""
        reference = None if self.reference is None else self.reference(match_id)
        return {
            seat
            for seat, (name, player) in enumerate(zip(names, players, strict=False))
            if name and (match_id in self.matches or self.player in {name, plain_name(name)} or player == reference)
        }


@dataclass(slots=True)
class Erased:
    """The result of an erasure."""

    matches: set[str] = field(default_factory=set)
    """Matches in which names were erased."""
    there: set[str] = field(default_factory=set)
    """Matches that were found."""
    problems: list[str] = field(default_factory=list)
    """What was not done, a sentence each."""
    doubts: set[str] = field(default_factory=set)
    """What could not be determined, a sentence each."""
    was_begun: bool = False
    """Whether this erasure completes an earlier one that was interrupted."""


class Counted(Protocol):
    """Receives the progress of examining files."""

    def expect(self, more: int) -> None:
        """So many more files will be examined."""

    def one_more(self) -> None:
        """One file was examined."""


class Erasure:
    """Erases names in one place."""

    def __init__(
        self,
        place: Place,
        selection: Selection,
        found: Callable[[str], None],
        files: Counted,
        step: Step = no_step,
    ) -> None:
        """Erase the selected names in `place`; `found` is called once for each match in which names were erased."""
        self._place = place
        self._selection = selection
        self._found = found
        self._files = files
        self._step = step
        self._erased = Erased()
        self._versions: dict[str, str] = {}
        """Versions of the examined files, by match id."""
        self._unreadable: dict[str, str] = {}

    async def run(self) -> Erased:
        """Erase; raises StoreUnavailable (or ArchiveUnavailable), and NotForgotten if a process does not answer."""
        place, erased = self._place, self._erased
        if place.log is None:
            await self._erase_archive()
        else:
            roll = RollCall(place.log)
            erased.was_begun = await roll.begin()
            self._step("begun")
            strays = set() if place.store is None else store_files(place.store)
            await self._erase_everywhere(place.log, roll)
            self._step("erased")
            await self._scrub_index(place.log)
            self._step("scrubbed")
            problems = await rewrite_files(place.log)
            if place.store is not None and not problems:
                remove_strays(place.store, strays)
            self._step("rewritten")
            erased.problems += problems
            if not erased.problems:
                await roll.finish()
        erased.problems += [f"{match_id}: {why}" for match_id, why in sorted(self._unreadable.items())]
        return erased

    async def _erase_everywhere(self, log: RedisLog, roll: RollCall) -> None:
        archive = self._place.archive
        drafts = frozenset[str]() if archive is None else await archive.drafts()
        for rounds in range(MOST_ROUNDS):
            before = await self._erase_lobby(log) + await self._erase_archive()
            if rounds and not before:
                break
            self._step("round")
            await self._call(roll)
        else:
            self._erased.problems.append("names come back again and again: players sit down by them; run it again")
        if archive is not None:
            # Their writers have answered since.
            await archive.drop(drafts)

    async def _call(self, roll: RollCall) -> None:
        """Call on every process to forget names, and wait for the answers; raises NotForgotten."""
        call = await roll.call()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + ANSWERED_SECONDS
        while (found := await roll.roll(call)).missing and loop.time() < deadline:  # noqa: ASYNC110 - other processes
            await asyncio.sleep(_POLL_SECONDS)
        if found.missing:
            raise NotForgotten(found.missing)
        self._erased.doubts |= {
            f"the service {process}, which is silent: if it still runs, run this again" for process in found.silent
        }

    # Lobby

    async def _erase_lobby(self, log: RedisLog) -> int:
        """Erase in the lobby; returns in how many matches there were names to erase."""
        count = 0
        for match_id, stored in sorted((await log.lobby()).items()):
            self._erased.there.add(match_id)
            if self._selection.may_be_in(match_id) and await self._erase_listed(log, match_id, stored):
                self._report(match_id)
                count += 1
        return count

    async def _erase_listed(self, log: RedisLog, match_id: str, listed_as: bytes) -> bool:
        stored: bytes | None = listed_as
        while stored is not None:
            try:
                listed = ListedMatch.read(stored)
            except (DecodeError, ValueError):
                self._unreadable[match_id] = "its entry in the lobby cannot be read"
                return False
            seats = listed.summary.seats
            gone = self._selection.seats(match_id, [seat.name for seat in seats], listed.players)
            if not gone:
                return False
            for seat in gone:
                seats[seat].name = ""
            if await log.relist(match_id, stored, listed.write(), listed.row):
                return True
            stored = await log.summary(match_id)
        return False

    # Archive

    async def _erase_archive(self) -> int:
        """Erase in files that are new or changed since the last round; returns in how many there were names."""
        archive, count = self._place.archive, 0
        if archive is None:
            return count
        there = await archive.versions()
        self._erased.there |= there.keys()
        new = sorted(
            match_id
            for match_id, version in there.items()
            if self._selection.may_be_in(match_id) and self._versions.get(match_id) != version
        )
        self._files.expect(len(new))
        for start in range(0, len(new), AT_ONCE):
            several = new[start : start + AT_ONCE]
            lost_names = await asyncio.gather(*[self._erase_file(archive, match_id) for match_id in several])
            for match_id, lost in zip(several, lost_names, strict=True):
                if lost:
                    self._report(match_id)
                    count += 1
                self._versions[match_id] = there[match_id]
                self._files.one_more()
        return count

    async def _erase_file(self, archive: Archive, match_id: str) -> bool:
        """Remove all names from the file if one is selected: a single signature covers them."""
        self._unreadable.pop(match_id, None)
        data = await archive.get(match_id)
        try:
            replay = None if data is None else read(data).replay
            if data is None or replay is None or not replay.names:
                return False
            if not self._selection.seats(match_id, replay.names, _players(replay.events, len(replay.names))):
                return False
        except (NotAReplay, DecodeError) as broken:
            self._unreadable[match_id] = f"its file cannot be read: {broken}"
            return False
        await archive.put(match_id, without_names(data))
        return True

    async def _scrub_index(self, log: RedisLog) -> None:
        """Erase all traces from the index of the data directory, whether or not a service has it open."""
        path, archive = self._place.index, self._place.archive
        if path is None or archive is None or not path.exists():
            return
        index = await asyncio.to_thread(ArchiveIndex, path)
        try:
            await Finished(ArchivedLog(log, archive, index), index).forget()
        finally:
            index.close()

    def _report(self, match_id: str) -> None:
        if match_id not in self._erased.matches:
            self._erased.matches.add(match_id)
            self._found(match_id)


def _players(events: Sequence[bytes], seats: int) -> list[bytes]:
    """The references of the players by seat, from the events of a match."""
    players = [b""] * seats
    for seat, player in _sitting(events):
        if seat < seats:
            players[seat] = player
    return players


def _sitting(events: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    for data in events:
        event = Event.FromString(data)
        if event.HasField("seat_taken"):
            yield event.seat, event.seat_taken.player
        elif event.HasField("seat_left"):
            yield event.seat, b""
        elif event.HasField("started"):
            return
