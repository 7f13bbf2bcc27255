"""The SDK without async, called from ordinary threads."""

from __future__ import annotations

import inspect
import threading
from pathlib import Path
from random import Random

import pytest

from rollbook_clients import sdk
from rollbook_clients.sdk import CaughtUp, Ended, Events, Lobby, NotNow, Unreachable, sync
from tests.clients.sdk.tables import SEED, impatient, pick, service
from tests.ports import free_port


def test_a_whole_match_is_played_without_async(tmp_path: Path) -> None:
    """Two players and a watcher run in their own threads; an iterator can be left at any time."""

    def player(match: sync.SyncMatch, random: Random) -> None:
        match.ready()
        for moment in match.play():
            if moment.legal:
                match.choose(pick(moment.legal, random))

    with (
        service(tmp_path) as one,
        sync.connect(one.address, name="Anna") as anna,
        sync.connect(one.address, name="Ben") as ben,
    ):
        match = anna.open("cant_stop", seats=2)
        assert ("Anna", one.address, 4) == (anna.name, anna.address, len(anna.games()))
        matches = [match, ben.match(match.id)]
        assert [0, 1] == [each.join().number for each in matches]
        for frame in match.watch():
            if isinstance(frame, CaughtUp):
                break
        assert isinstance(next(anna.lobby()), Lobby)
        with pytest.raises(NotNow, match="SEATS_CLOSED"):
            match.leave()
        threads = [threading.Thread(target=player, args=(each, Random(SEED))) for each in matches]
        for thread in threads:
            thread.start()
        frames = list(anna.match(match.id).watch())
        for thread in threads:
            thread.join()
        assert isinstance(frames[-1], Ended)
        told = [event.sequence for frame in frames if isinstance(frame, Events) for event in frame.events]
        assert list(range(1, told[-1] + 1)) == told
        assert match.head is not None
        assert match.head in list(anna.heads)
        left = match.watch()
        next(left)
    left.close()


def test_every_public_name_of_the_asynchronous_side_is_there() -> None:
    """Every public method of the async classes exists in the sync classes."""
    inner = {"take_in", "caller"}
    for asynchronous, waiting in ((sdk.Table, sync.SyncTable), (sdk.Match, sync.SyncMatch)):
        names = {name for name, _ in inspect.getmembers(asynchronous) if not name.startswith("_")} - inner
        assert set() == names - set(dir(waiting)) - {"id", "invitation_code"}
    assert inspect.signature(sdk.Match.choose) == inspect.signature(sync.SyncMatch.choose)
    assert sdk.Match.choose.__doc__ == sync.SyncMatch.choose.__doc__


def test_a_service_that_is_not_there_leaves_no_thread_behind() -> None:
    """Repeated failing attempts do not accumulate threads."""
    counts = []
    for _ in range(3):
        with (
            pytest.raises(Unreachable),
            sync.connect(f"127.0.0.1:{free_port()}", patience=impatient(arrival=0.2)),
        ):
            pass
        counts.append(threading.active_count())
    # The first call of a process starts a thread of gRPC's own, which stays.
    assert counts[0] == counts[1] == counts[2]
