"""An archive in an S3-compatible store, one object a match; needs the extra `s3`.

Credentials, region and endpoint come from the environment variables of every S3 client (AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL …), so that no command line contains a secret. A put is whole or not
at all, and durable when it is answered.

The adapter runs obstore's synchronous calls on threads: on Python 3.11 the asynchronous ones now and then abort the
process at its exit, from a thread of their runtime.
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
    """Keeps every match in its own object."""

    def __init__(self, url: str) -> None:
        """Use this bucket and prefix (s3://bucket/prefix); an unreachable store shows only at the first call."""
        self._url = url
        # Plain HTTP, for a store on this machine or behind a TLS proxy, is allowed if the endpoint's URL has it.
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
        """Write the file of a match, replacing an existing one."""
        name = file_name(match_id)
        await self._do("written", lambda: obstore.put(self._store, name, data, use_multipart=False))

    async def get(self, match_id: str) -> bytes | None:
        """The file of a match; None if there is none."""
        return await self._do("read", lambda: self._get(file_name(match_id)))

    async def versions(self) -> dict[str, str]:
        """The version of every file, by match id."""

        def look() -> dict[str, str]:
            return {
                match_id: str(file["e_tag"])
                for page in obstore.list(self._store)
                for file in page
                if (match_id := match_of(file["path"])) is not None
            }

        return await self._do("read", look)

    async def drafts(self) -> frozenset[str]:
        """Always empty: an object exists only once it is complete."""
        return frozenset()

    async def drop(self, drafts: frozenset[str]) -> None:
        """Does nothing: there are no drafts."""

    async def mark(self, claim: str = "") -> str:
        """The mark of this archive; an archive without one gets `claim`."""

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
    """The first line of the message, without the pages of detail after it."""
    return str(failure).partition("\n")[0]
