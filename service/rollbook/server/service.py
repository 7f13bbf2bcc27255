"""What all calls share: the matches and what lies beside them, keys, limits, and who may see what of a match."""

from __future__ import annotations

import base64
import hmac
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from rollbook.identity import references
from rollbook.identity.service_keys import SigningKey
from rollbook.identity.tokens import Issuer, Role, Subject, Verifier
from rollbook.match.codec.envelope import read_bytes
from rollbook.match.codec.moves import Unreadable
from rollbook.match.decide import Command
from rollbook.match.heads import HeadKeys
from rollbook.match.ledger import Ledger
from rollbook.rules.catalogue import rulesets
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.access import caller_of, judges
from rollbook.server.finished import Finished
from rollbook.server.limits import Held, Limits, Rates
from rollbook.server.lobby import Beside, Lobby
from rollbook.server.metrics import Metrics
from rollbook.server.out.heads import Heads
from rollbook.server.out.projection import perspective_of
from rollbook.server.out.summary import summary_message
from rollbook.server.play.lost_logs import LostTails
from rollbook.server.play.matches import PAGE, Matches, MatchUnknown
from rollbook.server.rpc.errors import Context, Refusal
from rollbook.storage.port import Log
from rollbook.v1.events_pb2 import Event
from rollbook.v1.match_pb2 import MatchSummary

_MATCH_ID: Final = re.compile(r"[a-z2-7]{24}")
_REQUEST_ID: Final = re.compile(r"[!-~]{8,64}")
_INVITATION_BYTES: Final = 15
SECRET_BYTES: Final = 32

MOST_REFERENCES: Final = 20_000
"""References to players that are not made anew for every call."""


def draw_secret() -> bytes:
    """A fresh secret from the operating system's generator."""
    return os.urandom(SECRET_BYTES)


@dataclass(frozen=True, slots=True)
class Sight:
    """A match as one caller sees it."""

    ledger: Ledger
    """For a delayed viewer as it was; read it, and do not change it."""
    caller: Subject
    perspective: Perspective
    beside: Beside
    player: bytes
    """The reference that stands for the caller in this match."""

    @property
    def summary(self) -> MatchSummary:
        """The match in a few lines."""
        return summary_message(self.ledger, self.beside.names, self.beside.opened_ms)


