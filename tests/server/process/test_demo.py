"""`rollbook serve --demo` as a newcomer finds it: always a match of each game, also after failures."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import psutil
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

from rollbook.identity.tokens import Issuer
from rollbook.rules.catalogue import current
from rollbook.server.configuration.settings import SettingRefused, Settings
from rollbook.server.process.child_process import CompanionMissing, certified_name
from rollbook.server.process.house import COMMAND, HouseProcess
from rollbook.v1.events_pb2 import Event, SeatTaken
from rollbook.v1.feed_pb2 import WatchMatchRequest
from rollbook.v1.match_pb2 import (
    MATCH_STATE_ABORTED,
    MATCH_STATE_FINISHED,
    MATCH_STATE_RUNNING,
    ListMatchesRequest,
    MatchSummary,
)
from rollbook_clients.sdk import connect
from tests.clients.commands.test_tail import assert_checks, tailing
from tests.server.serving import started
from tests.server.strangers import CALL_SECONDS, Line, Stranger
from tests.server.test_whole_service import PATIENCE_SECONDS, Serving, run
from tests.storage.terminating import certificate

SEED = 5
POLL_SECONDS = 0.05
FAST_SECONDS = "0.01"
OVER = {MATCH_STATE_FINISHED, MATCH_STATE_ABORTED}


class Demonstrating(Serving):
    """`rollbook serve --demo` with fast bots."""

    thinking_seconds = FAST_SECONDS

    def start(self) -> subprocess.Popen[bytes]:
        """Start it, configured by variables."""
        env = os.environ | {"ROLLBOOK_DEMO": "true", "ROLLBOOK_DEMO_SECONDS": self.thinking_seconds}
        words = ["serve", "--data", str(self.data), "--listen", self.address]
        with (self.data.parent / "service.log").open("ab") as said:
            return subprocess.Popen([sys.executable, "-m", "rollbook", *words], stderr=said, env=env)


class Unhurried(Demonstrating):
    """A demo whose matches last longer than a kill and restart of the service, also on a busy machine."""

    thinking_seconds = "0.15"


@asynccontextmanager
async def demonstrating(
    folder: Path, kind: type[Demonstrating] = Demonstrating
) -> AsyncIterator[tuple[Demonstrating, Stranger]]:
    """Start a demo and a guest; always end the demo."""
    service = kind(folder / "data")
    line = Line(service.address)
    try:
        guest = Stranger(line, "Guest", random.Random(SEED))
        await guest.sign_in()
        yield service, guest
    finally:
        await line.channel.close()
        if service.process.poll() is None:
            service.end()


async def listed(guest: Stranger) -> dict[str, MatchSummary]:
    """The open or running matches by game; there must be at most one per game."""
    request = ListMatchesRequest()
    stub = guest.line.matches.ListMatches
    answer = await guest.line.settled(lambda: stub(request, metadata=guest.metadata, timeout=CALL_SECONDS))
    alive = [summary for summary in answer.matches if summary.state not in OVER]
    found = {summary.game: summary for summary in alive}
    assert len(found) == len(alive)
    return found


async def until(guest: Stranger, condition: Callable[[dict[str, MatchSummary]], bool]) -> dict[str, MatchSummary]:
    """Read the list until the condition holds."""
    while True:
        found = await listed(guest)
        if condition(found):
            return found
        await asyncio.sleep(POLL_SECONDS)


def all_run(found: dict[str, MatchSummary]) -> bool:
    """Whether each game has a running match."""
    return set(current()) == {game for game, match in found.items() if match.state == MATCH_STATE_RUNNING}


def test_there_is_a_public_match_of_each_game_and_every_seat_brings_entropy(tmp_path: Path) -> None:
    """The bots bring entropy, so the dice are not fixed; the service ends cleanly during play."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (service, guest):
            found = await until(guest, all_run)
            for match in found.values():
                assert [True] * 3 == [seat.brings_entropy for seat in match.seats]
                assert ["Uno", "Duo", "Trio"] == [seat.name for seat in match.seats]
                assert [(True, 1)] * 3 == [(seat.is_house, seat.strength) for seat in match.seats]
                assert (False, False) == (match.is_private, match.dice_fixed)
            assert 0 == service.end()
            assert '"level": "error"' not in service.said()
            assert "Traceback" not in service.said()

    run(scenario)


