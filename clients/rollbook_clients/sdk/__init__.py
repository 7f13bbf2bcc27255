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

What there is, and where `help` explains it:

    connect, published_keys                       a table at a service; the keys that a service publishes
    Table, Match, Lobby                           what a table and a match can be asked
    Legal, Position, State, Made, TakenSeat       what they answer
    Confirmed, Events, Event, CaughtUp, Beat, FellBehind, Away, Back, Revealed, Ended: the frames of a watch
    KeptHeads, WitnessedHead, Patience            heads that were signed; how long to wait
    Refused, Illegal, …                           `help(rollbook_clients.sdk.refusals)` has all that can go wrong
    rollbook_clients.sdk.choices                  choices by name: CantStop.advance(2, 8)
"""

# isort: skip_file  # it would give every name an import of its own
from rollbook import DEFAULT_ADDRESS as DEFAULT_ADDRESS
from rollbook.match.chain import Position as Position
from rollbook.replay_file.kept_heads import WitnessedHead as WitnessedHead
from rollbook_clients.sdk.frames import (
    Away as Away,
)
from rollbook_clients.sdk.frames import (
    Back as Back,
)
from rollbook_clients.sdk.frames import (
    Beat as Beat,
)
from rollbook_clients.sdk.frames import (
    CaughtUp as CaughtUp,
)
from rollbook_clients.sdk.frames import (
    Confirmed as Confirmed,
)
from rollbook_clients.sdk.frames import (
    Ended as Ended,
)
from rollbook_clients.sdk.frames import (
    Event as Event,
)
from rollbook_clients.sdk.frames import (
    Events as Events,
)
from rollbook_clients.sdk.frames import (
    FellBehind as FellBehind,
)
from rollbook_clients.sdk.frames import (
    Frame as Frame,
)
from rollbook_clients.sdk.frames import (
    Made as Made,
)
from rollbook_clients.sdk.frames import (
    Revealed as Revealed,
)
from rollbook_clients.sdk.frames import (
    State as State,
)
from rollbook_clients.sdk.frames import (
    TakenSeat as TakenSeat,
)
from rollbook_clients.sdk.guests import (
    GuestsUnreadable as GuestsUnreadable,
)
from rollbook_clients.sdk.heads import (
    HeadsUnreadable as HeadsUnreadable,
)
from rollbook_clients.sdk.heads import (
    KeptHeads as KeptHeads,
)
from rollbook_clients.sdk.keys import (
    published_keys as published_keys,
)
from rollbook_clients.sdk.legal import (
    Legal as Legal,
)
from rollbook_clients.sdk.lobby import (
    Lobby as Lobby,
)
from rollbook_clients.sdk.match import (
    Match as Match,
)
from rollbook_clients.sdk.patience import (
    Patience as Patience,
)
from rollbook_clients.sdk.refusals import (
    Illegal as Illegal,
)
from rollbook_clients.sdk.refusals import (
    LimitReached as LimitReached,
)
from rollbook_clients.sdk.refusals import (
    LogBroken as LogBroken,
)
from rollbook_clients.sdk.refusals import (
    LogLost as LogLost,
)
from rollbook_clients.sdk.refusals import (
    Malformed as Malformed,
)
from rollbook_clients.sdk.refusals import (
    MovedOn as MovedOn,
)
from rollbook_clients.sdk.refusals import (
    NotAllowed as NotAllowed,
)
from rollbook_clients.sdk.refusals import (
    NotFound as NotFound,
)
from rollbook_clients.sdk.refusals import (
    NotNow as NotNow,
)
from rollbook_clients.sdk.refusals import (
    OutcomeUnknown as OutcomeUnknown,
)
from rollbook_clients.sdk.refusals import (
    PositionUnknown as PositionUnknown,
)
from rollbook_clients.sdk.refusals import (
    Refused as Refused,
)
from rollbook_clients.sdk.refusals import (
    RollbookError as RollbookError,
)
from rollbook_clients.sdk.refusals import (
    Unauthenticated as Unauthenticated,
)
from rollbook_clients.sdk.refusals import (
    Unreachable as Unreachable,
)
from rollbook_clients.sdk.refusals import (
    Untrustworthy as Untrustworthy,
)
from rollbook_clients.sdk.table import (
    Table as Table,
)
from rollbook_clients.sdk.table import (
    connect as connect,
)
