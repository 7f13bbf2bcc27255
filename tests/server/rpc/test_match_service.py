"""The MatchService over a real channel: whole matches, retries, and choices that are refused."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest

from rollbook.match.chain import Entry
from rollbook.match.codec.notation import write_header
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import current, find
from rollbook.v1 import games_pb2, match_pb2, table_pb2
from rollbook.v1.events_pb2 import Event
from rollbook.v1.refusals_pb2 import RefusalReason
from tests.server.rpc.talking import Person, World, refusal, run, some_choice

GAMES = {name: game.seats[1] for name, game in current().items()}
NEVER = "a" * 24


async def play_to_the_end(world: World, match_id: str, people: list[Person]) -> Any:
    """Choose until the seal, and return the final look at the match."""
    for number in range(3_000):
        look = await people[0].look(match_id)
        if look.summary.state != match_pb2.MATCH_STATE_RUNNING:
            return look
        person = people[look.summary.awaited_seat]
        mine = await person.look(match_id)
        answer = await person.choose(match_id, some_choice(mine.legal, number), world.check_head(mine.head))
        world.check_made(answer.made)
    for person in people[1:]:
        await person.call("Resign", match_id=match_id)
    return await people[0].look(match_id)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_a_whole_match_of_every_game_is_played_to_its_seal(game: str) -> None:
    """Every answer has its events, their chain and a signed head; at the end there is a result."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started(game, GAMES[game])
        look = await play_to_the_end(world, match_id, people)
        assert match_pb2.MATCH_STATE_FINISHED == look.summary.state
        assert GAMES[game] == len(look.summary.places.places)
        assert [f"P{seat}" for seat in range(GAMES[game])] == [seat.name for seat in look.summary.seats]
        assert not look.HasField("legal")

    run(scenario)


def test_what_can_be_played_is_told_without_a_token() -> None:
    """ListGames returns every game with its seats, options and material, without a token."""

    async def scenario(world: World) -> None:
        response = await world.nobody().call("ListGames")
        assert sorted(current()) == [ruleset.game for ruleset in response.rulesets]
        assert all(ruleset.components.startswith("{") for ruleset in response.rulesets)

    run(scenario)


def test_the_default_of_an_option_is_written_as_in_the_plain_form() -> None:
    """Readers can find the default in a printed match and use it in a command."""

    async def scenario(world: World) -> None:
        rulesets = (await world.nobody().call("ListGames")).rulesets
        assert any(ruleset.options for ruleset in rulesets)
        for ruleset in rulesets:
            simulation = Simulation(find(ruleset.game, ruleset.ruleset), {}, ruleset.fewest_seats, 7, 0)
            options = write_header(simulation.header)["options"]
            plain = {name: value if isinstance(value, str) else json.dumps(value) for name, value in options.items()}
            assert plain == {option.name: option.default_value for option in ruleset.options}

    run(scenario)


def test_a_summary_tells_when_the_match_was_opened_and_whose_choice_is_awaited_while_it_runs() -> None:
    """The opening time is that of event 1.

    A seat is awaited only while the match runs, and at the end there is a result.
    """

    async def scenario(world: World) -> None:
        opened_ms = world.clock.ms
        match_id, people = await world.seated()

        async def seen() -> tuple[int, bool, str | None]:
            world.clock.ms += 60_000
            summary = (await people[0].look(match_id)).summary
            return summary.opened_ms, summary.HasField("awaited_seat"), summary.WhichOneof("result")

        assert (opened_ms, False, None) == await seen()
        await world.get_ready(match_id, people)
        assert (opened_ms, True, None) == await seen()
        seats = range(len(people))
        assert (await people[0].look(match_id)).summary.awaited_seat in seats
        entries = await world.log.read(match_id, 0, 1)
        assert opened_ms == Event.FromString(entries[0].event).time_ms
        await people[0].call("Resign", match_id=match_id)
        assert (opened_ms, False, "places") == await seen()

    run(scenario)


