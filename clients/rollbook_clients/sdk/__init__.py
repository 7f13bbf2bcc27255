"""Python SDK of Rollbook: open, join and play matches, watch them, and download replay files.

Two guests play a match of Can't Stop with random choices, and a third one watches:

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

When a match is over, its players are offered a rematch as soon as one of them has asked for it (`match.rematch()`):

    async for offer in match.rematches():
        if offer.asks_you:
            again = await offer.accept()  # or offer.decline()

Every player adds entropy to the dice. A watch continues after lost connections, restarts and expired tokens. All data
of a match is checked to be one chain under signed heads. None of this needs code in the client.
`rollbook_clients.sdk.sync` is the same API without `async`.

Views, choices and summaries of matches are the protobuf messages of `rollbook.v1`. Errors are the exceptions of
`rollbook_clients.sdk.refusals`:

    from rollbook_clients.sdk import Refused, connect

    async with connect("localhost:50051") as table:
        match = await table.open("cant_stop", seats=2)
        try:
            await match.resign()
        except Refused as refused:
            print(refused.reason, refused.facts, refused.position)

Overview, with details under `help`:

    connect, published_keys                       a table at a service; the keys that a service publishes
    Table, Match, Lobby                           calls to a service and to a match
    Legal, Position, State, Made, TakenSeat       results of these calls
    Confirmed, Events, Event, CaughtUp, Beat, FellBehind, Away, Back, Revealed, Ended: the frames of a watch
    KeptHeads, WitnessedHead, Patience            checked signed heads; timeouts and pauses
    Refused, Illegal, …                           `help(rollbook_clients.sdk.refusals)` lists all exceptions
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
from rollbook_clients.sdk.rematches import (
    Offer as Offer,
)
from rollbook_clients.sdk.table import (
    Table as Table,
)
from rollbook_clients.sdk.table import (
    connect as connect,
)
