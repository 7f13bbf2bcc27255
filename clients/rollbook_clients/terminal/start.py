"""Start and end of the terminal commands: connecting, the first screen, error messages and exit codes."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from textual.screen import Screen

from rollbook.cli.exits import Exit, Failed, usage
from rollbook.cli.service_options import ServiceOptions
from rollbook.replay_file.container import NotAReplay, read
from rollbook.replay_file.disk import read_file
from rollbook_clients.sdk import NotFound, RollbookError, Table, Unreachable, connect
from rollbook_clients.sdk.guests import GuestsUnreadable
from rollbook_clients.sdk.heads import HeadsUnreadable
from rollbook_clients.terminal.app import Terminal
from rollbook_clients.terminal.errors import said_of
from rollbook_clients.terminal.film import Film, NotShown
from rollbook_clients.terminal.hangup import leaving
from rollbook_clients.terminal.invitation import Invitation, parse_pasted
from rollbook_clients.terminal.preferences import Preferences
from rollbook_clients.terminal.profile import Profile
from rollbook_clients.terminal.screens.lobby import LobbyScreen
from rollbook_clients.terminal.screens.play_now import Wish
from rollbook_clients.terminal.screens.replay import ReplayScreen
from rollbook_clients.terminal.screens.table import TableScreen
from rollbook_clients.terminal.texts import language_of_this_person, words_in
from rollbook_replays.games.words import Words
from rollbook_replays.text import printable


@dataclass(frozen=True, slots=True)
class TerminalOptions:
    """The command-line options on service and user."""

    at: ServiceOptions
    language: str | None
    name: str = ""
    heads: Path | None = None
    pace: float | None = None
    """Seconds for each move of others; None uses the saved preference."""
    code: str = ""
    """A code from another device of the same user, which signs in as the same guest."""

    def preferences(self, profile: Profile) -> Preferences:
        """The saved preferences, overridden by the options."""
        preferences = Preferences(profile.preferences)
        preferences.pace = preferences.pace if self.pace is None else self.pace
        return preferences

    @property
    def words(self) -> Words:
        """The texts in the language asked for, else in the language of the environment."""
        return words_in(self.language or language_of_this_person())


def play(asked: TerminalOptions, goal: Invitation | Wish | None = None) -> int:
    """Run the lobby, from which the user plays; with an invitation or a wish, go to that match first."""

    def first(table: Table, profile: Profile) -> Screen[None]:
        return LobbyScreen(table, asked.words, profile, goal=goal)

    return _at_a_service(asked, first)


def watch(asked: TerminalOptions, match_id: str | None) -> int:
    """Show a match to a spectator; without a match id, show the lobby, where the user chooses a match."""

    def first(table: Table, profile: Profile) -> Screen[None]:
        if match_id is None:
            return LobbyScreen(table, asked.words, profile, watch_only=True)
        return TableScreen(table.match(match_id), asked.words, public_only=True)

    return _at_a_service(asked, first, match_id)


def replay(asked: TerminalOptions, source: str) -> int:
    """Play a replay file, or a match of a service by its id or invitation."""
    if not _on_a_terminal():
        return Exit.USAGE
    path = Path(source).expanduser()
    try:
        if path.exists():
            data = read_file(path)
        else:
            invited = _find_invitation(asked, source)
            asked = replace(asked, at=replace(asked.at, service=invited.service))
            data = asyncio.run(_taken_home(asked, invited))
        film = Film(read(data).replay)
    except OSError as wrong:
        _say(f"{source}: {wrong.strerror or wrong}")
        return Exit.UNREADABLE
    except (NotAReplay, NotShown) as wrong:
        _say(printable(f"{source}: {wrong}"))
        return Exit.UNREADABLE
    except NotFound as refused:
        _say(asked.words("no_file", source=source, service=asked.at.service, why=said_of(refused, asked.words)))
        return Exit.UNREADABLE
    except (Failed, RollbookError) as error:
        return _report_error(asked, error)
    return asyncio.run(_run_app(ReplayScreen(film, asked.words), asked.words, Preferences()))


def _find_invitation(asked: TerminalOptions, source: str) -> Invitation:
    """The match that an id or an invitation names; raises Failed for anything else."""
    try:
        return parse_pasted(source, asked.at.service)
    except ValueError:
        raise Failed(Exit.UNREADABLE, asked.words("no_source", source=printable(source))) from None


async def _taken_home(asked: TerminalOptions, invited: Invitation) -> bytes:
    async with _table(asked, Profile(name=asked.name)) as table:
        return await table.match(invited.match_id, invited.code).replay()


def _at_a_service(
    asked: TerminalOptions, first: Callable[[Table, Profile], Screen[None]], match_id: str | None = None
) -> int:
    if not _on_a_terminal():
        return Exit.USAGE
    try:
        return asyncio.run(_running(asked, first, match_id))
    except (GuestsUnreadable, HeadsUnreadable) as wrong:
        _say(wrong)
        return Exit.UNREADABLE
    except OSError as wrong:
        _say(f"{wrong.filename}: {wrong.strerror}")
        return Exit.UNREADABLE
    except NotFound as refused:
        _say(f"{match_id}: {said_of(refused, asked.words)}")
        return Exit.UNREADABLE
    except (Failed, RollbookError) as error:
        return _report_error(asked, error)


async def _running(
    asked: TerminalOptions, first: Callable[[Table, Profile], Screen[None]], match_id: str | None
) -> int:
    profile = Profile(name=asked.name)
    async with _table(asked, profile) as table:
        # A call before the first screen, so that a refusal ends the command instead of leaving an empty lobby.
        if match_id is not None:
            await table.match(match_id).state()
        else:
            await anext(table.matches(), None)
        return await _run_app(first(table, profile), asked.words, asked.preferences(profile))


async def _run_app(first: Screen[None], words: Words, preferences: Preferences) -> int:
    """Run the app and return its exit code; WRONG if it crashed, in which case Textual has printed the error."""
    app = Terminal(first, words, preferences)
    with leaving(app):
        code = await app.run_async()
    return Exit.WRONG if code is None else code


def _table(asked: TerminalOptions, profile: Profile) -> Table:
    return connect(
        asked.at.service,
        name=profile.name,
        token=asked.at.token,
        authorities=asked.at.authorities,
        keep=profile.guests,
        heads=asked.heads,
        code=asked.code,
    )


def _report_error(asked: TerminalOptions, error: Failed | RollbookError) -> int:
    match error:
        case Failed():
            _say(error.why)
            return error.code
        case Unreachable():
            _say(asked.words("no_service", address=asked.at.service))
        case _:
            _say(said_of(error, asked.words))
    return Exit.WRONG


def _say(said: object) -> None:
    print(said, file=sys.stderr)  # noqa: T201 - a command prints why it fails


def _on_a_terminal() -> bool:
    if sys.stdin.isatty() and sys.stdout.isatty():
        return True
    usage("this needs a terminal to draw on; `rollbook tail` and `rollbook show` print")
    return False
