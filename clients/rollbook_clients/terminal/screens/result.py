"""The result of a match in words, and the actions that are offered after it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from textual.screen import Screen

from rollbook.replay_file.container import NotAReplay, read
from rollbook.v1.match_pb2 import MATCH_STATE_ABORTED, MATCH_STATE_FINISHED, MatchSummary
from rollbook_clients.sdk import Match, Refused, RollbookError
from rollbook_clients.sdk.lobby import abort_reason
from rollbook_clients.terminal.errors import said_of
from rollbook_clients.terminal.film import Film, NotShown
from rollbook_clients.terminal.rematch import RematchNews
from rollbook_clients.terminal.screens.dialogues import AskLine
from rollbook_clients.terminal.screens.replay import ReplayScreen
from rollbook_replays.games.presentation import MenuEntry
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.narration import abort_sentence
from rollbook_replays.text import printable

AFTERWARDS: Final = ("again", "replay", "save", "verify", "leave")
"""The actions in order. The first one is only for players of a match that has a result."""


def headline(summary: MatchSummary, seating: Seating) -> str:
    """The most important result, as a sentence: who won, which place the user has, or why the match was aborted."""
    words, own = seating.words, seating.own
    if summary.state == MATCH_STATE_ABORTED:
        return abort_sentence(abort_reason(summary), seating)
    places = summary.places.places
    winners = [seat for seat, place in enumerate(places) if place == 1]
    names = words.both(map(seating.name, winners)) if winners else ""
    if own is None:
        return words("end.wins" if len(winners) == 1 else "end.win", names=names)
    if own not in winners:
        place = _ordinal(places[own], words, "come")
        return words("end.place" if len(winners) == 1 else "end.places", names=names, place=place)
    others = [seating.name(seat) for seat in winners if seat != own]
    return words("end.shared", names=words.both(others)) if others else words("end.won")


def standing(summary: MatchSummary, seating: Seating, score: Callable[[int], str]) -> str:
    """All places in one line: names with their scores, and which seats gave up."""
    gave_up = [seat.forfeited for seat in summary.seats]
    said = []
    for place, seat in sorted((place, seat) for seat, place in enumerate(summary.places.places)):
        notes = ", ".join(note for note in (score(seat), seating.words("end.gave_up") * gave_up[seat]) if note)
        said.append(f"{place}. {seating.name(seat)}" + (f" ({notes})" if notes else ""))
    return "  ".join(said)


def result_of(summary: MatchSummary, own: int | None, words: Words) -> str:
    """The result in a few words, for a list of matches."""
    if summary.state == MATCH_STATE_ABORTED or own is None or own >= len(summary.places.places):
        return words(f"state.{summary.state}")
    place, most = summary.places.places[own], len(summary.places.places)
    said = words("result.won") if place == 1 else words("result.place", place=_ordinal(place, words), most=most)
    return f"{said}, {words('result.gave_up')}" if summary.seats[own].forfeited else said


def _ordinal(place: int, words: Words, kind: str = "place") -> str:
    """The place in words, or as a number if the language has no word for it."""
    key = f"{kind}.{place}"
    return words(key) if key in words else f"{place}."


class Afterwards:
    """Carries out the actions that are offered when a match is over."""

    def __init__(
        self,
        screen: Screen[None],
        match: Match,
        words: Words,
        say: Callable[[str], None],
        sit_down: Callable[[Match, RematchNews], None],
    ) -> None:
        """`sit_down` goes to another match, in which the user has a seat, and which is a rematch with this news."""
        self.news = RematchNews()
        self._sit_down = sit_down
        self._screen = screen
        self._match = match
        self._words = words
        self._say = say

    def entries(self, summary: MatchSummary, own: int | None) -> tuple[MenuEntry, ...]:
        """The menu; each choice is the name of an action."""
        words = self._words
        names = AFTERWARDS if own is not None and summary.state == MATCH_STATE_FINISHED else AFTERWARDS[1:]
        if self.news.asks_you:
            names = (names[0], "decline", *names[1:])
        return tuple(MenuEntry(words(f"end.{name}"), choice=name, about=words(f"end.{name}.about")) for name in names)

    def follow(self, summary: MatchSummary, own: int | None, changed: Callable[[], None]) -> None:
        """Follow the rematch of a match with a result that the user played."""
        if own is not None and summary.state == MATCH_STATE_FINISHED and not self.news.names:
            self.news = RematchNews(self._match, [seat.name for seat in summary.seats])
            self._screen.run_worker(self.news.follow(changed))

    async def do(self, name: str, display_name: str) -> None:
        """Carry out the action `name`; `display_name` is the user's name at the table."""
        try:
            match name:
                case "again":
                    await self._again(display_name)
                case "decline" if self.news.offer is not None:
                    await self.news.offer.decline()
                    self._say(self._words("rematch.you_declined"))
                case "replay":
                    await self._replay()
                case "save":
                    suggested = str(Path.cwd() / f"{self._match.id}.rollbook")
                    self._screen.app.push_screen(AskLine(self._words("end.save.where"), suggested), self._save)
                case "verify":
                    await self._verify()
        except RollbookError as error:
            self._say(said_of(error, self._words))
        except (NotAReplay, NotShown) as wrong:
            self._say(printable(str(wrong)))

    async def _again(self, display_name: str) -> None:
        """Join the rematch, which one of the players has opened, or open it; go there."""
        rematch = await self._match.rematch()
        try:
            await rematch.join(name=display_name)
        except Refused as refused:
            if refused.reason != "ALREADY_SEATED":
                raise
        self._sit_down(rematch, RematchNews(self._match, self.news.names))

    async def _replay(self) -> None:
        self._say(self._words("end.fetching"))
        data = await self._match.replay()
        film = await asyncio.to_thread(lambda: Film(read(data).replay))
        self._say("")
        self._screen.app.push_screen(ReplayScreen(film, self._words))

    def _save(self, answer: str | None) -> None:
        if answer and answer.strip():
            self._screen.run_worker(self._write(Path(answer.strip()).expanduser()))

    async def _write(self, path: Path) -> None:
        try:
            await self._match.export(path)
        except OSError as wrong:
            self._say(f"{path}: {wrong.strerror}")
        except RollbookError as error:
            self._say(said_of(error, self._words))
        else:
            self._say(self._words("end.saved", path=path))

    async def _verify(self) -> None:
        self._say(self._words("end.verifying"))
        audited = await self._match.verify()
        found = audited.divergence
        where = audited.unreadable or "; ".join(audited.missing)
        if found is not None:
            where = (
                f"{found.check}: {found.found}"
                if found.event is None
                else f"{found.event}, {found.check}: {found.found}"
            )
        self._say(self._words(f"verdict.{audited.verdict}", events=audited.events, why=printable(where)))