def test_a_call_without_a_token_or_with_a_bad_one_is_refused() -> None:
    """The reason distinguishes a missing token from a bad one."""

    async def scenario(world: World) -> None:
        assert "TOKEN_MISSING" == (await refusal(world.nobody().look(NEVER))).reason
        bad = await refusal(world.nobody("not.a.token").look(NEVER))
        assert (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MALFORMED") == (bad.code, bad.reason)
        late = world.person("late")
        world.clock.ms += 10**9 + 1_000
        assert "TOKEN_EXPIRED" == (await refusal(late.look(NEVER))).reason

    run(scenario)


def test_the_same_request_gets_the_same_answer_and_other_content_is_refused() -> None:
    """For every write the answer is rebuilt from the log, byte for byte, also by another process."""

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        first = await opener.open(request_id="same-id-1")
        world.clock.ms += 5_000
        assert first == await opener.open(request_id="same-id-1")
        assert "REQUEST_ID_REUSED" == (await refusal(opener.open(seats=3, request_id="same-id-1"))).reason

        match_id, people = await world.started("allie_gator")
        person, look = await world.awaited(match_id, people)
        position = world.check_head(look.head)
        choice = some_choice(look.legal)
        made = await person.choose(match_id, choice, position, request_id="same-id-2")
        world.clock.ms += 5_000
        assert made == await person.choose(match_id, choice, position, request_id="same-id-2")
        other = await refusal(person.call("Resign", match_id=match_id, request_id="same-id-2"))
        assert (grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_ID_REUSED") == (other.code, other.reason)
        async with world.serving(world.process()):
            again = world.person(person.sub)
            assert made == await again.choose(match_id, choice, position, request_id="same-id-2")
            assert ["P0", "P1"] == [seat.name for seat in (await again.look(match_id)).summary.seats]

    run(scenario)


def test_a_request_id_is_unique_per_subject_and_match_and_opening_has_its_own() -> None:
    """A repeated request gets its first answer in that match only."""

    async def scenario(world: World) -> None:
        opener, anna, ben = (world.person(name) for name in ("opener", "anna", "ben"))
        first = (await opener.open(seats=3, request_id="opening-1")).match_id
        second = (await opener.open(seats=3, request_id="opening-2")).match_id
        assert first != second
        sat = {}
        for person, match_id in ((anna, first), (anna, second), (ben, first)):
            sat[person, match_id] = await person.call("TakeSeat", match_id=match_id, request_id="sit-down")
        for (person, match_id), answer in sat.items():
            assert answer == await person.call("TakeSeat", match_id=match_id, request_id="sit-down")
        again = match_pb2.PlayRequest(match_id=first, request_id="sit-down", choice=games_pb2.Choice())
        play = anna.play()
        await play.write(again)
        assert RefusalReason.Value("REFUSAL_REASON_REQUEST_ID_REUSED") == (await play.read()).refused.detail.reason
        await play.done_writing()
        third = (await anna.open(seats=3, request_id="sit-down")).match_id
        assert third not in {first, second}
        assert third == (await anna.open(seats=3, request_id="sit-down")).match_id
        # The id that opened a match is used in that match, and in no other.
        for call in (
            opener.open(seats=2, request_id="opening-1"),
            opener.call("TakeSeat", match_id=first, request_id="opening-1"),
        ):
            assert "REQUEST_ID_REUSED" == (await refusal(call)).reason
        await opener.call("TakeSeat", match_id=second, request_id="opening-1")
        await anna.call("TakeSeat", match_id=third, request_id="opening-1")

    run(scenario)


@pytest.mark.parametrize("request_id", ["", "short", "x" * 65, "with space", "größer-als-7"])
def test_a_malformed_request_id_is_refused(request_id: str) -> None:
    """Eight to 64 visible ASCII characters, for every write."""

    async def scenario(world: World) -> None:
        match_id, people = await world.seated()
        for call in (
            people[0].open(request_id=request_id),
            *[
                people[0].call(method, match_id=match_id, request_id=request_id)
                for method in ("TakeSeat", "Ready", "LeaveSeat", "Resign", "Choose")
            ],
        ):
            told = await refusal(call)
            assert (grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_ID_MALFORMED") == (told.code, told.reason)

    run(scenario)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"seats": 1}, "SEATS_OUT_OF_RANGE"),
        ({"ruleset": 99}, "GAME_UNKNOWN"),
        ({"cant_stop": {"columns_to_win": 9}}, "OPTION_VALUE_UNKNOWN"),
        ({"cant_stop": {"columns_to_win": 5}, "seats": 3}, "OPTIONS_DO_NOT_COMBINE"),
        ({"turn_seconds": 4}, "CLOCK_OUT_OF_RANGE"),
        ({"turn_seconds": -1}, "CLOCK_OUT_OF_RANGE"),
        ({"turn_seconds": 1_209_601}, "CLOCK_OUT_OF_RANGE"),
        ({"turn_seconds": 5, "reserve_seconds": 1_209_601}, "CLOCK_OUT_OF_RANGE"),
        ({"reserve_seconds": 10}, "CLOCK_OUT_OF_RANGE"),
        ({"ready_seconds": 0}, "READY_TIME_OUT_OF_RANGE"),
        ({"ready_seconds": 9}, "READY_TIME_OUT_OF_RANGE"),
        ({"ready_seconds": 1_209_601}, "READY_TIME_OUT_OF_RANGE"),
        ({"spectator_delay_seconds": 3_601}, "DELAY_OUT_OF_RANGE"),
        ({"open_seconds": 59}, "EXPIRY_OUT_OF_RANGE"),
        ({"open_seconds": 1_209_601}, "EXPIRY_OUT_OF_RANGE"),
        ({"idle_seconds": 3_599}, "EXPIRY_OUT_OF_RANGE"),
        ({"idle_seconds": 0}, "EXPIRY_OUT_OF_RANGE"),
        ({"idle_seconds": 31_536_001}, "EXPIRY_OUT_OF_RANGE"),
    ],
)
def test_a_match_that_cannot_be_is_not_opened(fields: dict[str, Any], reason: str) -> None:
    """The refusal names what is allowed, and nothing is stored."""

    async def scenario(world: World) -> None:
        told = await refusal(world.person("opener").open(**{"seats": 2, **fields}))
        assert (grpc.StatusCode.INVALID_ARGUMENT, reason) == (told.code, told.reason)
        assert {} == await world.store.lobby()

    run(scenario)


