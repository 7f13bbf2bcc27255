"""A match as one browser shows it at one moment: the values for the templates."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from rollbook.replay_file.kept_heads import write_heads
from rollbook.v1.match_pb2 import (
    MATCH_STATE_ABORTED,
    MATCH_STATE_FINISHED,
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    MatchSummary,
)
from rollbook_clients.sdk.lobby import OVER, abort_reason
from rollbook_clients.terminal.clocks import away_text, until_ms
from rollbook_clients.terminal.known_game import KnownGame, bot_mark
from rollbook_clients.web.followed import FollowedMatch
from rollbook_clients.web.log import marked
from rollbook_replays.games.blocks import Room
from rollbook_replays.games.presentation import Menu, MenuEntry, Picking, differing
from rollbook_replays.games.seats import Seating, seat_style, sign
from rollbook_replays.games.words import Words
from rollbook_replays.narration import aborted
from rollbook_replays.text import plain


@dataclass(frozen=True, slots=True)
class ShownPlayer:
    """One seat beside the board."""

    seat: int
    sign: str
    style: str
    name: str
    bot: str
    """The words that mark a bot; empty for a person."""
    is_taken: bool
    is_own: bool
    on_turn: bool
    out: str
    """How the seat left the match early, as text; empty if it did not."""
    away: str
    """For how long its player is away, as text; empty if present or unknown."""
    place: int | None
    left_ms: int | None
    """Milliseconds left on its clock; None while the clock does not run."""


@dataclass(frozen=True, slots=True)
class ChoiceEntry:
    """A button for a choice, or a heading with buttons below it."""

    id: str
    label: str
    note: str
    value: str
    """The encoded choice; empty for a heading and for a choice that is impossible."""
    touches: str
    entries: tuple[ChoiceEntry, ...]


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """A piece that can be picked for a choice."""

    name: int
    label: Markup
    is_picked: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """The values for the template of a table."""

    match_id: str
    game: str
    title: str
    state: int
    position: str
    sequence: int
    board: Markup
    status: str
    is_own_turn: bool
    players: tuple[ShownPlayer, ...]
    choices: tuple[ChoiceEntry, ...]
    pieces: tuple[ShownPiece, ...]
    notes: tuple[str, ...]
    log: Markup
    own: int | None
    is_open: bool
    is_running: bool
    is_over: bool
    has_won: bool
    asks: bool
    """Whether a rematch waits for the viewer's answer."""
    is_away: bool
    motion: str
    bots_ms: int | None
    """Milliseconds until bots join; None if none will."""
    head: str
    """The last signed head, for the browser to keep; empty if there is none."""


def scene(tail: FollowedMatch, words: Words, picked: Iterable[int] = ()) -> Scene:
    """The scene of a match at this moment, with these pieces picked."""
    seating, summary = tail.seating(words), tail.summary
    is_over = tail.has_ended or summary.state in OVER
    players = _players(tail, seating, words, is_over=is_over)
    pieces, choices = _choices(tail, seating, set(picked))
    position = tail.position
    own = None if tail.own is None else players[tail.own] if tail.own < len(players) else None
    return Scene(
        match_id=tail.match.id,
        game=summary.game,
        title=title(summary, tail.known),
        state=summary.state,
        position="" if position is None else f"{position.sequence}.{position.link.hex()}",
        sequence=0 if position is None else position.sequence,
        board=_board(tail, seating),
        status=_status(tail, seating, words),
        is_own_turn=bool(choices or pieces),
        players=players,
        choices=choices,
        pieces=pieces,
        notes=tuple(_notes(tail, seating, words)),
        log=tail.log(words),
        own=tail.own,
        is_open=summary.state == MATCH_STATE_OPEN,
        is_running=summary.state == MATCH_STATE_RUNNING and not tail.has_ended,
        is_over=is_over,
        has_won=own is not None and own.place == 1,
        asks=is_over and tail.news.asks_you,
        is_away=tail.is_away,
        motion="roll" if tail.last_kind == "happened" else "move",
        bots_ms=until_ms(summary.bots_at_ms) if summary.bots_at_ms else None,
        head="" if tail.match.head is None else write_heads([tail.match.head]).strip(),
    )


def help_of(tail: FollowedMatch, words: Words) -> str:
    """A summary of the game's rules; empty if the game is unknown."""
    return "" if tail.known is None else words.also(tail.known.shown.texts)("help")


def title(summary: MatchSummary, known: KnownGame | None) -> str:
    """The title of the game."""
    return summary.game if known is None else str(known.rules.title)