@dataclass(slots=True)
class Service:
    """Everything that handlers need."""

    log: Log
    head_key: Ed25519PrivateKey
    head_key_id: str
    published_head_keys: Mapping[str, Ed25519PublicKey]
    """By key id, the oldest first."""
    replay_key: SigningKey
    """Signs replay files and nothing else."""
    service_key: bytes
    """32 bytes, from which match ids, salts, invitation codes and page tokens follow."""
    verifier: Verifier
    clock_ms: Callable[[], int]
    guest_issuer: Issuer | None = None
    """Without one the service takes no guests."""
    guest_verifier: Verifier | None = None
    """What takes guests' old tokens, which may have expired; without one only those that still hold are taken."""
    draw_secret: Callable[[], bytes] = draw_secret
    limits: Limits = field(default_factory=Limits)
    metrics: Metrics = field(default_factory=Metrics)
    finished: Finished | None = None
    """What the archive has; none: there is no archive."""
    heads: Heads = field(init=False)
    lobby: Lobby = field(init=False)
    lost: LostTails = field(init=False)
    matches: Matches = field(init=False)
    rates: Rates = field(init=False)
    plays: Held = field(init=False)
    _player: Callable[[str, str], bytes] = field(init=False)

    def __post_init__(self) -> None:
        """Build what follows from the rest."""
        self._player = lru_cache(MOST_REFERENCES)(self._reference)
        self.heads = Heads(self.head_key, self.head_key_id)
        head_keys = HeadKeys(self.head_key, self.head_key_id, self.published_head_keys)
        self.lobby = Lobby(self.log) if self.finished is None else Lobby(self.log, self.finished.find)
        self.lost = LostTails(self.log, head_keys, self.metrics.lost_tail, self.lobby.summary)
        self.matches = Matches(self.log, self.lobby.summary, self.lost)
        self.rates = Rates(self.limits.requests_per_second, self.limits.requests_at_once)
        self.plays = Held(self.limits.plays_per_subject, self.limits.plays, "too many streams of Play are open")

    # Callers

    def caller(self, context: Context) -> Subject:
        """Who calls, once for each call: it counts against the subject's rate."""
        caller = caller_of(context, self.verifier)
        self.rates.take(caller.key, self.clock_ms())
        return caller

    def command(self, caller: Subject, player: bytes, request_id: str) -> Command:
        """What the caller, who is this player, asks of a match, as its log will know it."""
        check_request_id(request_id)
        return Command(self.clock_ms(), player, references.request_hash(caller.key, request_id))

    def player(self, caller: Subject, match_id: str) -> bytes:
        """The reference that stands for the caller in the log of this match, and in no other."""
        return self._player(caller.key, match_id)

    def _reference(self, subject: str, match_id: str) -> bytes:
        salt = hmac.digest(self.service_key, b"rollbook/1/salt" + match_id.encode(), "sha256")
        return references.player_reference(salt, subject)

    def invitation_code(self, match_id: str) -> str:
        """What opens a seat of a private match. It is kept nowhere: it follows from the service key."""
        digest = hmac.digest(self.service_key, b"rollbook/1/invitation" + match_id.encode(), "sha256")
        return base64.b32encode(digest[:_INVITATION_BYTES]).decode("ascii").lower()

    def is_invited(self, match_id: str, code: str) -> bool:
        """Whether this is the invitation code of the match."""
        return hmac.compare_digest(code.encode(), self.invitation_code(match_id).encode())

    # What a caller may see

    async def now(self, caller: Subject, match_id: str, invitation_code: str = "", request_id: str = "") -> Sight:
        """The match as it is now, without delay: what a command is checked against. Strangers find no private one.

        Whoever repeats a request that was carried out in the match is no stranger, and gets the answer again.
        """
        if not _MATCH_ID.fullmatch(match_id):
            raise MatchUnknown(match_id)
        sight = await self._sight(caller, await self._read(match_id))
        known = references.request_hash(caller.key, request_id) in sight.ledger.requests
        if not known and not self._may_see(sight, invitation_code):
            raise MatchUnknown(match_id)
        return sight

    async def known(self, caller: Subject, match_id: str, request_id: str = "") -> Sight:
        """The match as this process has it, for a command that is decided again, on what is stored, if it is refused.

        Whoever is no stranger to it, but perhaps to what others have appended since, is told no refusal but `now`'s.
        """
        ledger = self.matches.known(match_id)
        if ledger is not None:
            sight = await self._sight(caller, ledger)
            if self._may_see(sight, ""):
                return sight
        return await self.now(caller, match_id, request_id=request_id)

    async def _sight(self, caller: Subject, ledger: Ledger) -> Sight:
        match_id = ledger.opened.match_id
        player = self.player(caller, match_id)
        perspective = perspective_of(ledger, player, is_judge=judges(caller, match_id))
        return Sight(ledger, caller, perspective, await self.lobby.beside(ledger), player)

    async def _read(self, match_id: str) -> Ledger:
        try:
            return await self.matches.ledger(match_id)
        except Unreadable:
            opened = Event.FromString((await self.log.read(match_id, 0, 1))[0].event).opened
            if (opened.game, opened.ruleset) in {(game.name, game.version) for game in rulesets()}:
                raise
            raise Refusal("RULESET_UNKNOWN", "this server does not have the ruleset of the match") from None

    async def sight(self, caller: Subject, match_id: str, invitation_code: str = "") -> Sight:
        """The match as the caller may look at it: for a delayed viewer as it was, and not at all before that."""
        sight = await self.now(caller, match_id, invitation_code)
        return await self.delayed(sight)

    async def delayed(self, sight: Sight) -> Sight:
        """What a viewer of the public perspective may look at, until the match ends."""
        ledger = sight.ledger
        delay_ms = ledger.opened.terms.spectator_delay_seconds * 1_000
        if not delay_ms or sight.perspective is not Watcher.PUBLIC or ledger.match.sealed is not None:
            return sight
        until_ms = self.clock_ms() - delay_ms
        return sight if ledger.time_ms <= until_ms else replace(sight, ledger=await self._as_of(ledger, until_ms))

    async def _as_of(self, ledger: Ledger, until_ms: int) -> Ledger:
        """The fold of what had happened by then."""
        match_id = ledger.opened.match_id
        past: Ledger | None = None
        while True:
            entries = await self.log.read(match_id, 0 if past is None else past.head.sequence, PAGE)
            for entry in entries:
                logged = read_bytes(entry.event, entry.private, None if past is None else past.game, match_id)
                if logged.time_ms > until_ms:
                    entries = []
                    break
                if past is None:
                    past = Ledger(logged)
                else:
                    past.take(logged)
            if len(entries) < PAGE:
                break
        if past is None:
            raise MatchUnknown(match_id)
        return past

    def _may_see(self, sight: Sight, invitation_code: str) -> bool:
        if not sight.ledger.opened.terms.is_private or sight.perspective is not Watcher.PUBLIC:
            return True
        if sight.caller.role is Role.OPERATOR or sight.player == sight.beside.opener:
            return True
        return self.is_invited(sight.ledger.opened.match_id, invitation_code)


def check_request_id(request_id: str) -> None:
    """Refuse what is no request id."""
    if not _REQUEST_ID.fullmatch(request_id):
        raise Refusal("REQUEST_ID_MALFORMED", "a request id has 8 to 64 visible ASCII characters")
