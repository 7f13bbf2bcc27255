"""The stream of a browser: changes of the lobby and of matches, for all its tabs."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import Response

from rollbook.rules.catalogue import current
from rollbook_clients.web.admission import follow_match
from rollbook_clients.web.changes import ChangingPart
from rollbook_clients.web.followed import FollowedMatch
from rollbook_clients.web.lobby_pages import part_of
from rollbook_clients.web.scenes import scene
from rollbook_clients.web.streams import BEAT_SECONDS, EventStream, Source, beat, message
from rollbook_clients.web.visit import Page, Visit, wrong
from rollbook_clients.web.words import LANGUAGES, words_in
from rollbook_replays.games.words import Words

MOST_TOPICS: Final = 10
"""Two lists of the lobby and 8 matches; static/hub.js asks for no more."""

TOPIC: Final = re.compile(
    r"(?P<name>(?:lobby(?:\.(?P<game>[a-z_]{0,40}))?(?P<people>\.people)?"
    r"|(?P<match_id>[a-z2-7]{24})(?:\.(?P<eyes>[a-z0-9-]{1,10}))?)(?::(?P<language>[a-z]{2}))?)~(?P<at>[0-9a-f.]{0,40})"
)
"""The name of a topic, and the state of it that the browser shows: `lobby.GAME.people~STATE`, `MATCH~STATE`, and
`MATCH.EYES~STATE`. A name with `:LANGUAGE` is sent in the language of its tab instead of that of the request, as the
tabs of a browser share one stream."""


async def stream(visit: Visit) -> Response:
    """The topics of the query, each sent whole or as changes since the state that the browser shows."""
    topics = [TOPIC.fullmatch(topic) for topic in visit.request.query_params.getlist("topic")]
    if not 1 <= len(topics) <= MOST_TOPICS:
        raise HTTPException(400, "error.no_page")
    sources: list[Source] = []
    for topic in topics:
        if topic is None:
            raise HTTPException(400, "error.no_page")
        name, match_id, eyes, at = topic.group("name", "match_id", "eyes", "at")
        viewer = replace(visit, words=words_in(topic["language"])) if topic["language"] in LANGUAGES else visit
        if match_id is None:
            game, people_only = topic["game"] or "", topic["people"] is not None
            if game and game not in current():
                raise HTTPException(400, "error.no_page")
            follow = partial(_lobby, viewer, game, at, people_only=people_only)
        else:
            follow = partial(_match, viewer, match_id, eyes or "", at)
        sources.append(partial(_topic, name, follow))
    return EventStream(sources, visit.hold("streams"))  # type: ignore[return-value]  # an ASGI application, as responses are


async def _topic(name: str, follow: Source) -> AsyncIterator[bytes]:
    """The messages of a topic with its name; an error becomes a message with its status code."""
    status = 503
    try:
        async with aclosing(follow()) as bodies:  # type: ignore[type-var]  # they are generators
            async for body in bodies:
                yield message(name, body) if body else beat()
                status = 0 if body == END else 503
    except Exception as error:  # noqa: BLE001 - the other topics of this stream go on
        status, _ = wrong(error)
    if status:
        yield message(name, json.dumps({"status": status}).encode())


END: Final = b'{"end":true}'


async def _match(visit: Visit, match_id: str, eyes: str, at: str) -> AsyncIterator[bytes]:
    async with follow_match(visit, match_id, eyes, is_stream=True) as tail:
        while True:
            changed = tail.changed
            part = table_part(visit.page, visit.words, tail)
            for body in part.after(at) or [b""]:
                yield body
            at = part.at
            has_ended = tail.has_ended and not tail.may_be_asked
            if has_ended:
                yield END
            if has_ended or (tail.is_over and not tail.has_ended):
                # If the match failed rather than ended, the browser connects again.
                return
            await changed.wait()


def table_part(page: Page, words: Words, tail: FollowedMatch) -> ChangingPart:
    """The table of a match in this language, rendered once for all who see the same."""
    part = tail.parts.get(words.language)
    if part is None:

        def render() -> str:
            return page.render(
                "_table.html", words, scene=scene(tail, words), form_token="", request_id="", is_whole=False
            )

        part = tail.parts[words.language] = ChangingPart(render)
    part.update(tail.version)
    return part


async def _lobby(visit: Visit, game: str, at: str, *, people_only: bool) -> AsyncIterator[bytes]:
    live = await visit.page.watch_tables()
    async with live.viewing():
        while True:
            changed = live.changed
            part = part_of(visit.page, visit.words, live, game, people_only=people_only)
            for body in part.after(at) or [b""]:
                yield body
            at = part.at
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    await changed.wait()
            except TimeoutError:
                continue


ROUTES: Final = (("GET", "/stream", stream),)