def drawn(known: KnownGame, view: Any, seating: Seating) -> Markup:
    """The board as HTML: a picture, or plain text for games without pictures."""
    if known.shown.picture is not None:
        return Markup(known.shown.picture(view, seating.words).inline())  # noqa: S704 - shapes escape what is in them
    return Markup("<pre class='letters'>{}</pre>").format(plain(known.shown.board(view, seating, Room())))


def _board(tail: FollowedMatch, seating: Seating) -> Markup:
    if tail.known is None or tail.view is None:
        return Markup("<p>{}</p>").format(seating.words("table.no_game"))
    return drawn(tail.known, tail.view, seating)


def out(gone: str, words: Words, *, is_over: bool) -> str:
    """How a seat left the match early, by the kind of event; while the match runs, also who plays for it.

    >>> from rollbook_clients.web.words import words_in
    >>> out("forfeited", words_in("en"), is_over=True)
    'out of time'
    """
    said = words(f"table.out.{gone}" if gone else "table.out")
    return said if is_over else f"{said}; {words('table.out.bot')}"


def _players(tail: FollowedMatch, seating: Seating, words: Words, *, is_over: bool) -> tuple[ShownPlayer, ...]:
    summary, on_turn = tail.summary, tail.on_turn
    places = list(summary.places.places) if summary.HasField("places") else []
    return tuple(
        ShownPlayer(
            seat=number,
            sign=sign(number),
            style=seat_style(number),
            name=seating.name(number) if seat.taken else "",
            bot=bot_mark(seat, words),
            is_taken=seat.taken,
            is_own=number == tail.own,
            on_turn=number == on_turn,
            out=out(tail.gone(number), words, is_over=is_over) if seat.forfeited else "",
            away=away_text(tail.away[number], words) if number in tail.away and seat.taken and not is_over else "",
            place=places[number] if places else None,
            left_ms=tail.left_ms(number),
        )
        for number, seat in enumerate(summary.seats)
    )


def _choices(
    tail: FollowedMatch, seating: Seating, picked: set[int]
) -> tuple[tuple[ShownPiece, ...], tuple[ChoiceEntry, ...]]:
    if tail.legal is None or tail.own is None or tail.known is None or tail.view is None:
        return (), ()
    menu: Menu = tail.known.menu(tail.view, tail.legal.message, seating)
    if not isinstance(menu, Picking):
        return (), tuple(_entry(entry, tail, f"choice-{n}") for n, entry in enumerate(menu, 1))
    pieces = tuple(ShownPiece(piece.name, marked(piece.text), piece.name in picked) for piece in menu.pieces)
    entries = menu.entries(sorted(picked)) if picked else ()
    return pieces, tuple(_entry(entry, tail, f"choice-{n}") for n, entry in enumerate(entries, 1))


def _entry(entry: MenuEntry, tail: FollowedMatch, name: str) -> ChoiceEntry:
    value, touches = "", ""
    if entry.choice is not None and tail.known is not None:
        message = tail.known.choice(entry.choice).SerializeToString(deterministic=True)
        value = base64.urlsafe_b64encode(message).decode()
        touches = " ".join(tail.known.shown.touched(tail.view, entry.choice))
    inside = tuple(_entry(each, tail, f"{name}-{n}") for n, each in enumerate(entry.entries, 1))
    return ChoiceEntry(name, entry.label, entry.note, value, touches, inside)


def _status(tail: FollowedMatch, seating: Seating, words: Words) -> str:
    summary = tail.summary
    if summary.state == MATCH_STATE_OPEN:
        free = sum(not seat.taken for seat in summary.seats)
        return tail.news.below(words("table.waiting.one" if free == 1 else "table.waiting.many", count=free), words)
    if summary.state == MATCH_STATE_GETTING_READY:
        late = [seating.name(number) for number, seat in enumerate(summary.seats) if not seat.ready]
        return words("table.ready", names=words.both(late or [""]))
    if summary.state == MATCH_STATE_ABORTED:
        return aborted(abort_reason(summary), seating)
    if summary.state == MATCH_STATE_FINISHED:
        return tail.news.wanted(words) or words("table.over")
    if tail.on_turn is None:
        return ""
    return words("table.yours") if tail.on_turn == tail.own else words("table.turn", name=seating.name(tail.on_turn))


def _notes(tail: FollowedMatch, seating: Seating, words: Words) -> Iterable[str]:
    """Notes on the match that are always shown: unusual options, delay, fixed dice."""
    summary = tail.summary
    if tail.known is not None:
        yield from differing(tail.known.rules, seating.options, seating.words)
    if summary.spectator_delay_seconds and tail.own is None and summary.state not in OVER:
        yield words("table.delayed", seconds=summary.spectator_delay_seconds)
    if summary.dice_fixed:
        yield words("table.fixed")
