"""Rollbook from Python: sit down at a table, open and join matches, play, watch, take matches home.

Two guests play a match of Can't Stop by chance, and a third one watches:

    import asyncio, random
    from rollbook_clients.sdk import Events, connect

    async def play(match):
        await match.join()
        await match.ready()
        async for moment in match.play():
            if moment.legal:
                await match.choose(random.choice(list(moment.legal)))

    async def watch(match):
        async for frame in match.watch():
            if isinstance(frame, Events):
                print(*(event.kind for event in frame.events))

    async with connect("localhost:50051", name="Anna") as anna, connect("localhost:50051", name="Ben") as ben:
        match = await anna.open("cant_stop", seats=2)
        async with connect("localhost:50051") as spectator:
            await asyncio.gather(play(match), play(ben.match(match.id)), watch(spectator.match(match.id)))
        state = await match.state()
        print("places:", *state.summary.places.places)

Every player brings entropy of its own to the dice, every watch survives lost connections, restarts and expired tokens,
and everything that the service says of a match is checked to be one chain under signed heads; none of that shows.
`rollbook_clients.sdk.sync` is the same without `async`.

What is read out of a match (views, choices, summaries) are the messages of the contract, `rollbook.v1`. What can go
wrong is an exception of `rollbook_clients.sdk.refusals`:

    from rollbook_clients.sdk import Refused, connect

    async with connect("localhost:50051") as table:
        match = await table.open("cant_stop", seats=2)
        try:
            await match.resign()
        except Refused as refused:
            print(refused.reason, refused.facts, refused.position)
"""

from rollbook import DEFAULT_ADDRESS
from rollbook.match.chain import Position
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook_clients.sdk.frames import (
    Away,
    Back,
    Beat,
    CaughtUp,
    Confirmed,
    Ended,
    Event,
    Events,
    FellBehind,
    Frame,
    Made,
    Revealed,
    State,
    TakenSeat,
)
from rollbook_clients.sdk.guests import GuestsUnreadable
from rollbook_clients.sdk.heads import HeadsUnreadable, KeptHeads
from rollbook_clients.sdk.keys import published_keys
from rollbook_clients.sdk.legal import Legal
from rollbook_clients.sdk.lobby import Lobby
from rollbook_clients.sdk.match import Match
from rollbook_clients.sdk.patience import Patience
from rollbook_clients.sdk.refusals import (
    LimitReached,
    LogBroken,
    LogLost,
    Malformed,
    MovedOn,
    NotAllowed,
    NotFound,
    NotNow,
    OutcomeUnknown,
    PositionUnknown,
    Refused,
    RollbookError,
    Unauthenticated,
    Unreachable,
    Untrustworthy,
)
from rollbook_clients.sdk.table import Table, connect

__all__ = [
    "DEFAULT_ADDRESS",
    "Away",
    "Back",
    "Beat",
    "CaughtUp",
    "Confirmed",
    "Ended",
    "Event",
    "Events",
    "FellBehind",
    "Frame",
    "GuestsUnreadable",
    "HeadsUnreadable",
    "KeptHeads",
    "Legal",
    "LimitReached",
    "Lobby",
    "LogBroken",
    "LogLost",
    "Made",
    "Malformed",
    "Match",
    "MovedOn",
    "NotAllowed",
    "NotFound",
    "NotNow",
    "OutcomeUnknown",
    "Patience",
    "Position",
    "PositionUnknown",
    "Refused",
    "Revealed",
    "RollbookError",
    "State",
    "Table",
    "TakenSeat",
    "Unauthenticated",
    "Unreachable",
    "Untrustworthy",
    "WitnessedHead",
    "connect",
    "published_keys",
]
