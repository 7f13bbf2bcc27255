"""`rollbook tail` as a user runs it, beside a real service and playing strangers."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from rollbook.match.chain import link
from rollbook.v1 import match_pb2
from tests.ports import free_port
from tests.server.process.test_running import self_signed
from tests.server.serving import started
from tests.server.strangers import Line, Stranger
from tests.server.test_whole_service import Serving, run, seated, serving

SEED = 11
POLL_SECONDS = 0.02


class Tailing:
    """`rollbook tail` in its own process, with its output so far."""

    def __init__(self, folder: Path, *words: str, env: dict[str, str] | None = None) -> None:
        """Start the process."""
        self.printed = folder / "tailed.jsonl"
        self.complained = folder / "tailed.err"
        with self.printed.open("wb") as out, self.complained.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rollbook", "tail", *words],
                stdout=out,
                stderr=err,
                env={**os.environ, **(env or {})},
            )

    @property
    def lines(self) -> list[str]:
        """The complete lines on standard output."""
        return [line for line in self.printed.read_text(encoding="utf-8").splitlines(keepends=True) if line[-1] == "\n"]

    @property
    def said(self) -> str:
        """The text on standard error."""
        return self.complained.read_text(encoding="utf-8")

    async def until_lines(self, count: int) -> None:
        """Wait until this many lines are printed."""
        while len(self.lines) < count:
            assert self.process.poll() is None, self.said
            await asyncio.sleep(POLL_SECONDS)

    async def until_said(self, words: str) -> None:
        """Wait until standard error contains these words."""
        while words not in self.said:
            assert self.process.poll() is None, self.said
            await asyncio.sleep(POLL_SECONDS)

    async def ended(self) -> int:
        """Wait for the end; returns the exit code."""
        return await asyncio.to_thread(self.process.wait)


@asynccontextmanager
async def tailing(folder: Path, *words: str, env: dict[str, str] | None = None) -> AsyncIterator[Tailing]:
    """Start a tail; kills it in any case."""
    one = Tailing(folder, *words, env=env)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()


async def rollbook(*words: str) -> tuple[int, str, str]:
    """Run a command to its end; returns exit code, output and errors."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rollbook", *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def assert_checks(path: Path, *, dice: str = "proved") -> None:
    """Assert that `rollbook check` accepts the file."""
    code, out, _ = await rollbook("check", str(path))
    assert (0, True) == (code, out.rstrip().endswith(f"dice {dice}")), out


def test_a_match_is_printed_as_it_is_played_and_its_output_passes_check(tmp_path: Path) -> None:
    """The output covers the match from before its start to its seal, with names and entropy of the seats."""

    async def scenario() -> None:
        rng = random.Random(SEED)
        async with serving(tmp_path) as service:
            line = Line(service.address)
            match_id, people = await seated(line, 3, rng, allie_gator={})
            async with tailing(tmp_path, match_id, "--service", service.address) as tail:
                await tail.until_lines(5)
                await asyncio.gather(*[person.watch(match_id, play=True) for person in people])
                assert 0 == await tail.ended()
                header = json.loads(tail.lines[0])
                assert (match_id, [person.name for person in people]) == (header["match"], header["seats"])
                assert [person.entropy.hex() for person in people] == header["entropy"]
                assert len(people[0].told) == len(tail.lines)
                assert '"cards":null' in "".join(tail.lines)
                await assert_checks(tail.printed)
            await line.channel.close()

    run(scenario)


def test_a_match_that_is_over_is_printed_as_it_was_revealed(tmp_path: Path) -> None:
    """All hidden parts are printed, with or without --follow, and `rollbook check` accepts the output."""

    async def scenario() -> None:
        async with serving(tmp_path) as service:
            line = Line(service.address)
            match_id, people = await seated(line, 2, random.Random(SEED), allie_gator={})
            await asyncio.gather(*[person.watch(match_id, play=True) for person in people])
            printed = []
            for flag in ("--follow", "--no-follow"):
                async with tailing(tmp_path, match_id, "--service", service.address, flag) as tail:
                    assert (0, "") == (await tail.ended(), tail.said)
                    printed.append(tail.lines)
                    await assert_checks(tail.printed)
            assert printed[0] == printed[1]
            assert "null" not in "".join(printed[0])
            await line.channel.close()

    run(scenario)