@pytest.mark.parametrize(
    ("turn", "reserve", "ready", "delay", "opens", "idles"),
    [
        (0, 0, 10, 0, 60, 3_600),
        (5, 0, 300, 1, 3_600, 1_209_600),
        (1_209_600, 1_209_600, 1_209_600, 3_600, 1_209_600, 1_209_600),
    ],
)
def test_terms_may_be_as_short_and_as_long_as_is_said(  # noqa: PLR0917 - one for each term
    turn: int, reserve: int, ready: int, delay: int, opens: int, idles: int
) -> None:
    """Both ends of every range are allowed."""
    terms: dict[str, Any] = {
        "turn_seconds": turn,
        "reserve_seconds": reserve,
        "ready_seconds": ready,
        "spectator_delay_seconds": delay,
        "open_seconds": opens,
        "idle_seconds": idles,
    }

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        match_id = (await opener.open(**terms)).match_id
        await opener.call("TakeSeat", match_id=match_id)
        summary = (await opener.look(match_id)).summary
        assert terms == {name: getattr(summary, name) for name in terms}

    run(scenario)


def test_terms_that_are_left_out_have_their_defaults() -> None:
    """No clock and no delay; five minutes to get ready, an hour to fill the seats, two weeks to play."""

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        summary = (await opener.look((await opener.open()).match_id)).summary
        assert (0, 0, 300) == (summary.turn_seconds, summary.reserve_seconds, summary.ready_seconds)
        assert (0, 3_600, 1_209_600) == (summary.spectator_delay_seconds, summary.open_seconds, summary.idle_seconds)
        assert (24, True) == (len(summary.match_id), set(summary.match_id) <= set("abcdefghijklmnopqrstuvwxyz234567"))

    run(scenario)


def test_no_game_an_unknown_option_and_an_unknown_edition_are_refused() -> None:
    """A newer client may set values that the service does not know."""

    async def scenario(world: World) -> None:
        opener = world.person("opener")
        assert "GAME_UNKNOWN" == (await refusal(opener.call("OpenMatch", seats=2))).reason
        assert "OPTION_VALUE_UNKNOWN" == (await refusal(opener.open("raffzahn", 3, raffzahn={"edition": 7}))).reason
        newer = match_pb2.OpenMatchRequest(request_id="newer-one", seats=2)
        newer.options.cant_stop.MergeFromString(b"\xf8\x07\x01")
        assert "OPTION_UNKNOWN" == (await refusal(opener.stub.OpenMatch(newer, metadata=opener.metadata))).reason

    run(scenario)


