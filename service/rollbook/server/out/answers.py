"""Answers about a match: what a command made, and how things stand, as their caller may see them."""

from __future__ import annotations

from collections.abc import Sequence

from rollbook.match.chain import Position
from rollbook.match.events import Happened
from rollbook.match.ledger import Ledger
from rollbook.match.perspective import Visible
from rollbook.rules.game import Perspective
from rollbook.server.out.heads import Heads
from rollbook.server.out.projection import clocks_message, legal_message, perspective_message, projected, view_message
from rollbook.v1 import match_pb2 as proto


class Answers:
    """Makes the messages that answer calls, with signed heads."""

    def __init__(self, heads: Heads) -> None:
        """Sign by these heads."""
        self._heads = heads

    def made(
        self, events: Sequence[Visible], ledger: Ledger, leads_to: Position, perspective: Perspective
    ) -> proto.EventsMade:
        """What a command made of the match that is this ledger by now, with the position behind it."""
        return proto.EventsMade(
            first=events[0].logged.sequence,
            last=events[-1].logged.sequence,
            events=[projected(event, perspective) for event in events],
            head=self._heads.of(ledger, leads_to),
        )

    def looked_at(
        self, ledger: Ledger, perspective: Perspective, summary: proto.MatchSummary, now_ms: int
    ) -> proto.GetMatchResponse:
        """The match as one caller sees it at this moment; all of it is of one position."""
        return proto.GetMatchResponse(
            summary=summary,
            perspective=perspective_message(perspective),
            view=view_message(ledger, perspective),
            legal=legal_message(ledger, perspective),
            clocks=clocks_message(ledger, now_ms),
            head=self._heads.of(ledger),
        )


def outcomes(events: Sequence[Visible], perspective: Perspective) -> proto.EventsMade:
    """What a command made, for a caller who wants no more than the range and what chance did."""
    return proto.EventsMade(
        first=events[0].logged.sequence,
        last=events[-1].logged.sequence,
        events=[projected(event, perspective) for event in events if isinstance(event.logged.event, Happened)],
    )
