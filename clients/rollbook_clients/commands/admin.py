"""`rollbook admin`: commands for the operator of a running service."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, TypeAlias

from cyclopts import App, Parameter

from rollbook.cli.exits import Exit, Failed, usage
from rollbook.cli.game_names import GameName
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions
from rollbook.v1.admin_pb2 import BanTarget
from rollbook.v1.match_pb2 import ListMatchesRequest, MatchState, MatchSummary
from rollbook_clients.commands.admin_measures import accept_loss, revoke_token
from rollbook_clients.commands.operator_acts import AsJson, is_lost, list_matches, run_as_operator, say_next, seal
from rollbook_clients.commands.operator_text import ban_line, json_of, match_line, match_lines, say_facts, state_lines
from rollbook_clients.commands.service_calls import say
from rollbook_clients.sdk.operator import Operator

admin = App(
    name="admin",
    help="""Manage a running service, with the token of an operator.

`rollbook token --key DATA/token.key --subject NAME --role operator` mints such a token; give it by ROLLBOOK_TOKEN. The
service logs every action with that subject. Lists come in pages: the last line names the next page. Exit code 1 if the
service refuses, 3 if no service answers or there is no such match or ban.

Examples:

    rollbook admin state
    rollbook admin matches --state running --limit 20
    rollbook admin lost
    rollbook admin abort MATCH
    rollbook admin abort --address 192.0.2.7 --yes
    rollbook admin ban --match MATCH --seat 1 --for 24h --why "insults"
    rollbook admin ban --address 192.0.2.0/24 --for 30m
    rollbook admin bans --json
    rollbook admin lift BAN
    rollbook admin revoke-token JTI
    rollbook admin accept-loss