def test_a_choice_is_refused_in_the_order_seat_turn_position_legality() -> None:
    """Every refusal has the position; only the awaited seat also gets the legal choices."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        person, look = await world.awaited(match_id, people)
        other = next(someone for someone in people if someone is not person)
        head = world.check_head(look.head)
        wrong = games_pb2.Choice()
        wrong.cant_stop.stop.SetInParent()

        stranger = await refusal(world.person("stranger").call("Choose", match_id=match_id))
        assert (grpc.StatusCode.PERMISSION_DENIED, "NOT_SEATED") == (stranger.code, stranger.reason)
        waiting = await refusal(other.call("Choose", match_id=match_id))
        assert (grpc.StatusCode.FAILED_PRECONDITION, "NOT_YOUR_TURN") == (waiting.code, waiting.reason)
        assert not stranger.detail.HasField("legal")
        assert not waiting.detail.HasField("legal")

        async def told(position: table_pb2.Position | None, choice: games_pb2.Choice = wrong) -> Any:
            return await refusal(person.call("Choose", match_id=match_id, position=position, choice=choice))

        assert "POSITION_MISSING" == (await told(None)).reason
        assert "POSITION_MALFORMED" == (await told(table_pb2.Position(sequence=3, link=b"x"))).reason
        ahead = await told(table_pb2.Position(sequence=head.sequence + 1, link=head.link))
        assert (grpc.StatusCode.OUT_OF_RANGE, "POSITION_AHEAD") == (ahead.code, ahead.reason)
        another = await told(table_pb2.Position(sequence=head.sequence, link=b"x" * 32))
        assert (grpc.StatusCode.OUT_OF_RANGE, "POSITION_OTHER_LINK") == (another.code, another.reason)
        assert "POSITION_OTHER_LINK" == (await told(table_pb2.Position(sequence=2, link=b"x" * 32))).reason
        assert "NOTHING_CHOSEN" == (await told(head, games_pb2.Choice())).reason
        of_another = games_pb2.Choice()
        of_another.raffzahn.take.SetInParent()
        assert "MOVE_OF_ANOTHER_GAME" == (await told(head, of_another)).reason
        illegal = await told(head)
        assert (grpc.StatusCode.FAILED_PRECONDITION, "OTHER_CHOICE_AWAITED") == (illegal.code, illegal.reason)
        assert (head, look.legal) == (illegal.detail.position, illegal.detail.legal)

        await person.choose(match_id, some_choice(look.legal), head)
        behind = await refusal(person.choose(match_id, some_choice(look.legal), head))
        assert behind.reason in {"POSITION_BEHIND", "NOT_YOUR_TURN"}
        assert behind.detail.position.sequence > head.sequence

    run(scenario)


def test_a_position_that_was_never_there_is_refused_for_every_command() -> None:
    """A position ahead of the log, with another link, or malformed is refused; an older one is not."""

    async def scenario(world: World) -> None:
        match_id, people = await world.started()
        head = (await people[0].look(match_id)).head
        for sequence, link, reason in (
            (head.sequence + 5, head.link, "POSITION_AHEAD"),
            (1, head.link, "POSITION_OTHER_LINK"),
            (0, head.link, "POSITION_OTHER_LINK"),
            (1, b"", "POSITION_MALFORMED"),
        ):
            position = table_pb2.Position(sequence=sequence, link=link)
            told = await refusal(people[0].call("Resign", match_id=match_id, position=position))
            assert reason == told.reason
            assert head.sequence == told.detail.position.sequence
        opened = Event.FromString((await world.log.read(match_id, 1, 1))[0].event)
        seen = table_pb2.Position(sequence=1, link=opened.previous)
        await people[0].call("Resign", match_id=match_id, position=seen)

    run(scenario)


def test_a_match_of_an_unknown_ruleset_is_for_another_replica() -> None:
    """UNAVAILABLE lets a client retry at another replica during a rolling upgrade."""

    async def scenario(world: World) -> None:
        newer = Event(sequence=1)
        newer.opened.envelope = 1
        newer.opened.fairness = "fair/1"
        newer.opened.game = "cant_stop"
        newer.opened.ruleset = 99
        await world.log.append(NEVER, 0, [Entry(newer.SerializeToString())])
        told = await refusal(world.person("one").look(NEVER))
        assert (grpc.StatusCode.UNAVAILABLE, "RULESET_UNKNOWN") == (told.code, told.reason)

    run(scenario)
