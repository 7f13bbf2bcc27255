"""The judge's page: upload files, folders and bundles, and get an audit verdict on each.

Uploaded files are untrusted, so separate processes with limited memory and time audit them, one upload after another.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response

from rollbook.replay_file.container import NotAReplay
from rollbook.replay_file.key_lines import KnownKeys, read_keys
from rollbook_clients.sdk.keys import PublishedKeys
from rollbook_clients.web.replay_pages import film_of
from rollbook_clients.web.visit import Visit
from rollbook_replays.audit.sources import BundleFile, Source, everything
from rollbook_replays.audit.verdicts import Audited, Verdict
from rollbook_replays.audit.workers import Crew
from rollbook_replays.dice_statistics import DiceCount
from rollbook_replays.tournament import judgement
from rollbook_replays.tournament.bundle import NotABundle, open_bundle

MOST_FILES: Final = 2_000
AT_ONCE: Final = asyncio.Semaphore(1)


async def form(visit: Visit) -> Response:
    """The upload form."""
    return visit.show("judge.html", lot=None)


async def judge(visit: Visit) -> Response:
    """The verdict on each file, checked with the service's published keys and an uploaded key file."""
    with visit.hold("uploads"):
        given = await visit.form(MOST_FILES)
        uploads = [each for name in ("files", "folder") for each in given.getlist(name)]
        files = [each for each in uploads if isinstance(each, UploadFile) and each.filename]
        if not files:
            raise HTTPException(400, "error.file")
        keys = dict(await PublishedKeys(visit.page.connection).all())
        brought = given.get("keys")
        if isinstance(brought, UploadFile) and brought.filename:
            keys |= _keys(await brought.read())
        with tempfile.TemporaryDirectory() as folder:
            for number, file in enumerate(files):
                await asyncio.to_thread(
                    _upload_path(Path(folder), number, str(file.filename)).write_bytes, await file.read()
                )
            names = [str(file.filename) for file in files]
            async with AT_ONCE:
                lot = await asyncio.to_thread(_judge_files, Path(folder), names, keys)
    return visit.show("judge.html", lot=lot)


def _keys(data: bytes) -> KnownKeys:
    try:
        return read_keys(data.decode("utf-8-sig"))
    except ValueError:
        raise HTTPException(400, "error.keys") from None


def _upload_path(folder: Path, number: int, name: str) -> Path:
    """The path of an upload in the temporary folder; only the suffix of its untrusted name is used."""
    ending = next((end for end in (".rollbook.gz", ".rollbook", ".zip") if name.endswith(end)), "")
    return folder / f"{number:05}{ending}"


def _judge_files(folder: Path, names: Sequence[str], keys: KnownKeys) -> dict[str, Any]:
    """The verdicts on all files in a folder, in the order of the upload."""
    rows: list[dict[str, Any]] = []
    bundles: list[dict[str, Any]] = []
    dice = DiceCount()

    def report_progress(source: Source, audited: Audited, name: str) -> Audited:
        rows.append(_row(name, audited, source))
        dice.add(audited)
        return audited

    with Crew(keys, (), 1) as crew:
        for each in everything(sorted(folder.iterdir())):
            name = names[int(each.path.name[:5])]
            if not isinstance(each, BundleFile):
                for source, audited in crew.audit([each]):
                    report_progress(source, audited, name)
                continue
            try:
                bundle = open_bundle(each.path)
            except NotABundle as wrong:
                rows.append(_row(name, Audited(Verdict.UNREADABLE, unreadable=str(wrong)), None))
                continue
            told = [
                report_progress(source, audited, f"{name}: {source.name}")
                for source, audited in crew.audit(bundle.sources)
            ]
            bundles.append({"name": name, **judgement.judge(bundle, told, keys).facts()})
    return {"rows": rows, "bundles": bundles, "dice": dice.statistics()}


def _row(name: str, audited: Audited, source: Source | None) -> dict[str, Any]:
    found = audited.divergence
    event = None if found is None else found.event
    return {
        "file": name,
        "match_id": audited.match_id or "",
        "verdict": audited.verdict.name.lower(),
        "found": audited.unreadable if found is None else f"{found.check}: {found.expected} / {found.found}",
        "event": event,
        "link": _replay_address(source, event),
        "missing": [str(each) for each in audited.missing],
    }


def _replay_address(source: Source | None, event: int | None) -> str:
    """The address of the event's replay; empty if there is no event or the file cannot be played."""
    if source is None or event is None or isinstance(source, BundleFile):
        return ""
    try:
        key, film = film_of(source.read())
    except (HTTPException, NotAReplay, OSError):
        return ""
    return f"/replays/{key}?at={min(event, len(film))}"


ROUTES: Final = (("GET", "/judge", form), ("POST", "/judge", judge))
