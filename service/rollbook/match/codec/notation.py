"""The plain form of a match: one JSON object a line, the same bytes for the same match.

`write` turns events into lines and `read` lines into events. The first line, the header, combines what the first events
determined, so that a reader has the entropy of all seats before the events that reveal it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from rollbook.match.chain import is_match_id
from rollbook.match.codec.moves import JsonObject, Unreadable, read_choice, read_outcome, write_choice, write_outcome
from rollbook.match.events import (
    Chosen,
    Event,
    Forfeited,
    Happened,
    Opened,
    Ready,
    Resigned,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Started,
    TimedOut,
)
from rollbook.rules.catalogue import AnyGame, find
from rollbook.rules.refusals import RefusedByRules

FORM: Final = 1
LONGEST_LINE: Final = 1 << 16
"""In bytes; the longest line of any game, a header, has a few thousand."""

_LIFECYCLE: Final[dict[str, type[Any]]] = {
    "seat_taken": SeatTaken,
    "seat_left": SeatLeft,
    "ready": Ready,
    "started": Started,
    "timed_out": TimedOut,
    "forfeited": Forfeited,
    "resigned": Resigned,
    "resumed": Resumed,
}
_LIFECYCLE_NAMES: Final = {kind: name for name, kind in _LIFECYCLE.items()}


@dataclass(frozen=True, slots=True)
class Header:
    """Line 1: event 1, and what the events up to the start revealed."""

    opened: Opened
    entropy: tuple[bytes, ...]
    """The entropy of each seat; empty for none."""

    @property
    def game(self) -> AnyGame:
        """The game at the version that the header names."""
        return find(self.opened.game, self.opened.ruleset)


def dumps(written: JsonObject) -> str:
    """One line, without its end."""
    return json.dumps(written, ensure_ascii=False, separators=(",", ":"))


def write(header: Header, events: Iterable[tuple[int, Event]]) -> Iterator[str]:
    """All the lines, each with its end."""
    yield dumps(write_header(header)) + "\n"
    line = LineWriter(header.game)
    for sequence, event in events:
        yield line(sequence, event) + "\n"


def write_header(header: Header) -> JsonObject:
    """The first line."""
    opened = header.opened
    return {
        "rollbook": FORM,
        "match": opened.match_id,
        "game": opened.game,
        "ruleset": opened.ruleset,
        "options": opened.options,
        "components": header.game.components,
        "seats": list(opened.names),
        "commitment": opened.commitment.hex(),
        "entropy": [brought.hex() for brought in header.entropy],
    }


class LineWriter:
    """Writes the lines after the header."""

    def __init__(self, game: AnyGame) -> None:
        """Prepare the names of the game's moves."""
        self._choices = {kind: name for name, kind in game.choices.items()}
        self._outcomes = {kind: name for name, kind in game.outcomes.items()}

    def __call__(self, sequence: int, event: Event) -> str:
        """One line, without its end."""
        return dumps({"seq": sequence, **self.body(event)})

    def body(self, event: Event) -> JsonObject:
        """The fields of the event's line, without its number."""
        match event:
            case Happened(outcome):
                return {"chance": self._outcomes[type(outcome)], **write_outcome(outcome)}
            case Chosen(seat, choice, by_caretaker):
                by = {"by": "caretaker"} if by_caretaker else {}
                return {"seat": seat, "choice": self._choices[type(choice)], **write_choice(choice), **by}
            case Sealed(places, aborted, secret):
                result = {"places": list(places)} if places is not None else {"aborted": aborted}
                return {"result": result, "secret": secret.hex()}
            case Opened():
                raise TypeError("event 1 is written as the header")
            case Started() | Resumed():
                return {"event": _LIFECYCLE_NAMES[type(event)]}
            case _:
                return {"event": _LIFECYCLE_NAMES[type(event)], "seat": event.seat}


def read_header(line: str) -> Header:
    """Read line 1; raises an error with the reason unless it is exactly a header that this version can write."""
    written = _parse(line)
    _keys(written, "rollbook", "match", "game", "ruleset", "options", "components", "seats", "commitment", "entropy")
    if written["rollbook"] != FORM or type(written["rollbook"]) is not int:
        raise Unreadable(f"the plain form has version {FORM} here")
    for key, kind in (("match", str), ("game", str), ("ruleset", int), ("options", dict), ("seats", list)):
        if type(written[key]) is not kind:
            raise Unreadable(f"{key} must be {_KINDS[kind]}")
    if not is_match_id(written["match"]):
        raise Unreadable("match must be 1 to 100 visible ASCII characters")
    try:
        game = find(written["game"], written["ruleset"])
        options = game.settle(written["options"], len(written["seats"]))
    except RefusedByRules as refused:
        raise Unreadable(str(refused)) from None
    if list(options) != list(written["options"]):
        raise Unreadable(f"options must be all of {', '.join(options)}, in this order")
    if dumps({"": written["components"]}) != dumps({"": dict(game.components)}):
        raise Unreadable(f"the components are not those of {game.name}, ruleset {game.version}")
    if not all(type(name) is str for name in written["seats"]):
        raise Unreadable("seats must be a list of names")
    entropy = written["entropy"]
    if type(entropy) is not list or len(entropy) != len(written["seats"]):
        raise Unreadable("entropy must have an entry for every seat")
    header = Header(
        Opened(
            match_id=written["match"],
            game=game.name,
            ruleset=game.version,
            options=options,
            names=tuple(written["seats"]),
            commitment=_hex(written["commitment"], "commitment", 32),
        ),
        entropy=tuple(_hex(brought, "entropy") for brought in entropy),
    )
    _same(line, write_header(header))
    return header