""",
    help_format="markdown",
    default_parameter=Parameter(show_default=False),
)

StateName: TypeAlias = Literal["open", "getting_ready", "running", "finished", "aborted"]

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


admin.command(revoke_token, name="revoke-token")
admin.command(accept_loss, name="accept-loss")


@admin.command
def matches(  # noqa: PLR0913 - every flag is a parameter
    *,
    state: StateName | None = None,
    game: GameName = "",
    player: str = "",
    limit: int = 50,
    page: str = "",
    as_json: AsJson = False,
    at: ServiceOptions = LOCAL_SERVICE,
) -> int:
    """List matches, private ones too, the newest first.

    Example: `rollbook admin matches --state running --limit 20`

    Parameters
    ----------
    state
        Only those in this state.
    game
        Only those of this game, by id or title.
    player
        Only those in which a seat has exactly this display name.
    limit
        At most this many, 1 to 200. Default: 50.
    page
        The page to show, as named by the page before it.
    as_json
        One JSON object a line, as the contract has it; the last names the page behind.
    """
    number = MatchState.Value(f"MATCH_STATE_{state.upper()}") if state else MatchState.Value("MATCH_STATE_UNSPECIFIED")
    request = ListMatchesRequest(game=game, player=player, state=number, page_size=limit, page_token=page)
    return run_as_operator("matches", at, lambda operator: list_matches(operator, request, as_json=as_json))


@admin.command
def lost(*, limit: int = 50, page: str = "", as_json: AsJson = False, at: ServiceOptions = LOCAL_SERVICE) -> int:
    """List matches whose log is lost, or was lost and is sealed as such.

    Matches that wait for `rollbook admin drop` or `accept-loss` are marked `LOST`. The service searches all matches, so
    a page can have fewer rows than asked for, or none, although more pages follow.

    Example: `rollbook admin lost`

    Parameters
    ----------
    limit
        At most this many, 1 to 200. Default: 50.
    page
        The page to show, as named by the page before it.
    as_json
        One JSON object a line; the last names the page behind.
    """
    request = ListMatchesRequest(lost=True, page_size=limit, page_token=page)

    async def work(operator: Operator) -> Exit:
        for match_id in (await operator.state()).lacking if not page else ():
            summary = MatchSummary(match_id=match_id, is_lost=True)
            print(json_of(summary) if as_json else f"LOST  {match_id}  lacks acknowledged events, see accept-loss")
        return await list_matches(operator, request, as_json=as_json)

    return run_as_operator("lost", at, work)


@admin.command
def show(match: str, *, as_json: AsJson = False, at: ServiceOptions = LOCAL_SERVICE) -> int:
    """Show the current state of a match: game, state, seats, clocks, position.

    Example: `rollbook admin show MATCH`

    Parameters
    ----------
    match
        The id of the match.
    as_json
        One JSON object, as the contract has it.
    """

    async def work(operator: Operator) -> Exit:
        found = await operator.match(match)
        print(json_of(found) if as_json else match_lines(found))
        return Exit.GOOD

    return run_as_operator("show", at, work)


@admin.command
def abort(  # noqa: PLR0913 - every flag is a parameter
    match: str = "",
    *,
    opened_by: str = "",
    issuer: str = "",
    address: str = "",
    yes: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
    at: ServiceOptions = LOCAL_SERVICE,
) -> int:
    """End a match without a result, or all matches that a subject or an address opened: sealed as `by_operator`.

    Several matches are listed first, and end only with --yes.

    Example: `rollbook admin abort --opened-by guest-abc --yes`

    Parameters
    ----------
    match
        The id of the match.
    opened_by
        In place of a match: the `sub` of the tokens of a subject, whose open and running matches end.
    issuer
        With --opened-by: the issuer of the tokens. Default: the service itself.
    address
        In place of a match: an address; an IPv6 address means its /64.
    yes
        End the listed matches.
    as_json
        One JSON object a line.
    """
    target = BanTarget()
    if opened_by:
        target.subject.sub, target.subject.issuer = opened_by, issuer
    elif address:
        target.address = address
    if [bool(match), bool(opened_by), bool(address)].count(True) != 1 or (issuer and not opened_by):
        return usage("name one: MATCH, --opened-by or --address; rollbook admin abort --help explains it")

    async def work(operator: Operator) -> Exit:
        if match:
            return await seal(operator, match, as_json=as_json)
        found = await operator.opened_by(target)
        for summary in found:
            if not yes:
                print(json_of(summary) if as_json else match_line(summary))
                continue
            await seal(operator, summary.match_id, as_json=as_json)
        if found and not yes:
            say("admin abort", f"nothing has ended yet: --yes ends these {len(found)} matches")
        return Exit.GOOD

    return run_as_operator("abort", at, work)


@admin.command
def drop(match: str, *, as_json: AsJson = False, at: ServiceOptions = LOCAL_SERVICE) -> int:
    """End a match whose log is lost: what is left of it is sealed; if nothing is left, it is removed from the lobby.

    A match whose log is whole is refused: `rollbook admin abort` ends it. `rollbook admin lost` lists them.

    Example: `rollbook admin drop MATCH`

    Parameters
    ----------
    match
        The id of the match.
    as_json
        One JSON object.
    """

    async def work(operator: Operator) -> Exit:
        if not await is_lost(operator, match):
            raise Failed(Exit.WRONG, f"the log of {match} is whole: `rollbook admin abort {match}` ends it")
        return await seal(operator, match, as_json=as_json)

    return run_as_operator("drop", at, work)


@admin.command
def bans(*, limit: int = 50, page: str = "", as_json: AsJson = False, at: ServiceOptions = LOCAL_SERVICE) -> int:
    """List who is banned now, until when, by whom and why; the bans that end first come first.

    Example: `rollbook admin bans`

    Parameters
    ----------
    limit
        At most this many, 1 to 200. Default: 50.
    page
        The page to show, as named by the page before it.
    as_json
        One JSON object a line; the last names the page behind.
    """

    async def work(operator: Operator) -> Exit:
        found = await operator.bans(limit, page)
        for each in found.bans:
            print(json_of(each) if as_json else ban_line(each))
        return say_next(found.next_page_token, as_json=as_json)

    return run_as_operator("bans", at, work)


@admin.command
def ban(  # noqa: PLR0913 - every flag is a parameter
    *,
    subject: str = "",
    issuer: str = "",
    address: str = "",
    match: str = "",
    seat: int | None = None,
    duration: Annotated[str, Parameter(name="--for")],
    why: str = "",
    as_json: AsJson = False,
    at: ServiceOptions = LOCAL_SERVICE,
) -> int:
    """Ban a subject, an address, or the player of a seat for a time, in every process within two seconds.

    Their calls are refused as BANNED, with the time when the ban ends. A ban of an address spares operators. A guest
    can sign in again as another guest; only a ban of the address prevents that, for all users there. A ban of a
    proxy's address bans all users behind it: see `rollbook serve --trust-proxy`.

    Example: `rollbook admin ban --match MATCH --seat 1 --for 24h --why "insults"`

    Parameters
    ----------
    subject
        The `sub` of the tokens to ban.
    issuer
        Their issuer. Default: the service itself.
    address
        An IPv4 address or a network from /8, or an IPv6 network from /32 to /64. An IPv6 address means its /64.
    match
        With --seat: ban the player of that seat.
    seat
        The seat, from 0.
    duration
        For how long: a number and s, m, h or d.
    why
        A note for other operators; it stays in the store until the time is over.
    as_json
        One JSON object.
    """
    seconds = _seconds(duration)
    if seconds is None:
        return usage("--for takes a number and s, m, h or d, such as 30m; rollbook admin ban --help explains it")
    target = BanTarget()
    if subject:
        target.subject.sub, target.subject.issuer = subject, issuer
    elif address:
        target.address = address
    elif match and seat is not None:
        target.seat.match_id, target.seat.seat = match, seat
    if [bool(subject), bool(address), bool(match) and seat is not None].count(True) != 1 or (issuer and not subject):
        return usage("name one: --subject, --address, or --match with --seat; rollbook admin ban --help explains it")

    async def work(operator: Operator) -> Exit:
        made = await operator.ban(target, seconds, why)
        print(json_of(made) if as_json else ban_line(made))
        return Exit.GOOD

    return run_as_operator("ban", at, work)


@admin.command
def lift(ban_id: str, *, as_json: AsJson = False, at: ServiceOptions = LOCAL_SERVICE) -> int:
    """Lift a ban before it ends, in every process within two seconds.

    Example: `rollbook admin lift 9f2c4e0a1b3d5f70`

    Parameters
    ----------
    ban_id
        As `rollbook admin bans` lists it.
    as_json
        One JSON object.
    """

    async def work(operator: Operator) -> Exit:
        if not await operator.lift(ban_id):
            raise Failed(Exit.UNREADABLE, f"no ban {ban_id} is in force; `rollbook admin bans` lists them")
        say_facts({"ban": ban_id, "lifted": True}, as_json=as_json)
        return Exit.GOOD

    return run_as_operator("lift", at, work)


@admin.command
def state(*, as_json: AsJson = False, at: ServiceOptions = LOCAL_SERVICE) -> int:
    """Show the state of the service: the process that answers, its store and archive, and matches by state.

    Exit code 2 if the store or the archive is not well.

    Example: `rollbook admin state --json`

    Parameters
    ----------
    as_json
        One JSON object, with the limits in force.
    """

    async def work(operator: Operator) -> Exit:
        found = await operator.state()
        print(json_of(found) if as_json else "\n".join(state_lines(found)))
        return Exit.GOOD if found.store_is_up and found.archive_is_up else Exit.UNVERIFIED

    return run_as_operator("state", at, work)


@admin.command
def limits(*, as_json: AsJson = False, at: ServiceOptions = LOCAL_SERVICE) -> int:
    """List the limits in force, and whether they are counted in each process or in the store for all.

    Example: `rollbook admin limits`

    Parameters
    ----------
    as_json
        One JSON object a line.
    """

    async def work(operator: Operator) -> Exit:
        for limit in (await operator.state()).limits:
            counted = "all together " if limit.is_shared else "each process"
            print(json_of(limit) if as_json else f"{limit.key:<35}{limit.value:>10}  {counted}  {limit.about}")
        return Exit.GOOD

    return run_as_operator("limits", at, work)


def _seconds(text: str) -> int | None:
    """Parse a time span into seconds; None if it is malformed.

    >>> _seconds("30m"), _seconds("1 day")
    (1800, None)
    """
    found = re.fullmatch(r"([0-9]{1,9})([smhd])", text)
    return int(found[1]) * _UNITS[found[2]] if found and int(found[1]) else None
