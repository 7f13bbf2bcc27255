"""Lists of games, and of matches page by page."""

from __future__ import annotations

import base64
import hmac
import json
import unicodedata
from collections.abc import AsyncIterator
from typing import Final, TypeAlias

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from rollbook.identity.names import plain_name
from rollbook.identity.references import is_match_id
from rollbook.identity.tokens import Role, Subject
from rollbook.rules.catalogue import current, rulesets
from rollbook.rules.options import write_value
from rollbook.server.access.limits import ROWS_A_POINT, owe, turn
from rollbook.server.access.players import Players
from rollbook.server.lobby.archive_index import Wanted
from rollbook.server.lobby.finished_matches import Finished
from rollbook.server.lobby.index_rows import ASKING, UNHELD, list_of, name_list, seats_of
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.lobby.match_access import Sights, judges
from rollbook.server.lobby.rematches import Rematches, asking
from rollbook.server.refusals import Refusal
from rollbook.server.slices import Slices
from rollbook.storage.port import LobbyStore, Place
from rollbook.v1 import match_pb2 as proto
from rollbook.v1.events_pb2 import ABORT_REASON_LOG_LOST

PAGE: Final = 50
LONGEST_PAGE: Final = 200
CHUNK: Final = 200
"""Archived matches read at once."""

LOOKED_AT_LEAST: Final = 100
"""Matches that every page may examine; most may not fit the request."""

LOOKED_A_MATCH: Final = 20
"""Further matches that a page may examine for each match that it may contain."""

READING: Final = ROWS_A_POINT
"""A match whose log must be read counts as this many examined matches."""

Cursor: TypeAlias = Place
_Found: TypeAlias = tuple[Place, ListedMatch, int]
"""A match, its place in the list, and the length of its log if that was read."""


def games() -> proto.ListGamesResponse:
    """All games with their rulesets, the current ruleset of each game first."""
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
                default_value=write_value(option.default),
                allowed=option.allowed,
            )
    return response


class Lists:
    """Lists matches page by page, as far as the caller may see them."""

    def __init__(  # noqa: PLR0913 - the sources of matches, and the parts that check access
        self,
        store: LobbyStore,
        *,
        lobby: StoredLobby,
        finished: Finished | None,
        sights: Sights,
        players: Players,
        rematches: Rematches,
        service_key: bytes,
    ) -> None:
        """List the lobby and the archive, if any; the key of page tokens is derived from `service_key`."""
        self._store = store
        self._lobby = lobby
        self._finished = finished
        self._sights = sights
        self._players = players
        self._rematches = rematches
        self._tokens = PageTokens(service_key)

    async def matches(self, caller: Subject, request: proto.ListMatchesRequest) -> proto.ListMatchesResponse:
        """A page of the matches that the caller may see.

        A page begins after the last match of the previous page, in a fixed order: no match comes twice or is left out,
        and new matches sort before all further pages. A page that has examined too many matches ends early.
        """
        async with turn(points_of(request)):
            return await self._page(caller, request, _page_size(request))

    async def _page(self, caller: Subject, request: proto.ListMatchesRequest, size: int) -> proto.ListMatchesResponse:
        if request.state not in proto.MatchState.values():
            raise Refusal("STATE_UNKNOWN", "there is no such state of a match")
        cursor = self._tokens.read(caller, request) if request.page_token else None
        player = plain_name(unicodedata.normalize("NFC", request.player))
        response = proto.ListMatchesResponse()
        looked, most, slices = 0, LOOKED_AT_LEAST + LOOKED_A_MATCH * size, Slices()
        try:
            async for place, listed, length in self._behind(caller, request, player, cursor, size + 1):
                may_match = self._may_match(caller, request, listed)
                is_full = may_match and len(response.matches) == size
                if cursor is not None and (looked >= most or is_full):
                    response.next_page_token = self._tokens.write(caller, request, cursor)
                    break
                looked += 1
                cursor = place
                if slices.is_over:
                    await slices.rest()
                if not may_match:
                    continue
                found: proto.MatchSummary | None = listed.summary
                if not listed.is_over and (found := self._sights.summary_if_known(listed.summary, length)) is None:
                    looked += READING
                    found = await self._sights.summary(caller, listed.summary)
                if found is not None and request.mine and not self._sits(caller, listed):
                    found = asking(found) if await self._rematches.asks(caller, listed) else None
                if found is not None and _matches(request, player, found):
                    response.matches.append(found)
        finally:
            # A caller that cancels the call pays for the matches examined so far.
            owe(max(0, looked - size) / ROWS_A_POINT)
        return response

    async def _behind(
        self, caller: Subject, request: proto.ListMatchesRequest, player: str, cursor: Cursor | None, most: int
    ) -> AsyncIterator[_Found]:
        """Candidates after a place, from lobby and archive in the order of lists; a match in both comes once.

        The first read takes `most` matches from each.
        """
        in_lobby = self._list_lobby(caller, request, player, cursor, most)
        archived = self._list_archived(Wanted(request.game, request.state, player), cursor, most)
        one, other = await anext(in_lobby, None), await anext(archived, None)
        while one is not None or other is not None:
            if one is not None and (other is None or one[0] > other[0]):
                yield one
                one = await anext(in_lobby, None)
            elif other is not None:
                yield other
                if one is not None and one[0] == other[0]:
                    one = await anext(in_lobby, None)
                other = await anext(archived, None)

    async def _list_lobby(
        self, caller: Subject, request: proto.ListMatchesRequest, player: str, before: Cursor | None, most: int
    ) -> AsyncIterator[_Found]:
        """Candidates from the lobby."""
        lists, judged = self._lists(caller, request, player), await self._list_judged(caller, before)
        while page := await self._lobby.page(lists, before, most):
            lengths = await self._store.lengths([match_id for (_, match_id), listed in page if not listed.is_over])
            for place, listed in page:
                while judged and judged[0][0] >= place:
                    found = judged.pop(0)
                    if found[0] != place:
                        yield found
                yield place, listed, lengths.get(place[1], 0)
            before, most = page[-1][0], CHUNK
        for found in judged:
            yield found

    async def _list_archived(self, wanted: Wanted, before: Cursor | None, most: int) -> AsyncIterator[_Found]:
        """Candidates from the archive."""
        while self._finished is not None and (page := await self._finished.page(wanted, before, most)):
            for listed in page:
                yield listed.place, listed, 0
            before, most = page[-1].place, CHUNK

    def _lists(self, caller: Subject, request: proto.ListMatchesRequest, player: str) -> list[str]:
        """The lists of the index that contain all candidates and as few others as possible."""
        seats = [seats_of(self._players.pseudonym(caller.key)), UNHELD]
        if request.mine:
            return [*seats, ASKING]
        if player:
            return [name_list(player)]
        public, private = (
            list_of(is_private=is_private, game=request.game, state=request.state) for is_private in (False, True)
        )
        return [public, private] if caller.role is Role.OPERATOR else [public, *seats]

    async def _list_judged(self, caller: Subject, before: Cursor | None) -> list[_Found]:
        """The matches after a place of which the caller is a judge; they may be private."""
        if caller.role is not Role.JUDGE:
            return []
        entries = await self._lobby.entries([one for one in caller.matches if is_match_id(one)])
        behind = [(one.place, one, 0) for one in entries.values() if before is None or one.place < before]
        return sorted(behind, key=lambda found: found[0], reverse=True)

    def _sits(self, caller: Subject, listed: ListedMatch) -> bool:
        return self._players.reference(caller, listed.summary.match_id) in listed.players

    def _may_match(self, caller: Subject, request: proto.ListMatchesRequest, listed: ListedMatch) -> bool:
        """Whether to read the match: the caller may see it, and its constant properties fit the request."""
        summary = listed.summary
        if request.game not in {"", summary.game}:
            return False
        sits = self._sits(caller, listed) or self._rematches.may_ask(caller, listed)
        if request.mine and not sits:
            return False
        if summary.is_private and not (sits or judges(caller, summary.match_id) or caller.role is Role.OPERATOR):
            return False
        # The lobby has every change of state; only a delayed viewer may see an earlier state.
        return bool(request.state in {proto.MATCH_STATE_UNSPECIFIED, summary.state} or summary.spectator_delay_seconds)


