"""The log beside a table, formatted once for all readers of the same language."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape

from rollbook_clients.sdk import Event
from rollbook_clients.terminal.known_game import ShownEvent, Story
from rollbook_replays.games.presentation import Moment, Sentence
from rollbook_replays.games.seats import Seating
from rollbook_replays.text import STRONG, Text

SHOWN_EVENTS: Final = 50
"""Number of newest lines that are shown, one for each event."""


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
            if line := self._write_event(event, seating):
                self._items.appendleft(line)
        return Markup("".join(self._items))  # noqa: S704 - written here

    def _write_event(self, event: Event, seating: Seating) -> str:
        """The line of one event; leaves out sentences that the next one implies."""
        scene = self._story.scene(event, seating)
        sentences = [each for each in scene.told if not each.is_implied]
        texts = [each.text for each in sentences]
        if not texts:
            return ""
        self.newest = mark_up(_join(texts) if texts[0].plain.endswith(":") else texts[-1])
        line = self._line(scene, seating) or _join(texts)
        number = event.sequence
        return (
            f'<li id="line-{number}" data-event="{number}"{_alarm(sentences)}>'
            f'<a href="/matches/{self._match_id}/replay?at={number}" class="number">{number}</a>'
            f" <span>{mark_up(line)}</span></li>\n"
        )

    def _line(self, scene: ShownEvent, seating: Seating) -> Text | None:
        """The line that the game has for the whole event; None if it consists of the sentences of the story."""
        spotlight, game = scene.spotlight, self._story.game
        if game is None or not scene.is_move or spotlight.before is None or spotlight.before.seat is None:
            return None
        effect = game.effect(spotlight.last, Moment(spotlight.before.seat, spotlight.before, scene.view))
        if not effect.log or effect.seat is None:
            return None
        return Text.of(seating.mark(effect.seat), " ", (effect.say(effect.log, seating), STRONG))


def _alarm(sentences: Sequence[Sentence]) -> str:
    whom = next((each.alarm for each in sentences if each.alarm), "")
    return f' data-alarm="{whom}"' if whom else ""


def _join(texts: list[Text]) -> Text:
    """The sentences of one event as one line; the places at the end of a match follow a colon."""
    first, *others = texts
    if first.plain.endswith(":"):
        return Text.of(first, " ", Text.join(", ", others))
    return Text.join(". ", [first, *map(_without_mark, others)])


def _without_mark(text: Text) -> Text:
    """A sentence after another one about the same seat, without the seat's sign."""
    return Text(text.spans[2:]) if len(text.spans) > 2 and "seat" in text.spans[0][1] else text  # noqa: PLR2004 - sign, space, sentence


def mark_up(text: Text) -> Markup:
    """A text as HTML, with its styles as classes."""
    return Markup("".join(_span(part, style) for part, style in text.spans))  # noqa: S704 - escaped here


def _span(part: str, style: str) -> str:
    return f'<span class="{escape(style)}">{escape(part)}</span>' if style else escape(part)
