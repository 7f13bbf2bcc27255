"""A match as one browser shows it at one moment: the values for the templates."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
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
from rollbook_clients.terminal.clocks import DAY, away_text, clock_name, until_ms
from rollbook_clients.terminal.known_game import KnownGame, bot_mark
from rollbook_clients.terminal.screens.play_now import unready
from rollbook_clients.web.followed import FollowedMatch
from rollbook_clients.web.log import mark_up
from rollbook_clients.web.motion import Motion, motion_of
from rollbook_clients.web.surface import ShownPlayer, Surface, score_of, sign_of, surface
from rollbook_clients.web.timeline import whole_strip
from rollbook_replays.games.presentation import Menu, MenuEntry, Picking, differing, option_name, option_value
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.narration import abort_sentence


@dataclass(frozen=True, slots=True)
class ChoiceEntry:
    """A button for a choice, or a heading with buttons below it."""

    id: str
    label: str
    brief: str
    """The label for narrow places; empty if there is none."""
    note: str
    value: str
    """The encoded choice; empty for a heading and for a choice that is impossible."""
    touches: str
    entries: tuple[ChoiceEntry, ...]
    says: str = ""
    """A sentence for the board while the choice is considered."""
    is_careful: bool = False
    """Whether a finger has to confirm it."""
    is_instead: bool = False
    """Whether it does something else with picked pieces than the offers."""
    variant: str = ""
    """`yes` for the second of two choices that touch the same things, `no` for the first, else empty."""


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """A piece that can be picked for a choice."""

    name: int
    label: Markup
    is_picked: bool
    fits: bool
    """Whether it is part of a choice that is legal at once."""
    kind: str
    """What it shows, as pieces of different kinds do not go together; empty if it goes with all kinds."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The values for the template of a table."""

    match_id: str
    game: str
    title: str
    state: int
    position: str
    sequence: int
    surface: Surface
    newest: Markup
    """The newest sentence of the log."""
    status: str
    hint: str
    """The next step of the turn in a sentence; empty if it is another one's turn."""
    switch: str
    """The label of the switch between two choices that touch the same things; empty if there are none."""
    is_own_turn: bool
    players: tuple[ShownPlayer, ...]
    choices: tuple[ChoiceEntry, ...]
    pieces: tuple[ShownPiece, ...]
    alike: str
    """Pairs of a thing and the thing like it that the choices name, as `die-7=die-3 …`."""
    notes: tuple[str, ...]
    log: Markup
    own: int | None
    is_open: bool
    settings: tuple[str, ...]
    """Clock and options of an open match, in words."""
    is_running: bool
    is_over: bool
    has_won: bool
    asks: bool
    """Whether a rematch waits for the viewer's answer."""
    searches: bool
    """Whether the table came to nothing because others were not ready, so that the viewer looks for another one."""
    is_slow: bool
    """Whether a turn may take a day or more."""
    winners: str
    """The names of the winners; empty while there are none."""
    ranking: tuple[ShownPlayer, ...]
    """The players by place; empty while there are no places."""
    own_place: int | None
    """The place of the viewer; None for a spectator, and while there are no places."""
    strip: Markup
    """The places over time; empty while the match runs."""
    is_away: bool
    motion: Motion
    bots_ms: int | None
    """Milliseconds until bots join; None if none will."""
    waited_for: str
    """The players of the match before who have not answered yet, followed by the time they have; empty for none."""
    kept_ms: int
    """Milliseconds for which their seats are kept, or the viewer's own; 0 if none is."""
    head: str
    """The last signed head, for the browser to keep; empty if there is none."""


def scene(tail: FollowedMatch, words: Words, picked: Iterable[int] = ()) -> Scene:
    """The scene of a match at this moment, with these pieces picked."""
    seating, summary = tail.seating(words), tail.summary
    is_over = tail.has_ended or summary.state in OVER
    players = _players(tail, seating, words, is_over=is_over)
    menu = _menu(tail, seating)
    pieces, choices = _choices(tail, menu, set(picked))
    position = tail.position
    ranking = tuple(sorted((each for each in players if each.place), key=lambda each: each.place or 0))
    own = None if tail.own is None else players[tail.own] if tail.own < len(players) else None
    return Scene(
        match_id=tail.match.id,
        game=summary.game,
        title=title(summary, tail.known),
        state=summary.state,
        position="" if position is None else f"{position.sequence}.{position.link.hex()}",
        sequence=0 if position is None else position.sequence,
        surface=_surface(tail, seating),
        status=_status(tail, seating, words),
        hint=_hint(menu, seating.words),
        switch=_switch(menu, choices, seating.words),
        is_own_turn=bool(choices or pieces),
        players=players,
        choices=choices,
        pieces=pieces,
        alike=_alike(tail, choices) if choices and not pieces else "",
        notes=tuple(_notes(tail, seating, words)),
        log=tail.log(words),
        newest=tail.newest(words),
        own=tail.own,
        is_open=summary.state == MATCH_STATE_OPEN,
        settings=tuple(_settings(tail, seating, words)) if summary.state == MATCH_STATE_OPEN else (),
        is_running=summary.state == MATCH_STATE_RUNNING and not tail.has_ended,
        is_over=is_over,
        has_won=own is not None and own.place == 1,
        asks=is_over and tail.news.asks_you,
        searches=bool(unready(summary, tail.own)),
        is_slow=summary.turn_seconds >= DAY,
        winners=words.both([player.name for player in ranking if player.place == 1] or [""]),
        ranking=ranking,
        own_place=None if own is None else own.place,
        strip=whole_strip(tail.film, seating),
        is_away=tail.is_away,
        motion=motion_of(tail, seating, words),
        bots_ms=until_ms(summary.bots_at_ms) if summary.bots_at_ms else None,
        waited_for="" if is_over else "".join(tail.news.waited_for(words, "")),
        kept_ms=tail.news.left_ms,
        head="" if tail.match.head is None else write_heads([tail.match.head]).strip(),
    )


