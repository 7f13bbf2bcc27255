"""The dependencies from which the service is built."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rollbook.identity.names import ReservedNames
from rollbook.identity.service_keys import SigningKey
from rollbook.identity.tokens import Verifier
from rollbook.match.chain import HeadKeys
from rollbook.server.access.followed_list import ListStore
from rollbook.server.access.house_bots import NAMES, Invite
from rollbook.server.addresses import Addresses
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.health.metrics import Metrics
from rollbook.server.lobby.finished_matches import Finished
from rollbook.server.lobby.match_access import Acted
from rollbook.server.lobby.pools import Periods
from rollbook.server.log_output import announce_act
from rollbook.server.rpc.identity import Guests
from rollbook.storage.pools import PoolStore
from rollbook.storage.port import EventLog, MatchStore
from rollbook.storage.presence import PresenceStore

SECRET_BYTES: Final = 32


def draw_secret() -> bytes:
    """A fresh secret from the operating system's generator."""
    return os.urandom(SECRET_BYTES)


@dataclass(frozen=True, slots=True)
class Given:
    """The dependencies from which `Parts` builds a service."""

    log: EventLog
    store: MatchStore
    """The whole store; events go through `log`."""
    head_keys: HeadKeys
    replay_key: SigningKey
    """Signs replay files only."""
    service_key: bytes
    """32 bytes, from which match ids, salts, invitation codes and page tokens are derived."""
    verifier: Verifier
    clock_ms: Callable[[], int]
    """The process's clock, which decides whether tokens have expired; matches use the store's clock."""
    steady_ms: Callable[[], int] | None = None
    """A monotonic clock, unaffected when the system clock is set; None: `clock_ms` is used."""
    guests: Guests | None = None
    """None: the service accepts no guests."""
    name: str = ""
    """The name of the service whose keys these are; empty: derived from the oldest head key."""
    draw_secret: Callable[[], bytes] = draw_secret
    limits: Limits = field(default_factory=Limits)
    addresses: Addresses = field(default_factory=Addresses)
    metrics: Metrics = field(default_factory=Metrics)
    finished: Finished | None = None
    """The archived matches; None: there is no archive."""
    archives: Callable[[str], bool] = lambda _match_id: True
    """Whether this process is the one that archives the match of this id."""
    bans: ListStore | None = None
    """The stored bans; None: there are no bans."""
    acted: Acted = announce_act
    """Called with every act of an operator."""
    reserved: ReservedNames = field(default_factory=lambda: ReservedNames(NAMES))
    """Names that no person may choose."""
    invite: Invite | None = None
    """Notifies the house of the seats of its bots; None: clients cannot invite bots to a table."""
    pools: PoolStore | None = None
    """The stored pools of PlayNow; None: PlayNow is refused."""
    presence: PresenceStore | None = None
    """Who is present, in all processes; None: this is not recorded."""
    periods: Periods = field(default_factory=Periods)