async def seats_taken(guest: Stranger, match_id: str) -> list[SeatTaken]:
    """The `seat_taken` events of a match's log."""
    request = WatchMatchRequest(match_id=match_id)
    taken: list[SeatTaken] = []
    async for frame in guest.line.feeds.WatchMatch(request, metadata=guest.metadata, timeout=CALL_SECONDS):
        events = [Event.FromString(event.event) for event in frame.events.events]
        taken += [event.seat_taken for event in events if event.HasField("seat_taken")]
        if frame.HasField("caught_up"):
            return taken
    raise AssertionError("the feed has ended")


def test_the_log_says_who_is_a_bot_of_the_house(tmp_path: Path) -> None:
    """Each house bot is marked and no guest is, not even under a bot's name; the mark is permanent."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (_, guest):
            for match in (await until(guest, all_run)).values():
                assert [True] * 3 == [taken.house for taken in await seats_taken(guest, match.match_id)]
            for name in ("house-uno", "Anna the robot"):
                another = Stranger(guest.line, name, random.Random(name))
                await another.sign_in()
                match_id = await another.open(2, cant_stop={})
                await another.sit(match_id)
                assert [False] == [taken.house for taken in await seats_taken(another, match_id)]

    run(scenario)


@pytest.mark.parametrize("game", list(current()))
def test_a_match_of_the_demo_is_valid_and_the_next_one_follows(game: str, tmp_path: Path) -> None:
    """`rollbook check` accepts the match; when it is over, another match of the game is opened."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (service, guest):
            first = (await until(guest, lambda found: game in found))[game].match_id
            async with tailing(tmp_path, first, "--service", service.address) as tail:
                assert 0 == await tail.ended(), tail.said
                await assert_checks(tail.printed)
                assert '"by":"caretaker"' not in "".join(tail.lines)
            await until(guest, lambda found: game in found and found[game].match_id != first)

    run(scenario)


def test_after_a_restart_the_demo_carries_on_with_its_matches(tmp_path: Path) -> None:
    """After a kill or a normal end it opens no additional matches, and each match reaches a valid end."""

    async def scenario() -> None:
        async with demonstrating(tmp_path, Unhurried) as (service, guest):
            before = await until(guest, all_run)
            kept = before["wuerfelzoo"].match_id
            async with tailing(tmp_path, kept, "--service", service.address) as tail:
                await tail.until_lines(1)
                service.kill_both()
                count = len(tail.lines)
                await tail.until_lines(count + 5)
                assert 0 == service.end()
                service.process = service.start()
                # At no time are there two matches of one game.
                await until(guest, lambda _: tail.process.poll() is not None)
                assert 0 == await tail.ended(), tail.said
                await assert_checks(tail.printed)
            await until(guest, all_run)

    run(scenario)


@pytest.mark.parametrize("moment", range(4))
def test_a_demo_that_is_killed_as_it_begins_leaves_no_match_behind(moment: int, tmp_path: Path) -> None:
    """The same bots fill the remaining seats, with the entropy that they committed to."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (service, guest):
            await until(guest, lambda found: len(found) > moment)
            service.kill_service()
            await until(guest, all_run)
            assert 0 == service.end()
            assert "gives up" not in service.said()

    run(scenario)


def houses(service: Demonstrating) -> list[psutil.Process]:
    """The processes of house bots below a service."""
    return [child for child in psutil.Process(service.process.pid).children() if COMMAND in child.cmdline()]


async def until_house(service: Demonstrating) -> psutil.Process:
    """Wait until one runs, and return it."""
    while True:
        for house in houses(service):
            return house
        await asyncio.sleep(POLL_SECONDS)


def test_a_house_that_dies_is_started_again_and_carries_on(tmp_path: Path) -> None:
    """It continues the existing matches; only the operator's log reports the restart."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (service, guest):
            before = (await until(guest, all_run))["wuerfelzoo"]
            house = await until_house(service)
            house.kill()
            await until(guest, lambda _: not house.is_running())
            assert house.pid != (await until_house(service)).pid
            position = (await listed(guest))["wuerfelzoo"].position.sequence
            found = await until(guest, lambda found: found["wuerfelzoo"].position.sequence > position)
            assert before.match_id == found["wuerfelzoo"].match_id
            assert "is started again" in service.said()
            assert 0 == service.end()

    run(scenario)


