"""The initial inputs of the fuzzer: `python -m tests.fuzz.seeds` writes them into the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from rollbook.replay_file import container
from rollbook.replay_file.kept_heads import WitnessedHead, write_heads
from rollbook.rules.catalogue import current
from rollbook.rules.game import Watcher
from tests.remaking import asked_folder
from tests.replays.replaying import KEYS, cut, recorded
from tests.replays.tournaments import NUMBERS, bundled, manifest, replays

CORPUS: Final = Path(__file__).parent / "corpus"
EVENTS: Final = 24
"""Enough events for every kind of move at the start of a match, and few enough for changes everywhere."""


def seeds() -> Iterator[tuple[str, str, bytes]]:
    """Yield target, name and bytes: the beginning of a match of every game, and one whole match."""
    for game in current():
        begun = cut(recorded(game, current()[game].seats[0]), EVENTS, Watcher.JUDGE)
        for eyes in (begun, replace(begun, perspective=Watcher.PUBLIC, private={})):
            name = f"{game}-{'judge' if eyes is begun else 'public'}"
            yield "file", name, container.write(eyes, KEYS.replays)
            yield "body", name, b"".join(container.body_parts(eyes))
    yield "bundle", "cup", bundled(manifest(), replays(*NUMBERS[:1]))
    yield "bundle", "empty", bundled(manifest([], {}), {})
    yield "manifest", "cup", manifest().encode()
    yield "manifest", "shared", manifest(shared_places='"full"', options="{ hasty = true }", points='["1/2"]').encode()
    yield "texts", "keys", KEYS.public.encode()
    yield "texts", "heads", write_heads([WitnessedHead("a", 1, bytes(32), "0" * 16, bytes(64))]).encode()
    yield "body", "whole", b"".join(container.body_parts(recorded("wuerfelzoo", 2)))


if __name__ == "__main__":
    folder = asked_folder(CORPUS)
    for target, name, data in seeds():
        (folder / target).mkdir(exist_ok=True)
        (folder / target / name).write_bytes(data)
