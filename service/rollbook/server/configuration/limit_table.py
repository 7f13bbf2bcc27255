"""The limits of a service and their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from rollbook.server.configuration.table import About, settings_of


@dataclass(frozen=True, slots=True)
class Limits:
    """The table of all limits of a service. A new line adds a variable and a key of a file."""

    matches: Annotated[int, About("Open and running matches, in all.", least=0, scope="store")] = 10_000
    matches_per_subject: Annotated[int, About("Open and running matches that one subject opened.", scope="store")] = 50
    matches_per_address: Annotated[
        int, About("Open and running matches that one address opened, by all its subjects together.", scope="store")
    ] = 300
    open_matches_per_subject: Annotated[
        int, About("Matches of matches_per_subject that have free seats.", scope="store")
    ] = 5
    open_matches_per_address: Annotated[
        int, About("Matches of matches_per_address that have free seats.", scope="store")
    ] = 40
    seats_per_subject: Annotated[int, About("Seats of one subject in matches that are not over.", scope="store")] = 100
    waiting_seats_per_subject: Annotated[
        int, About("Seats of one subject in matches that have not started.", scope="store")
    ] = 10
    waiting_seats_per_address: Annotated[
        int, About("Seats of all subjects of one address in matches that have not started.", scope="store")
    ] = 400
    house_seats: Annotated[
        int, About("Seats of bots (AddBot) in matches that are not over; 0: no bots.", least=0, scope="store")
    ] = 200
    house_seats_per_subject: Annotated[int, About("Seats of bots that one subject added.", scope="store")] = 8
    house_seats_per_address: Annotated[
        int, About("Seats of bots that one address added, by all its subjects together.", scope="store")
    ] = 50
    first_choice_seconds: Annotated[
        int,
        About(
            "Seconds after its start at which a match ends if no player has made a move (bots of the house do not "
            "count); at least two turns and the reserve of its clock."
        ),
    ] = 86_400
    play_now_per_minute: Annotated[int, About("Calls of PlayNow a minute of one subject.", scope="store")] = 30
    play_now_per_address_per_minute: Annotated[
        int,
        About(
            "The same from one address; calls from this machine without x-forwarded-for have no such limit.",
            scope="store",
        ),
    ] = 300
    requests_per_second: Annotated[
        float,
        About(
            "Points a second of one subject, on average. A call uses as many as it costs: GetMatch and Choose 1, others"
            " by the matches and events that they read.",
            least=0.001,
        ),
    ] = 200.0
    requests_at_once: Annotated[int, About("Points of one subject at once, after a pause.")] = 400
    subjects_per_address: Annotated[
        int,
        About(
            "How many times the points of one subject one address may use, for all its subjects together. Calls from "
            "this machine without x-forwarded-for have no limit by address."
        ),
    ] = 10
    plays_per_subject: Annotated[int, About("Open Play streams of one subject.")] = 32
    plays: Annotated[int, About("Open Play streams, in all.")] = 10_000
    watches_per_subject: Annotated[int, About("Feeds watched by one subject.")] = 64
    watches: Annotated[int, About("Feeds watched, in all.")] = 20_000
    replays_per_subject: Annotated[int, About("Replay files being sent to one subject.")] = 4
    replays: Annotated[int, About("Replay files being sent, in all.")] = 64
    audits_per_subject: Annotated[int, About("Audits of one subject, running or waiting.")] = 1
    audits: Annotated[int, About("Audits, running or waiting, in all.", least=0)] = 16
    audits_per_address: Annotated[int, About("Audits of one address, running or waiting.")] = 4
    strangers_per_second: Annotated[
        float,
        About(
            "Calls a second from one address without a valid token, of health and reflection, or unreadable ones.",
            least=0.001,
        ),
    ] = 100.0
    strangers_at_once: Annotated[int, About("The same at once, after a pause.")] = 1_000
    connections: Annotated[int, About("TCP connections at a time; further ones are closed.")] = 4_000
    guests_per_address_per_hour: Annotated[
        int, About("New guests an hour from one address, refilled continuously.", scope="store")
    ] = 1_000
    guests_per_hour: Annotated[int, About("New guests an hour, in all.", scope="store")] = 100_000
    operator_token_seconds: Annotated[
        int, About("Seconds that an operator's token may be valid in all; a longer one is refused.")
    ] = 30 * 24 * 3_600
    guest_token_seconds: Annotated[int, About("Seconds that the token of a guest is valid.")] = 7 * 24 * 3_600
    open_seconds: Annotated[
        int,
        About(
            "Seconds without an event after which a match with free seats expires, unless its opener sets them; 0: "
            "never.",
            least=0,
        ),
    ] = 3_600
    idle_seconds: Annotated[
        int,
        About(
            "The same for a running match without a turn clock; also the longest time that openers can set.", least=0
        ),
    ] = 14 * 24 * 3_600


LIMITS: Final = settings_of(Limits, "limits")
