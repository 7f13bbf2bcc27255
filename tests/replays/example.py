"""The example in `replays/FORMAT.md`: `python -m tests.replays.example` writes it.

A match of Can't Stop that an operator ended after its first throw; one of its seats brought entropy.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from rollbook.match.commands import Abort
from rollbook.match.decide import decide
from rollbook.match.events import Sealed, Terms
from rollbook.replay_file.container import Replay, write
from rollbook.replay_file.recording import Keys
from tests.match.played import Played
from tests.remaking import asked_folder
from tests.replays.forging import replay_of

PAGE = Path(__file__).parents[2] / "replays" / "FORMAT.md"
KEYS = Keys.of(7)
BYTES_A_LINE = 32


def example() -> Replay:
    """Return the match."""
    played = Played(terms=Terms(), entropy=bytes(range(16))).start()
    decision = decide(played.ledger, Abort(played.by()))
    assert isinstance(decision.entries[-1].event, Sealed)
    played.append(decision)
    return replace(replay_of(played, KEYS), names=("Anna", "Tom"))


def shown() -> tuple[str, bytes]:
    """Return the public keys and the file that the page shows."""
    text = PAGE.read_text(encoding="utf-8")
    keys, data = re.findall(r"```\n(.*?)```", text[text.index("## An example") :], re.DOTALL)
    return keys, bytes.fromhex(data)


def remake(folder: Path) -> None:
    """Write the example into the page, or into its copy in another folder."""
    replay = example()
    data = write(replay, KEYS.replays)
    lines = "\n".join(data[at : at + BYTES_A_LINE].hex() for at in range(0, len(data), BYTES_A_LINE))
    text = PAGE.read_text(encoding="utf-8")
    section = f"""## An example

A match of Can't Stop between Anna and Tom, who both brought entropy; an operator ended it after the first throw.
{len(replay.events)} events, {len(data)} bytes. The public keys, the head key first:

```
{KEYS.public}```

The file:

```
{lines}
```
"""
    (folder / PAGE.name).write_text(text[: text.index("## An example")] + section, encoding="utf-8")


if __name__ == "__main__":
    remake(asked_folder(PAGE.parent))