def help_of(tail: FollowedMatch, words: Words) -> str:
    """A summary of the game's rules; empty if the game is unknown."""
    return "" if tail.known is None else words.also(tail.known.shown.texts)("help")


def short_of(tail: FollowedMatch, words: Words) -> list[str]:
    """The game in three sentences; empty if the game is unknown."""
    return [] if tail.known is None else words.also(tail.known.shown.texts)("short").split("\n")


def title(summary: MatchSummary, known: KnownGame | None) -> str:
    """The title of the game."""
    return summary.game if known is None else str(known.rules.title)


def _surface(tail: FollowedMatch, seating: Seating) -> Surface:
    if tail.known is None or tail.view is None:
        text = Markup("<p>{}</p>").format(seating.words("table.no_game"))
        return Surface("", text, Markup(), (), ())
    drawn = surface(tail.known, tail.view, seating)
    if tail.effect.dice is None:
        return drawn
    thrown = surface(tail.known, replace(tail.view, dice=tail.effect.dice), seating)
    return replace(drawn, tray=thrown.tray)


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
    is_played = summary.state not in {MATCH_STATE_OPEN, MATCH_STATE_GETTING_READY}
    view = tail.view if is_played else None
    scores = [score_of(tail.known, view, number, seating) for number in range(len(summary.seats))]
    return tuple(
        ShownPlayer(
            seat=number,
            mark=sign_of(number),
            name=seating.name(number) if seat.taken else "",
            bot=bot_mark(seat, words),
            is_taken=seat.taken,
            is_own=number == tail.own,
            on_turn=number == on_turn,
            points=scores[number][0],
            unit=scores[number][1],
            is_ready=seat.ready,
            out=out(tail.leaving_reason(number), words, is_over=is_over) if seat.forfeited else "",
            away=away_text(tail.away[number], words) if number in tail.away and seat.taken and not is_over else "",
            place=places[number] if places else None,
            left_ms=tail.left_ms(number),
        )
        for number, seat in enumerate(summary.seats)
    )


def _menu(tail: FollowedMatch, seating: Seating) -> Menu:
    if tail.legal is None or tail.own is None or tail.known is None or tail.view is None:
        return ()
    return tail.known.menu(tail.view, tail.legal.message, seating)


def _choices(
    tail: FollowedMatch, menu: Menu, picked: set[int]
) -> tuple[tuple[ShownPiece, ...], tuple[ChoiceEntry, ...]]:
    if not isinstance(menu, Picking):
        return (), _pair([_entry(entry, tail, f"choice-{n}") for n, entry in enumerate(menu, 1)])
    names = {piece.name: mark_up(piece.text) for piece in menu.pieces}
    offered = {thing for entry in menu.offers for thing in _things(entry, tail)}
    kinds = {text.striptags() for name, text in names.items() if f"die-{name}" in offered}
    pieces = tuple(
        ShownPiece(
            name, text, name in picked, name in menu.fitting, said if (said := text.striptags()) in kinds else ""
        )
        for name, text in names.items()
    )
    # With nothing to offer, all pieces together are the first choice.
    wanted = sorted(picked) if picked or menu.offers else sorted(menu.fitting)
    entries = menu.entries(wanted) if wanted else menu.offers
    return pieces, tuple(
        replace(_entry(entry, tail, f"choice-{n}"), is_instead=_is_instead(entry, menu))
        for n, entry in enumerate(entries, 1)
        if picked or entry.choice is not None
    )


def _is_instead(entry: MenuEntry, menu: Picking) -> bool:
    """Whether the choice of an entry is of another kind than those that the menu offers."""
    return entry.choice is not None and not any(isinstance(entry.choice, type(each.choice)) for each in menu.offers)


