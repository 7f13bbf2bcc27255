"""A match told line by line, for people on a terminal or in a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rollbook.match.events import Chosen, Event, Happened, Sealed
from rollbook.match.notation import Header, LineWriter
from rollbook.rules.options import written


def tell(header: Header, events: Iterable[tuple[int, Event]]) -> Iterator[str]:
    """What was played by whom, every event, and the places, a line each."""
    opened = header.opened
    options = ", ".join(f"{name} {written(value)}" for name, value in opened.options.items())
    yield f"{header.game.title} ({options}), match {opened.match_id}\n"
    yield f"Seats: {', '.join(f'{seat} {name}' for seat, name in enumerate(opened.names))}\n"
    if not any(header.entropy):
        yield "No seat brought entropy of its own: the dice are fixed by the secret alone.\n"
    yield "\n"
    body = LineWriter(header.game).body
    width = max(map(len, opened.names))
    for sequence, event in events:
        if isinstance(event, Sealed):
            yield from _end(event, opened.names)
        elif isinstance(event, Chosen | Happened):
            said = body(event)
            kind = said.pop("choice", None) or said.pop("chance")
            who = opened.names[event.seat] if isinstance(event, Chosen) else ""
            by = " (caretaker)" if said.pop("by", None) else ""
            if isinstance(event, Chosen):
                del said["seat"]
            yield f"{sequence:>5}  {who:<{width}}  {kind} {_fields(said, opened.names)}".rstrip() + f"{by}\n"
        else:
            said = body(event)
            who = opened.names[said["seat"]] if "seat" in said else ""
            yield f"{sequence:>5}  {who:<{width}}  {said['event'].replace('_', ' ')}\n"


def _end(event: Sealed, names: tuple[str, ...]) -> Iterator[str]:
    yield "\n"
    if event.places is None:
        yield f"Aborted: {event.aborted}\n"
        return
    for place, name in sorted(zip(event.places, names, strict=True)):
        yield f"{place}. {name}\n"


def _fields(said: dict[str, Any], names: tuple[str, ...]) -> str:
    return "  ".join(_field(key, value, names) for key, value in said.items())


def _field(key: str, value: Any, names: tuple[str, ...]) -> str:
    if key in {"seat", "target"}:
        name: str = names[value]
        return name
    if isinstance(value, list):
        return f"{key} {' '.join(map(str, value))}"
    return f"{key} {written(value)}" if value is not None else f"{key} hidden"
