"""Lists: what can be played, and which matches there are, page by page."""

from __future__ import annotations

import base64
import hmac
import json
import unicodedata
from collections.abc import AsyncIterator
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from rollbook.identity.tokens import Role, Subject
from rollbook.rules.catalogue import current, rulesets
from rollbook.rules.options import written
from rollbook.server.access import Sights, judges
from rollbook.server.archive_index import Wanted
from rollbook.server.finished import Finished
from rollbook.server.lobby import ListedMatch, StoredLobby
from rollbook.server.players import Players
from rollbook.server.refusals import Refusal
from rollbook.v1 import match_pb2 as proto

PAGE: Final = 50
LONGEST_PAGE: Final = 200
CHUNK: Final = 200
"""Archived matches that are read at once."""

MATCHES_PER_WEIGHT: Final = 10
"""So many matches of a page weigh as much as a call."""

MOST_LOOKED_AT: Final = 2_000
"""Matches that one page may look at, most of which may be none that the caller asked for."""

Cursor = tuple[int, str]
"""When a match was opened, and its id: the order of the list, descending."""


def games() -> proto.ListGamesResponse:
    """Every game with its rulesets, of each game the current one first."""
    response = proto.ListGamesResponse()
    for game in sorted(rulesets(), key=lambda game: (game.name, game is not current()[game.name], -game.version)):
        ruleset = response.rulesets.add(
            game=game.name,
            ruleset=game.version,
            title=game.title,
            fewest_seats=game.seats[0],
            most_seats=game.seats[-1],
            components=json.dumps(game.components, ensure_ascii=False, separators=(",", ":")),
        )
        for option in game.options:
            ruleset.options.add(
                name=option.name,
                rule=option.rule,
                default_value=written(option.default),
                allowed=option.allowed,
            )
    return response


class Lists:
    """Lists the matches there are, page by page, to whoever may see them."""

    def __init__(
        self, lobby: StoredLobby, finished: Finished | None, sights: Sights, players: Players, service_key: bytes
    ) -> None:
        """List the lobby, and what the archive has, if there is one; page tokens are sealed by a key of their own."""
        self._lobby = lobby
        self._finished = finished
        self._sights = sights
        self._players = players
        self._tokens = PageTokens(service_key)

    async def matches(self, caller: Subject, request: proto.ListMatchesRequest) -> proto.ListMatchesResponse:
        """A page of the matches there are, as far as the caller may see them.

        A page begins behind the last match of the page before, in an order that never changes: so none comes twice,
        none is left out, and those that are opened meanwhile come before all pages that are yet to be asked for. A page
        for which too many archived matches had to be looked at ends early.
        """
        size = _page_size(request)
        if request.state not in proto.MatchState.values():
            raise Refusal("STATE_UNKNOWN", "there is no such state of a match")
        cursor = self._tokens.read(caller, request) if request.page_token else None
        player = unicodedata.normalize("NFC", request.player)
        response = proto.ListMatchesResponse()
        looked = 0
        async for listed in self._behind(Wanted(request.game, request.state, player), cursor):
            may_match = self._may_match(caller, request, listed)
            is_full = may_match and len(response.matches) == size
            if cursor is not None and (looked == MOST_LOOKED_AT or is_full):
                response.next_page_token = self._tokens.write(caller, request, cursor)
                break
            looked += 1
            cursor = listed.place
            if not may_match:
                continue
            summary = listed.summary
            found = summary if listed.is_over else await self._sights.summary(caller, summary)
            if found is not None and _matches(request, player, found):
                response.matches.append(found)
        return response

    async def _behind(self, wanted: Wanted, cursor: Cursor | None) -> AsyncIterator[ListedMatch]:
        """The matches behind a place, in the order of lists, from lobby and archive; those in both come once."""
        waiting = [listed for listed in await self._lobby.everything() if cursor is None or listed.place < cursor]
        finished = self._finished
        before = cursor
        while finished is not None and (page := await finished.page(wanted, before, CHUNK)):
            for archived in page:
                before = archived.place
                while waiting and waiting[0].place >= before:
                    listed = waiting.pop(0)
                    if listed.place != before:
                        yield listed
                yield archived
        for listed in waiting:
            yield listed

    def _may_match(self, caller: Subject, request: proto.ListMatchesRequest, listed: ListedMatch) -> bool:
        """Whether it is worth reading the match: whether the caller may see it, and what cannot have changed."""
        summary = listed.summary
        if request.game not in {"", summary.game}:
            return False
        sits = self._players.reference(caller, summary.match_id) in listed.players
        if request.mine and not sits:
            return False
        if summary.is_private and not (sits or judges(caller, summary.match_id) or caller.role is Role.OPERATOR):
            return False
        # The lobby knows of every change of state; only a delayed viewer may see an earlier one.
        return bool(request.state in {proto.MATCH_STATE_UNSPECIFIED, summary.state} or summary.spectator_delay_seconds)


def weight_of(request: proto.ListMatchesRequest) -> float:
    """What a page weighs, by how many matches it may have, in calls."""
    return 1 + max(0, min(request.page_size or PAGE, LONGEST_PAGE)) / MATCHES_PER_WEIGHT


def _page_size(request: proto.ListMatchesRequest) -> int:
    if request.page_size < 0:
        allowed = f"0 to {LONGEST_PAGE}"
        raise Refusal("PAGE_SIZE_NEGATIVE", f"a page has {allowed} matches", {"allowed": allowed})
    return min(request.page_size or PAGE, LONGEST_PAGE)


def _matches(request: proto.ListMatchesRequest, player: str, summary: proto.MatchSummary) -> bool:
    if request.state not in {proto.MATCH_STATE_UNSPECIFIED, summary.state}:
        return False
    return not player or any(seat.taken and seat.name == player for seat in summary.seats)


class PageTokens:
    """Page tokens: the place of the match that was looked at last.

    It may be one that the caller must not know of, so the token is sealed, and it opens for the same caller and filters
    alone.
    """

    def __init__(self, service_key: bytes) -> None:
        """Seal with a key that follows from this one."""
        self._cipher = AESSIV(hmac.digest(service_key, b"rollbook/1/page", "sha256"))

    def write(self, caller: Subject, request: proto.ListMatchesRequest, place: Cursor) -> str:
        """The token of a place."""
        said = f"{place[0]}.{place[1]}".encode()
        return base64.urlsafe_b64encode(self._cipher.encrypt(said, [_filters(caller, request)])).decode("ascii")

    def read(self, caller: Subject, request: proto.ListMatchesRequest) -> Cursor:
        """The place that the token of a request stands for."""
        try:
            data = base64.urlsafe_b64decode(request.page_token.encode())
            said = self._cipher.decrypt(data, [_filters(caller, request)]).decode()
        except (InvalidTag, ValueError):
            raise Refusal("PAGE_TOKEN_BAD", "the page token does not go with this caller and these filters") from None
        opened_ms, _, match_id = said.partition(".")
        return int(opened_ms), match_id


def _filters(caller: Subject, request: proto.ListMatchesRequest) -> bytes:
    return json.dumps([caller.key, request.game, request.state, request.mine, request.player]).encode()
