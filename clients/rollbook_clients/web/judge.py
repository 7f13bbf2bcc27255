"""The judge's page: files are dropped, and the service's own audit says what each is worth."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response

from rollbook.replay_file.container import NotAReplay, read
from rollbook_clients.sdk.keys import PublishedKeys
from rollbook_clients.web.visit import Visit
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Audited

MOST_FILES: Final = 50
AT_ONCE: Final = asyncio.Semaphore(1)


async def form(visit: Visit) -> Response:
    """Where files are dropped."""
    return visit.show("judge.html", rows=None)


async def judge(visit: Visit) -> Response:
    """The verdict on each file, by the keys that the service publishes."""
    given = (await visit.form()).getlist("files")
    uploads = [each for each in given if isinstance(each, UploadFile) and each.filename]
    if not uploads or len(uploads) > MOST_FILES:
        raise HTTPException(400, "error.file")
    keys = await PublishedKeys(visit.page.connection).all()
    rows: list[dict[str, Any]] = []
    for upload in uploads:
        data = await upload.read()
        async with AT_ONCE:
            audited = await asyncio.to_thread(audit, data, keys, [])
        rows.append(_row(str(upload.filename), data, audited))
    return visit.show("judge.html", rows=rows)


def _row(name: str, data: bytes, audited: Audited) -> dict[str, Any]:
    try:
        match_id = read(data).replay.match_id
    except NotAReplay:
        match_id = ""
    found = audited.divergence
    return {
        "file": name,
        "match_id": match_id,
        "verdict": audited.verdict.name.lower(),
        "found": "" if found is None else f"{found.check}: {found.expected} / {found.found}",
        "event": None if found is None else found.event,
        "missing": [str(each) for each in audited.missing],
    }


ROUTES: Final = (("GET", "/judge", form), ("POST", "/judge", judge))