def _pair(choices: Sequence[ChoiceEntry]) -> tuple[ChoiceEntry, ...]:
    """The choices, with neighbours marked that touch the same things."""
    paired = list(choices)
    for number, (one, other) in enumerate(pairwise(choices)):
        if one.touches and one.touches == other.touches:
            paired[number], paired[number + 1] = replace(one, variant="no"), replace(other, variant="yes")
    return tuple(paired)


def _hint(menu: Menu, words: Words) -> str:
    """The next step of the turn, by the kind of the first choice; empty if the game has no words for it."""
    if not menu:
        return ""
    first = next(iter(choices_of(menu)), None)
    key = f"task.{'picking' if first is None else type(first).__name__.lower()}"
    return words(key) if key in words else ""


def _switch(menu: Menu, choices: Sequence[ChoiceEntry], words: Words) -> str:
    """The label of the switch between two choices that touch the same things; empty if there are none."""
    if not any(choice.variant for choice in choices):
        return ""
    key = f"switch.{type(next(iter(choices_of(menu)))).__name__.lower()}"
    return words(key) if key in words else ""


def choices_of(menu: Menu) -> Iterable[Any]:
    """All choices of a menu, those in submenus included; of pieces to pick, the choices that are ready."""
    for entry in menu.offers if isinstance(menu, Picking) else menu:
        if entry.choice is not None:
            yield entry.choice
        yield from choices_of(entry.entries)


def _alike(tail: FollowedMatch, choices: Iterable[ChoiceEntry]) -> str:
    """Pairs of a thing that no choice names and a thing like it that one does, as `die-7=die-3`."""
    if tail.known is None:
        return ""
    named = set(" ".join(_touches(choices)).split())
    pairs = []
    for group in tail.known.shown.alike(tail.view):
        named_first = next((thing for thing in group if thing in named), None)
        pairs += [f"{thing}={named_first}" for thing in group if named_first and thing not in named]
    return " ".join(pairs)


def _touches(choices: Iterable[ChoiceEntry]) -> Iterable[str]:
    for choice in choices:
        yield choice.touches
        yield from _touches(choice.entries)


def _things(entry: MenuEntry, tail: FollowedMatch) -> tuple[str, ...]:
    if entry.choice is None or tail.known is None:
        return ()
    return tail.known.shown.touched(tail.view, entry.choice)


def _entry(entry: MenuEntry, tail: FollowedMatch, name: str) -> ChoiceEntry:
    value, is_careful = "", False
    if entry.choice is not None and tail.known is not None:
        message = tail.known.choice(entry.choice).SerializeToString(deterministic=True)
        value = base64.urlsafe_b64encode(message).decode()
        is_careful = isinstance(entry.choice, tail.known.shown.careful)
    inside = _pair([_entry(each, tail, f"{name}-{n}") for n, each in enumerate(entry.entries, 1)])
    things = " ".join(_things(entry, tail))
    return ChoiceEntry(
        name, entry.label, entry.brief, entry.note, value, things, inside, entry.says, is_careful=is_careful
    )


def _status(tail: FollowedMatch, seating: Seating, words: Words) -> str:
    summary = tail.summary
    if summary.state == MATCH_STATE_OPEN:
        free = sum(not seat.taken for seat in summary.seats)
        waiting = words("table.waiting.one" if free == 1 else "table.waiting.many", count=free)
        return "\n".join([waiting, *tail.news.answers(words)])
    if summary.state == MATCH_STATE_GETTING_READY:
        late = [seating.name(number) for number, seat in enumerate(summary.seats) if not seat.ready]
        return words("table.ready", names=words.both(late or [""]))
    if summary.state == MATCH_STATE_ABORTED:
        late = [seating.name(number) for number in unready(summary, tail.own)]
        return words("now.unready", names=words.both(late)) if late else abort_sentence(abort_reason(summary), seating)
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
    for seat in range(len(summary.seats)) if summary.state == MATCH_STATE_RUNNING else ():
        if seat != tail.own and (left := tail.turns_left(seat)) is not None:
            yield words(f"table.turns_left.{'one' if left == 1 else 'many'}", count=left, name=seating.name(seat))
    if summary.dice_fixed:
        yield words("table.fixed")


def _settings(tail: FollowedMatch, seating: Seating, words: Words) -> Iterable[str]:
    """The clock and all options, in words."""
    yield clock_name(tail.summary.turn_seconds, words)
    for option in () if tail.known is None else tail.known.rules.options:
        value = seating.options[option.name]
        said = (
            words("yes" if value else "no") if isinstance(value, bool) else option_value(option, value, seating.words)
        )
        yield f"{option_name(option, seating.words)}: {said}"
    yield words("table.checkable")
