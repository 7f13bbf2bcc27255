"""What commands of `rollbook admin` have in common: their calls, lists of matches, and the end of a match."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from rollbook.cli.exits import Exit, Failed, usage
from rollbook.cli.service_options import ServiceOptions
from rollbook.v1.match_pb2 import ListMatchesRequest
from rollbook_clients.commands.operator_text import json_of, match_line, say_facts
from rollbook_clients.commands.service_calls import convert_error, say
from rollbook_clients.sdk import LogLost, Refused, RollbookError, connect
from rollbook_clients.sdk.operator import Operator

AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", negative="")]
Work: TypeAlias = Callable[[Operator], Awaitable[Exit]]


async def list_matches(operator: Operator, request: ListMatchesRequest, *, as_json: bool) -> Exit:
    """Print a page of matches."""
    found = await operator.matches(request)
    for summary in found.matches:
        print(json_of(summary) if as_json else match_line(summary))
    return say_next(found.next_page_token, as_json=as_json)


async def seal(operator: Operator, match: str, *, as_json: bool) -> Exit:
    """End a match, and print its last event."""
    answer = await operator.abort(match)
    say_facts({"match": match, "sealed_by_event": answer.made.last, "is_gone": answer.is_gone}, as_json=as_json)
    return Exit.GOOD


async def is_lost(operator: Operator, match_id: str) -> bool:
    """Whether the log of the match is lost."""
    try:
        await operator.match(match_id)
    except LogLost:
        return True
    except Refused as refused:
        if refused.reason == "LOG_LOST":
            return True
        raise
    return False


def say_next(token: str, *, as_json: bool) -> Exit:
    """Print the token of the next page, if there is one."""
    if token:
        print(json.dumps({"next_page": token}) if as_json else f"more: --page {token}")
    return Exit.GOOD


def run_as_operator(command: str, options: ServiceOptions, work: Work) -> Exit:
    """Run a command at a service and return its exit code; prints the reason of a failure on standard error."""
    if not options.token:
        return usage("ROLLBOOK_TOKEN or --token has to be an operator's; rollbook admin --help explains how to get one")

    async def run() -> Exit:
        async with connect(options.service, token=options.token, authorities=options.authorities) as table:
            return await work(Operator(table))

    try:
        return asyncio.run(run())
    except RollbookError as error:
        ended = convert_error(error)
    except Failed as failure:
        ended = failure
    say(f"admin {command}", ended.why)
    return ended.code