def test_a_tail_goes_on_after_kill_9_of_the_service_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """No line is missing or doubled after any number of kills; standard error reports each outage."""

    async def scenario() -> None:
        async with serving(tmp_path) as service:
            line = Line(service.address)
            match_id, people = await seated(line, 2, random.Random(SEED), wuerfelzoo={})
            async with tailing(tmp_path, match_id, "--service", service.address) as tail:
                await tail.until_lines(3)
                service.kill_service()
                await tail.until_said("the connection is lost")
                playing = asyncio.gather(*[person.watch(match_id, play=True) for person in people])
                await tail.until_lines(12)
                service.kill_both()
                await playing
                assert 0 == await tail.ended()
                assert len(people[0].told) == len(tail.lines)
                await assert_checks(tail.printed)
            await line.channel.close()

    run(scenario)


def test_a_match_that_has_not_started_is_waited_for(tmp_path: Path) -> None:
    """The first line needs the entropy of all seats, and standard error explains the wait; --no-follow ends at once."""

    async def scenario() -> None:
        rng = random.Random(SEED)
        async with serving(tmp_path) as service:
            line = Line(service.address)
            people = [Stranger(line, name, random.Random(name), rng.randbytes(32)) for name in ("Anna", "Tom")]
            for person in people:
                await person.sign_in()
            match_id = await people[0].open(2, cant_stop={})
            code, out, err = await rollbook("tail", match_id, "--service", service.address, "--no-follow")
            assert (3, "") == (code, out)
            assert "has not started" in err
            async with tailing(tmp_path, match_id, "--service", service.address) as tail:
                await tail.until_said("waiting")
                for person in people:
                    await person.sit(match_id)
                assert [] == tail.lines
                closing = people[1].acknowledged[max(people[1].acknowledged)]
                await asyncio.gather(*[person.ready(match_id, link(closing)) for person in people])
                await asyncio.gather(*[person.watch(match_id, play=True) for person in people])
                assert 0 == await tail.ended()
                assert ["Anna", "Tom"] == json.loads(tail.lines[0])["seats"]
                await assert_checks(tail.printed)
            await line.channel.close()

    run(scenario)


def test_a_seat_sees_its_own_cards_with_its_token(tmp_path: Path) -> None:
    """The token is in an environment variable, hidden from other users; --no-follow prints the events so far."""

    async def scenario() -> None:
        async with serving(tmp_path) as service:
            line = Line(service.address)
            match_id, people = await seated(line, 2, random.Random(SEED), allie_gator={})
            hands = []
            for env in ({}, {"ROLLBOOK_TOKEN": people[0].token}):
                words = (match_id, "--service", service.address, "--no-follow")
                async with tailing(tmp_path, *words, env=env) as tail:
                    assert 0 == await tail.ended(), tail.said
                    drawn = [json.loads(text) for text in tail.lines if '"chance":"draw"' in text]
                    hands.append({each["seat"]: each["cards"] is not None for each in drawn})
            assert [{0: False, 1: False}, {0: True, 1: False}] == hands
            await line.channel.close()

    run(scenario)