def points_of(request: proto.ListMatchesRequest) -> float:
    """The points of a page, which depend on its size."""
    return 1 + max(0, min(request.page_size or PAGE, LONGEST_PAGE)) / ROWS_A_POINT


def _page_size(request: proto.ListMatchesRequest) -> int:
    if request.page_size < 0:
        allowed = f"0 to {LONGEST_PAGE}"
        raise Refusal("PAGE_SIZE_NEGATIVE", f"a page has {allowed} matches", {"allowed": allowed})
    return min(request.page_size or PAGE, LONGEST_PAGE)


def _matches(request: proto.ListMatchesRequest, player: str, summary: proto.MatchSummary) -> bool:
    if request.state not in {proto.MATCH_STATE_UNSPECIFIED, summary.state}:
        return False
    if request.lost and not (summary.is_lost or summary.aborted.reason == ABORT_REASON_LOG_LOST):
        return False
    return not player or any(seat.taken and plain_name(seat.name) == player for seat in summary.seats)


class PageTokens:
    """Page tokens: the place of the last examined match.

    The match may be secret from the caller, so the token is encrypted, and valid only for the same caller and filters.
    """

    def __init__(self, service_key: bytes) -> None:
        """Derive the key from `service_key`."""
        self._cipher = AESSIV(hmac.digest(service_key, b"rollbook/1/page", "sha256"))

    def write(self, caller: Subject, request: proto.ListMatchesRequest, place: Cursor) -> str:
        """The token for a place."""
        said = f"{place[0]}.{place[1]}".encode()
        return base64.urlsafe_b64encode(self._cipher.encrypt(said, [_filters(caller, request)])).decode("ascii")

    def read(self, caller: Subject, request: proto.ListMatchesRequest) -> Cursor:
        """The place in a request's token; raises Refusal for another token."""
        try:
            data = base64.urlsafe_b64decode(request.page_token.encode())
            said = self._cipher.decrypt(data, [_filters(caller, request)]).decode()
        except (InvalidTag, ValueError):
            raise Refusal("PAGE_TOKEN_BAD", "the page token does not go with this caller and these filters") from None
        opened_ms, _, match_id = said.partition(".")
        return int(opened_ms), match_id


def _filters(caller: Subject, request: proto.ListMatchesRequest) -> bytes:
    said = [caller.key, request.game, request.state, request.mine, request.player]
    return json.dumps([*said, True] if request.lost else said).encode()