class LineReader:
    """Reads the lines after the header."""

    def __init__(self, header: Header) -> None:
        """Prepare the names of the game's moves, and the entropy that the seats will reveal."""
        game = header.game
        self._choices = game.choices
        self._outcomes = game.outcomes
        self._entropy = header.entropy
        self._line = LineWriter(game)

    def __call__(self, line: str) -> tuple[int, Event]:
        """The number and the event of a line."""
        written = _parse(line)
        sequence = written.get("seq")
        if type(sequence) is not int:
            raise Unreadable("seq must be a whole number")
        event = self._event(written)
        rewritten = {"seq": sequence, **self._line.body(event)}
        if "choice" in written:
            # Lists in choices may be in any order; everything else has to be in canonical form.
            rewritten.update({key: value for key, value in written.items() if type(value) is list and key in rewritten})
        _same(line, rewritten)
        return sequence, event

    def _event(self, written: JsonObject) -> Event:
        if "chance" in written:
            return Happened(read_outcome(_known_type(written, "chance", self._outcomes), written))
        if "choice" in written:
            kind = _known_type(written, "choice", self._choices)
            return Chosen(_seat(written), read_choice(kind, written), by_caretaker="by" in written)
        if "event" in written:
            return self._lifecycle(_known_type(written, "event", _LIFECYCLE), written)
        if "result" in written:
            return _read_seal(written)
        raise Unreadable("a line has one of chance, choice, event and result")

    def _lifecycle(self, kind: type[Any], written: JsonObject) -> Event:
        if kind in {Started, Resumed}:
            return kind()  # type: ignore[no-any-return]  # one of the events above
        seat = _seat(written)
        if kind is Ready:
            return Ready(seat, self._entropy[seat] if seat < len(self._entropy) else b"")
        return kind(seat)  # type: ignore[no-any-return]  # one of the events above


def _read_seal(written: JsonObject) -> Sealed:
    result = written["result"]
    secret = _hex(written.get("secret"), "secret", 32)
    if type(result) is not dict:
        raise Unreadable("result must be an object")
    if "aborted" in result:
        if type(result["aborted"]) is not str or not result["aborted"]:
            raise Unreadable("aborted must say why")
        return Sealed(None, result["aborted"], secret)
    places = result.get("places")
    if type(places) is not list or not all(type(place) is int for place in places):
        raise Unreadable("result must have places, a list of whole numbers, or say why the match was aborted")
    return Sealed(tuple(places), None, secret)


_KINDS: Final = {str: "a string", int: "a whole number", dict: "an object", list: "a list"}


def _parse(line: str) -> JsonObject:
    try:
        written = json.loads(line)
    except RecursionError:
        raise Unreadable("not JSON: nested too deeply") from None
    except ValueError as wrong:
        raise Unreadable(f"not JSON: {wrong}") from None
    if type(written) is not dict:
        raise Unreadable("a line must be a JSON object")
    return written


def _same(line: str, written: JsonObject) -> None:
    expected = dumps(written)
    if line == expected:
        return
    raise Unreadable(f"not written as the plain form has it: {_shorten(expected)}")


def _shorten(text: str, most: int = 120) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _keys(written: JsonObject, *names: str) -> None:
    for name in names:
        if name not in written:
            raise Unreadable(f"{name} is missing")


def _known_type(written: JsonObject, key: str, names: Any) -> type[Any]:
    name = written[key]
    if type(name) is not str or name not in names:
        raise Unreadable(f"{key} must be one of {', '.join(names)}")
    return names[name]  # type: ignore[no-any-return]


def _seat(written: JsonObject) -> int:
    seat = written.get("seat")
    if type(seat) is not int or not 0 <= seat < 100:  # noqa: PLR2004 - more than any game has
        raise Unreadable("seat must be the number of a seat, from 0")
    return seat


def _hex(text: Any, name: str, size: int | None = None) -> bytes:
    try:
        data = bytes.fromhex(text) if type(text) is str else None
    except ValueError:
        data = None
    if data is None or (size is not None and len(data) != size):
        raise Unreadable(f"{name} must be {'' if size is None else f'{size} bytes in '}hexadecimal")
    return data
