"""Files in the folder of a store of our own that no start reads: what a rewrite replaced, or a crash left of one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rollbook.storage.append_only import MANIFESTS, named_files

_PATTERNS: Final = ("temp-*", "appendonlydir/*")
"""Where a server has files of which it reads only those that the manifest names."""


def store_files(store: Path) -> set[Path]:
    """All files there are that may be strays."""
    return {path for pattern in _PATTERNS for path in store.glob(pattern)}


def remove_strays(store: Path, older: Iterable[Path]) -> None:
    """Remove what no manifest names of the files that were there before the last rewrite: nobody writes them now."""
    manifest = next(iter(store.glob(MANIFESTS)), None)
    needed = set() if manifest is None else {manifest, *_needed(manifest)}
    for path in set(older) - needed:
        path.unlink(missing_ok=True)


def _needed(manifest: Path) -> Iterable[Path]:
    return (manifest.parent / name for name in named_files(manifest.read_bytes()))
