"""An archive in an S3-compatible store, one object a match; needs the extra `s3`.

Credentials, region and endpoint come from the environment, as every S3 client takes them (AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL …), so that no secret stands on a command line. A put is whole or
not at all, and durable when it is answered.

obstore's synchronous calls are used, on threads: on Python 3.11 its asynchronous ones now and then abort the process at
its exit, from a thread of their runtime.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from rollbook.replay_file.container import LARGEST_FILE
from rollbook.storage.archive.port import LONGEST_MARK, MARK_NAME, ArchiveUnavailable, file_name, match_of

_CONNECT_TIME: Final = timedelta(seconds=3)
_ANSWER_TIME: Final = timedelta(seconds=20)
_RETRY_TIME: Final = timedelta(seconds=10)
_MOST_RETRIES: Final = 3

T = TypeVar("T")


class S3Archive:
    """Keeps every match in an object of its own."""

    def __init__(self, url: str) -> None:
        """Use this bucket and prefix (s3://bucket/prefix); whether it answers shows at the first call."""
        self._url = url
        # Plain HTTP is for a store on this machine, or behind something that does TLS; the endpoint says so itself.
        plain = urlsplit(os.environ.get("AWS_ENDPOINT_URL", "")).scheme == "http"
        try:
            self._store: Any = S3Store.from_url(
                url,
                client_options={"allow_http": plain, "connect_timeout": _CONNECT_TIME, "timeout": _ANSWER_TIME},
                retry_config={"max_retries": _MOST_RETRIES, "retry_timeout": _RETRY_TIME},
            )
        except (BaseError, ValueError) as failure:
            raise ArchiveUnavailable(f"the archive {url} cannot be used: {_first_line(failure)}") from failure

    @property
    def where(self) -> str:
        """The bucket and the prefix."""
        return self._url

    async def put(self, match_id: str, data: bytes) -> None:
        """Keep the file of a match in place of one that is there."""
        name = file_name(match_id)
        await self._do("written", lambda: obstore.put(self._store, name, data, use_multipart=False))

    async def get(self, match_id: str) -> bytes | None:
        """The file of a match; none if there is none."""
        return await self._do("read", lambda: self._get(file_name(match_id)))

    async def versions(self) -> dict[str, str]:
        """By match id all files that there are."""

        def look() -> dict[str, str]:
            return {
                match_id: str(file["e_tag"])
                for page in obstore.list(self._store)
                for file in page
                if (match_id := match_of(file["path"])) is not None
            }

        return await self._do("read", look)

    async def drafts(self) -> frozenset[str]:
        """None: a file is there when it is whole."""
        return frozenset()

    async def drop(self, drafts: frozenset[str]) -> None:
        """Nothing to do."""

    async def mark(self, claim: str = "") -> str:
        """The mark of this archive: the one that is claimed, if it had none."""

        def settle() -> str:
            found = self._get(MARK_NAME)
            if found is None and claim:
                with contextlib.suppress(AlreadyExistsError):
                    obstore.put(self._store, MARK_NAME, claim.encode(), mode="create", use_multipart=False)
                found = self._get(MARK_NAME)
            return "" if found is None else found[:LONGEST_MARK].decode("ascii", "replace").strip()

        return await self._do("read", settle)

    def _get(self, name: str) -> bytes | None:
        try:
            found = obstore.get(self._store, name)
        except FileNotFoundError:
            return None
        if found.meta["size"] > LARGEST_FILE:
            raise ArchiveUnavailable(f"{name} in the archive {self._url} is larger than any replay file")
        return bytes(found.bytes())

    async def _do(self, what: str, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except BaseError as failure:
            raise ArchiveUnavailable(f"the archive {self._url} cannot be {what}: {_first_line(failure)}") from failure


def _first_line(failure: Exception) -> str:
    """What went wrong, without the pages that follow it."""
    return str(failure).partition("\n")[0]
