"""Removes files in an embedded store's folder that no start reads: leftovers of a rewrite or a crash."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rollbook.storage.append_only import MANIFESTS, named_files

_PATTERNS: Final = ("temp-*", "appendonlydir/*")
"""The files of a server; a start reads only those that the manifest names."""


def store_files(store: Path) -> set[Path]:
    """All files that may be strays."""
    return {path for pattern in _PATTERNS for path in store.glob(pattern)}


def remove_strays(store: Path, older: Iterable[Path]) -> None:
    """Remove the files, all `older` than the last rewrite, that no manifest names: no process writes them."""
    manifest = next(iter(store.glob(MANIFESTS)), None)
    needed = set() if manifest is None else {manifest, *_needed_files(manifest)}
    for path in set(older) - needed:
        path.unlink(missing_ok=True)


def _needed_files(manifest: Path) -> Iterable[Path]:
    return (manifest.parent / name for name in named_files(manifest.read_bytes()))