def test_the_house_ends_with_its_service_however_that_ends(tmp_path: Path) -> None:
    """No bot keeps playing without its service, and no process is left on the machine."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (service, guest):
            await until(guest, all_run)
            house = await until_house(service)
            service.process.kill()
            psutil.wait_procs([house], timeout=PATIENCE_SECONDS)
            assert not house.is_running()
            service.process.wait()
            service.process = service.start()
            await until(guest, all_run)
            house = await until_house(service)
            assert 0 == service.end()
            assert not house.is_running()
            assert "is started again" not in service.said()

    run(scenario)


def test_no_secret_of_the_house_stands_where_others_can_read_it(tmp_path: Path) -> None:
    """Tokens and entropy are neither on the command line of the house nor in its environment."""

    async def scenario() -> None:
        async with demonstrating(tmp_path) as (service, _):
            house = await until_house(service)
            service_key = (service.data / "service.key").read_bytes()
            assert [COMMAND] == house.cmdline()[-1:]
            told = " ".join([*house.cmdline(), *house.environ().values()])
            assert "eyJ" not in told
            assert service_key.hex() not in told

    run(scenario)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_house_plays_at_a_service_with_tls(workers: str, tmp_path: Path) -> None:
    """The house connects like any client: it trusts the service's certificate by a name that the certificate has.

    There is one house for all workers, and it ends before they do.
    """

    async def scenario() -> None:
        made = certificate(tmp_path, "elsewhere", address="192.0.2.7")
        flags = {"--data": tmp_path / "data", "--tls-cert": made.certificate, "--tls-key": made.key}
        words = [sys.executable, "-m", "rollbook", "serve", "--listen", "127.0.0.1:0", "--demo", "--workers", workers]
        with started([*words, *(str(word) for pair in flags.items() for word in pair)]) as one:
            authorities = made.certificate.read_bytes()
            async with connect(one.address, authorities=authorities, server_name="192.0.2.7") as table:
                running = 0
                while running < len(current()):
                    await asyncio.sleep(POLL_SECONDS)
                    running = len([match async for match in table.matches(state=MATCH_STATE_RUNNING)])
            everything = psutil.Process(one.process.pid).children(recursive=True)
            assert 1 == len([process for process in everything if COMMAND in process.cmdline()])
            one.process.terminate()
            assert 0 == one.ended()
            assert not [line for line in one.lines if line["level"] in {"error", "warning"}]

    run(scenario)


def test_without_house_bots_there_is_no_demo() -> None:
    """The house is a command of another package; if that is missing, the service does not start and names it."""
    issuer = Issuer(Ed25519PrivateKey.generate())
    with pytest.raises(CompanionMissing, match="`rollbook no-such-command`, which no installed package offers"):
        HouseProcess(issuer, bytes(32), None, 1, "no-such-command")


@pytest.mark.parametrize(
    ("names", "name"),
    [
        ([x509.DNSName("play.example.org"), x509.IPAddress(ip_address("192.0.2.7"))], "play.example.org"),
        ([x509.DNSName("*.example.org")], "house.example.org"),
        ([x509.IPAddress(ip_address("2001:db8::1"))], "2001:db8::1"),
        ([], "only a common name"),
    ],
)
def test_a_certificate_is_good_for_a_name(names: list[x509.GeneralName], name: str) -> None:
    """The house calls a local address, so it needs the name that the certificate has."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "only a common name")])
    now = datetime.now(UTC)
    built = x509.CertificateBuilder().subject_name(who).issuer_name(who).public_key(key.public_key())
    built = built.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    if names:
        built = built.add_extension(x509.SubjectAlternativeName(names), critical=False)
    pem = built.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    assert name == certified_name(pem)


def test_without_the_flag_there_are_no_bots() -> None:
    """Bots play only if the operator asks for them."""
    assert None is Settings.read().demo_seconds
    assert None is Settings.read(demo_seconds=1.0).demo_seconds
    assert 2.0 == Settings.read(demo=True).demo_seconds


def test_the_calls_of_a_demo_are_logged_only_if_somebody_asks_for_them() -> None:
    """Calls of bots would fill the screen within seconds and hide the service's addresses."""
    assert 1.0 == Settings.read().log_calls
    assert 0.0 == Settings.read(demo=True).log_calls
    assert 0.5 == Settings.read(demo=True, log_calls=0.5).log_calls


@pytest.mark.parametrize("seconds", [0.0, -1.0, 31.0, float("nan"), float("inf")])
def test_a_pace_that_no_match_could_keep_is_refused(seconds: float) -> None:
    """A bot that is too slow would lose its turns to the clock."""
    with pytest.raises(SettingRefused) as refused:
        Settings.read(demo=True, demo_seconds=seconds)
    assert "--demo-seconds" == refused.value.flag
