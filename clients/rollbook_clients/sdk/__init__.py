"""Rollbook from Python: sit down at a table, open and join matches, play, watch, take matches home.

    async with connect("localhost:50051") as table:
        match = await table.open("cant_stop", seats=2)
        async for frame in match.watch():
            ...

`rollbook_clients.sdk.sync` is the same without `async`. What is read out of a match (views, choices, summaries) are the
messages of the contract, `rollbook.v1`; what can go wrong is in `rollbook_clients.sdk.refusals`.
"""

from rollbook_clients.sdk.chain import Head, Position
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
    Seat,
    State,
)
from rollbook_clients.sdk.heads import Heads, HeadsUnreadable
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
    TokenRefused,
    Unreachable,
    Untrustworthy,
)
from rollbook_clients.sdk.table import DEFAULT_ADDRESS, Table, connect

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
    "Head",
    "Heads",
    "HeadsUnreadable",
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
    "Seat",
    "State",
    "Table",
    "TokenRefused",
    "Unreachable",
    "Untrustworthy",
    "connect",
]
