"""`rollbook show`: prints a match as text."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Annotated

from cyclopts import Parameter

from rollbook.cli.exits import Exit, Failed, usage
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions
from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.notation import write
from rollbook.match.fold import Misplaced
from rollbook.replay_file.container import NotAReplay, read
from rollbook.rules.game import Perspective, Watcher
from rollbook.rules.refusals import RefusedByRules
from rollbook_clients.commands.match_source import replay_of
from rollbook_replays.audit.divergence import shorten_text
from rollbook_replays.games import presentation
from rollbook_replays.history import Broken, Look, NotToBeSeen, look
from rollbook_replays.narration import draw_board, tell
from rollbook_replays.text import STRONG, Text, plain, printable


def show(  # noqa: PLR0913 - every flag is a parameter
    source: str,
    *,
    at: int | None = None,
    seat: int | None = None,
    public: Annotated[bool, Parameter(negative="")] = False,
    in_words: Annotated[bool, Parameter(name="--words", negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    pager: bool = True,
    service: ServiceOptions = LOCAL_SERVICE,
) -> int:
    """Narrate a match: who did what, and the board at the end.

    Give a replay file, the id of a match at the service, or an invitation. You are the guest that `rollbook play` made
    on this computer, or the owner of --token; a running match is shown as you may see it.

    On a terminal the text has colours (unless NO_COLOR is set) and is shown by the program in PAGER; in a pipe it is
    plain text. Nothing is checked: `rollbook audit` does that, with a file.

    Exit code 1 if the events are not a match or the service refuses, 3 if there is no such file or match, it does not
    contain what was asked for, or no service answers.

    Example: `rollbook show MATCH.rollbook --at 20 --seat 1`

    Parameters
    ----------
    source
        A replay file (`.rollbook`), the id of a match, or an invitation: HOST:PORT/MATCH or HOST:PORT/MATCH/CODE.
    at
        The board after this event, instead of the text.
    seat
        What this seat saw, from 0: hidden cards of others stay hidden.
    public
        What the public saw.
    in_words
        The board in words instead of a drawing: complete, and made to be read aloud.
    as_json
        The plain form, a JSON object a line, which `rollbook check` reads.
    pager
        Whether to use the pager on a terminal. Default: yes.
    """
    if public and seat is not None:
        return usage("--seat and --public are two perspectives; name one")
    if as_json and at is not None:
        return usage("--at draws a board, and --json is the whole match; name one")
    terminal = sys.stdout.isatty() and not as_json
    try:
        stored = read(replay_of(source, service))
        seen = look(stored.replay, Watcher.PUBLIC if public else seat)
        text = (
            "".join(write(seen.header, seen.events))
            if as_json
            else _write(seen, at, in_colour=terminal, in_words=in_words)
        )
    except Failed as failed:
        return _refuse(failed.code, failed.why)
    except (Broken, Misplaced, RefusedByRules) as wrong:
        return _refuse(Exit.WRONG, f"{source}: {shorten_text(str(wrong))}; `rollbook audit` explains more")
    except (NotAReplay, Unreadable, NotToBeSeen) as wrong:
        return _refuse(Exit.UNREADABLE, f"{source}: {shorten_text(str(wrong))}")
    if not (terminal and pager and _page_text(text)):
        # The plain form is UTF-8 on every machine.
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    return Exit.GOOD


def _write(seen: Look, at: int | None, *, in_colour: bool, in_words: bool) -> str:
    lines = _tell_events(seen, at, in_words=in_words)
    if not in_colour or os.environ.get("NO_COLOR"):
        return plain(lines)
    # Imported only for coloured output.
    from rollbook_replays.renderers import colour_lines  # noqa: PLC0415

    return colour_lines(lines, presentation(seen.header.game.name).palette)


def _tell_events(seen: Look, at: int | None, *, in_words: bool) -> Iterator[Text]:
    if at is not None:
        match = seen.at(at)
        yield Text.of((f"After event {at} of {seen.count}, as {_whose(seen.perspective)} it", STRONG))
        yield Text()
        yield from draw_board(match, seen.perspective, in_words=in_words)
        return
    if seen.perspective is not Watcher.JUDGE:
        yield Text.of(f"As {_whose(seen.perspective)} it:")
        yield Text()
    yield from tell(seen.header, seen.events, house=seen.house)
    yield Text()
    if not seen.is_over:
        yield Text.of(f"The match was running: the file ends with event {seen.count}.")
        yield Text()
    try:
        yield from draw_board(seen.at(seen.count), seen.perspective, in_words=in_words)
    except NotToBeSeen as hidden:
        yield Text.of(f"No board: {hidden}.")


def _whose(perspective: Perspective) -> str:
    if isinstance(perspective, int):
        return f"seat {perspective} saw"
    return "everybody saw" if perspective is Watcher.PUBLIC else "a judge sees"


def _page_text(text: str) -> bool:
    """Show a text in the pager; returns False if there is no pager."""
    words = shlex.split(os.environ.get("PAGER", "less"))
    if not words or shutil.which(words[0]) is None:
        return False
    # Like git: less ends at once if the text fits on the screen, and displays colours.
    subprocess.run(words, input=text.encode(), env={"LESS": "FRX", **os.environ}, check=False)  # noqa: S603 - the user's own pager
    return True


def _refuse(code: Exit, why: str) -> Exit:
    print(printable(why), file=sys.stderr)
    return code
