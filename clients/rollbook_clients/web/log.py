"""The log beside a table, formatted once for all readers of the same language."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape

from rollbook_clients.sdk import Event
from rollbook_clients.terminal.known_game import Story
from rollbook_replays.games.presentation import Sentence
from rollbook_replays.games.seats import Seating
from rollbook_replays.text import Text

SHOWN_EVENTS: Final = 50
"""Number of newest events that are shown."""


class ShownLog:
    """The events of a match as items of a list, the newest event first."""

    def __init__(self, match_id: str) -> None:
        self._match_id = match_id
        self._story = Story()
        self._told = 0
        self._items: deque[str] = deque(maxlen=SHOWN_EVENTS)
        self.newest = Markup()
        """The newest sentence."""

    def items(self, events: Sequence[Event], seating: Seating) -> Markup:
        """The list for all events so far; only events that are new since the last call are formatted."""
        for event in events[self._told :]:
            self._told += 1
            self._items.appendleft(self._write_event(event, seating))
        return Markup("".join(self._items))  # noqa: S704 - written here

    def _write_event(self, event: Event, seating: Seating) -> str:
        """The sentences of one event as list items; leaves out those that the next sentence implies."""
        sentences = [each for each in self._story.tell(event, seating) if not each.is_implied]
        self.newest = mark_up(sentences[-1].text) if sentences else self.newest
        number = event.sequence
        replay = f"/matches/{self._match_id}/replay?at={number}"
        return "".join(
            f'<li id="line-{number}-{place}" data-event="{number}"{_alarm(each)}>'
            f'<a href="{replay}" class="number">{number}</a> <span>{mark_up(each.text)}</span></li>\n'
            for place, each in enumerate(sentences, 1)
        )


def _alarm(sentence: Sentence) -> str:
    return f' data-alarm="{sentence.alarm}"' if sentence.alarm else ""


def mark_up(text: Text) -> Markup:
    """A text as HTML, with its styles as classes."""
    return Markup("".join(_span(part, style) for part, style in text.spans))  # noqa: S704 - escaped here


def _span(part: str, style: str) -> str:
    return f'<span class="{escape(style)}">{escape(part)}</span>' if style else escape(part)