def test_without_a_match_those_that_are_open_or_running_are_listed(tmp_path: Path) -> None:
    """One line a match, with the facts that a newcomer needs; without matches a message is printed."""

    async def scenario() -> None:
        async with serving(tmp_path) as service:
            line = Line(service.address)
            first = Stranger(line, "Anna", random.Random(SEED))
            await first.sign_in()
            code, out, err = await rollbook("tail", "--service", service.address)
            assert (3, "") == (code, out)
            assert "no match is open or running" in err
            running, _ = await seated(line, 2, random.Random(SEED), wuerfelzoo={})
            opened = await first.open(3, cant_stop={})
            await first.sit(opened)
            code, out, err = await rollbook("tail", "--service", service.address)
            assert (0, "") == (code, err)
            assert [
                [opened, "cant_stop", "open", "Anna,", "(free),", "(free)"],
                [running, "wuerfelzoo", "running", "Stranger", "0,", "Stranger", "1"],
            ] == [text.split() for text in out.splitlines()]
            await line.channel.close()

    run(scenario)


def test_an_aborted_match_is_printed_too(tmp_path: Path) -> None:
    """The seal has the reason; `rollbook check` accepts the output, also of a match that never started."""

    async def scenario() -> None:
        async with serving(tmp_path) as service:
            line = Line(service.address)
            person = Stranger(line, "Anna", random.Random(SEED))
            await person.sign_in()
            match_id = await person.open(2, cant_stop={})
            operator = Stranger(line, "Operator", random.Random(SEED))
            key = service.data / "token.key"
            code, token, err = await rollbook("token", "--key", str(key), "--subject", "operator", "--role", "operator")
            assert 0 == code, err
            operator.token = token.strip()
            request = match_pb2.AbortMatchRequest(request_id=operator.request_id(), match_id=match_id)
            await operator.call("AbortMatch", request)
            async with tailing(tmp_path, match_id, "--service", service.address) as tail:
                assert 0 == await tail.ended(), tail.said
                assert {"aborted": "by_operator"} == json.loads(tail.lines[-1])["result"]
                await assert_checks(tail.printed)
            await line.channel.close()

    run(scenario)


def test_a_service_with_tls_is_reached_by_whoever_trusts_its_certificate(tmp_path: Path) -> None:
    """--tls-ca names the trusted certificate; without it no service is found, and the message suggests the flag."""
    certificate, key = self_signed(tmp_path)
    words = ["serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0"]
    files = ["--tls-cert", str(certificate), "--tls-key", str(key)]
    with started([sys.executable, "-m", "rollbook", *words, *files]) as service:
        address = service.address
        code, _, err = asyncio.run(rollbook("tail", "--service", address, "--tls-ca", str(certificate)))
        assert (3, True) == (code, "no match is open or running" in err), err
        code, _, err = asyncio.run(rollbook("tail", "--service", address))
        assert (3, True) == (code, "--tls-ca FILE is for one with TLS" in err), err


def test_what_is_not_there_ends_with_3_and_says_what_would_help(tmp_path: Path) -> None:
    """Exit code 3 for a missing service, an unknown match and a missing file."""

    async def scenario() -> None:
        nobody = f"127.0.0.1:{free_port()}"
        for words in (("tail", "--service", nobody), ("tail", "a" * 24, "--service", nobody)):
            code, out, err = await rollbook(*words)
            assert (3, "") == (code, out)
            assert f"no service answers at {nobody}" in err
            assert "rollbook serve" in err
        code, out, err = await rollbook("tail", "--tls-ca", str(tmp_path / "none.pem"))
        assert (3, "", f"{tmp_path / 'none.pem'}: No such file or directory\n") == (code, out, err)
        async with serving(tmp_path) as service:
            for match_id in ("a" * 24, "chess"):
                code, out, err = await rollbook("tail", match_id, "--service", await _there(service))
                assert (3, "") == (code, out)
                assert "no such match, or you may not see it" in err
            code, out, err = await rollbook("tail", "--service", service.address, "--token", "nonsense")
            assert (1, "") == (code, out)
            assert "the service refuses" in err

    run(scenario)


async def _there(service: Serving) -> str:
    """Wait until a service answers; returns its address."""
    line = Line(service.address)
    await Stranger(line, "Anna", random.Random(SEED)).sign_in()
    await line.channel.close()
    return service.address
