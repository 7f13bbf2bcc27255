"""The options of all commands that call a service: its address, the caller's token, the trusted certificates."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from rollbook import DEFAULT_ADDRESS
from rollbook.cli.service_options import ServiceOptions
from rollbook.identity.service_keys import ServiceKeys
from rollbook.replay_file.key_lines import keys_of_service, read_keys, write_keys
from rollbook.server.configuration.settings import Settings
from tests.clients.commands.test_tail import rollbook
from tests.ports import free_port
from tests.server.serving import started

COMMANDS = ["tail", "export", "play", "watch", "replay", "bot"]


def test_clients_call_where_the_service_listens() -> None:
    """The client's default address is the service's default address."""
    assert DEFAULT_ADDRESS == str(Settings.read().listen) == ServiceOptions().service


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_the_same_options_and_variables(command: str) -> None:
    """All commands describe the shared options with the same words."""
    done = subprocess.run(
        [sys.executable, "-m", "rollbook", command, "--help"], capture_output=True, text=True, check=True
    )
    words = " ".join(done.stdout.replace("│", " ").split())
    assert f"host:port of the service. Default: {DEFAULT_ADDRESS}. [env var: ROLLBOOK_SERVICE]" in words
    assert "Without one you are a guest. [env var: ROLLBOOK_TOKEN]" in words
    assert "The certificates to trust, PEM, for a service with TLS." in words


def test_the_variable_names_the_service_and_the_flag_goes_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ROLLBOOK_SERVICE` spares users the flag; the flag overrides it."""
    usual, other = (f"127.0.0.1:{free_port()}" for _ in range(2))
    monkeypatch.setenv("ROLLBOOK_SERVICE", usual)
    for words, where in ((("tail",), usual), (("tail", "--service", other), other)):
        code, out, err = asyncio.run(rollbook(*words))
        assert (3, "", True) == (code, out, f"no service answers at {where}" in err), err


def test_a_service_without_guests_tells_its_keys_to_anybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Users without a token can fetch the keys to check signatures; head keys come first."""
    words = ["serve", "--data", str(tmp_path), "--listen", "127.0.0.1:0", "--no-guests"]
    with started([sys.executable, "-m", "rollbook", *words]) as service:
        code, out, err = asyncio.run(rollbook("tail", "--service", service.address))
        assert (1, "", True) == (code, out, "the service refuses" in err), err
        code, out, _ = asyncio.run(rollbook("key", "--service", service.address, "--published"))
        monkeypatch.setenv("ROLLBOOK_SERVICE", service.address)
        assert (code, out) == asyncio.run(rollbook("key", "--published"))[:2]
    keys = ServiceKeys.in_directory(tmp_path)
    known = keys_of_service(keys.head.published.values(), keys.replay.published.values(), keys.head.key_id)
    assert (0, write_keys(known)) == (code, out)


def test_the_name_of_a_service_is_the_same_from_its_data_directory_and_over_the_network(tmp_path: Path) -> None:
    """The name is stored in the directory and used by later starts, so that both lists of keys fit into one file."""

    def published(*words: str) -> str:
        code, out, err = asyncio.run(rollbook("key", *words, "--published"))
        assert 0 == code, err
        return out

    start = [sys.executable, "-m", "rollbook", "serve", "--data", str(tmp_path), "--listen", "127.0.0.1:0"]
    for words, name in ((["--name", "Köln"], "Köln"), ([], "Köln"), (["--name", "Bonn am Rhein"], "Bonn am Rhein")):
        with started([*start, *words]) as service:
            asked = published("--service", service.address)
        listed = published(str(tmp_path))
        assert {name} == {key.name for key in read_keys(listed + asked).values()}
        for file in ("head.key", "replay.key"):
            assert published(str(tmp_path / file)) in listed
    (tmp_path / "service.name").write_text(" \n")
    code, out, err = asyncio.run(rollbook("key", str(tmp_path), "--published"))
    assert (1, "", True) == (code, out, "service.name: a name has 1 to 100 printable characters" in err)
