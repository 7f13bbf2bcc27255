"""News of a rematch: whom it asks and what they answered, for the table of the match before and for its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress

from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.match_pb2 import MATCH_STATE_OPEN
from rollbook_clients.sdk import Match, Offer, RollbookError
from rollbook_clients.terminal.clocks import minutes, until_ms
from rollbook_replays.games.words import Words

_Rematch = MatchFrame.Rematch


class RematchNews:
    """Follows the rematch of a match that is over."""

    def __init__(self, match: Match | None = None, names: Sequence[str] = ()) -> None:
        """`match` is the one before, with the names of its seats; None: there is nothing to follow."""
        self._match = match
        self.names = names
        self.offer: Offer | None = None

    async def follow(self, changed: Callable[[], None]) -> None:
        """Follow the rematch, and call `changed` after every change."""
        if self._match is None:
            return
        with suppress(RollbookError):
            async with aclosing(self._match.rematches()) as offers:
                async for self.offer in offers:
                    changed()

    @property
    def asks_you(self) -> bool:
        """Whether the rematch waits for the user's answer."""
        return self.offer is not None and self.offer.asks_you

    @property
    def left_ms(self) -> int:
        """For how many more milliseconds seats are kept for players who have not answered; 0: for none."""
        offer = self.offer
        if offer is None or offer.state != MATCH_STATE_OPEN or _Rematch.ANSWER_ASKED not in offer.answers:
            return 0
        return until_ms(offer.kept_until_ms)

    def wanted(self, words: Words) -> str:
        """Who has sat down again, as a sentence; empty unless the user is asked."""
        names = self._those(_Rematch.ANSWER_ACCEPTED)
        if not self.asks_you or not names:
            return ""
        return words("rematch.wants" if len(names) == 1 else "rematch.want", names=words.both(names))

    def below(self, waiting: str, words: Words) -> str:
        """The text on whom a table waits for, and below it what the players of the match before have answered."""
        if self.offer is None or self.offer.state != MATCH_STATE_OPEN:
            return waiting
        left = minutes(self.left_ms)
        return "\n".join([waiting, *self.waited_for(words, left), *self.answers(words)])

    def waited_for(self, words: Words, left: str) -> list[str]:
        """A line with the players who have not answered, at whose end is the time that they have `left`."""
        names = self._those(_Rematch.ANSWER_ASKED) if self.left_ms else []
        return [words("rematch.waits", names=words.both(names), left=left)] if names else []

    def answers(self, words: Words) -> list[str]:
        """Lines with the players who will not come, while the rematch is open."""
        if self.offer is None or self.offer.state != MATCH_STATE_OPEN:
            return []
        keys = {_Rematch.ANSWER_DECLINED: "rematch.declined", _Rematch.ANSWER_LAPSED: "rematch.left"}
        said = [(key, self._those(answer)) for answer, key in keys.items()]
        return [words(key, names=words.both(names)) for key, names in said if names]

    def _those(self, answer: int) -> list[str]:
        """The names of the others with this answer."""
        offer = self.offer
        if offer is None:
            return []
        return [
            name
            for seat, (name, said) in enumerate(zip(self.names, offer.answers, strict=False))
            if said == answer and seat != offer.own
        ]
