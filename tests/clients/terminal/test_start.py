"""Start and end of the commands: files, names, and imported modules."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.replay_file.container import write
from rollbook_clients.terminal.profile import Profile
from tests.clients.terminal.pseudo import pseudo
from tests.clients.terminal.staging import simulated
from tests.ports import free_port

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))


def test_a_replay_file_is_looked_at_without_a_service(tmp_path: Path) -> None:
    """The file needs no service; `q` ends with exit code 0 and restores the screen."""
    file = tmp_path / "match.rollbook"
    file.write_bytes(write(simulated("allie_gator", 3), KEY))
    with pseudo(["replay", str(file)], tmp_path) as terminal:
        terminal.until("everything open")
        terminal.press("v")
        terminal.until("as the public saw it")
        terminal.press("q")
        assert 0 == terminal.ended()


@pytest.mark.parametrize("content", [b"", b"no replay at all", b"\x89ROLL\r\n\x1a" + bytes(200)], ids=len)
def test_a_file_that_is_no_replay_is_refused_with_a_reason(tmp_path: Path, content: bytes) -> None:
    """Exit code 3, with the name of the file and the reason."""
    file = tmp_path / "match.rollbook"
    file.write_bytes(content)
    with pseudo(["replay", str(file)], tmp_path) as terminal:
        assert 3 == terminal.ended()
        assert "match.rollbook: " in terminal.text.replace("\n", "")


def test_a_match_instead_of_a_file_asks_the_service(tmp_path: Path) -> None:
    """A word that names no file is taken as a match id; without a service the command explains how to start one."""
    words = ["replay", "a" * 24, "--service", f"127.0.0.1:{free_port()}"]
    with pseudo(words, tmp_path) as terminal:
        assert 1 == terminal.ended()
        assert "`rollbook serve`" in terminal.text


def test_a_name_is_kept_until_another_is_given(tmp_path: Path) -> None:
    """The name is saved without characters that a service would refuse."""
    folder = tmp_path / "state" / "rollbook"
    assert "Anna" == Profile(folder, "  Anna\x1b ").name
    assert "Anna" == Profile(folder).name
    Profile(folder).rename("Heike")
    assert "Heike" == Profile(folder, "").name
    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)


@pytest.mark.parametrize(("login", "name"), [("anna", "anna"), ("admin", ""), ("bot", "")])
def test_a_login_name_that_no_player_may_have_is_not_used(
    login: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a user starts as a guest instead of being refused."""
    monkeypatch.setenv("LOGNAME", login)
    assert name == Profile(tmp_path).name


@pytest.mark.parametrize("command", ["play", "watch", "replay"])
def test_a_command_loads_neither_grpc_nor_textual_before_it_is_called(command: str) -> None:
    """`rollbook --help` imports all commands and must not import the terminal."""
    script = f"import sys\nimport rollbook_clients.commands.{command}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set() == {"grpc", "textual"} & {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("command", ["play", "watch", "replay"])
def test_help_explains_the_command(command: str) -> None:
    """`--help` describes every flag."""
    done = subprocess.run(
        [sys.executable, "-m", "rollbook", command, "--help"], capture_output=True, text=True, check=True
    )
    assert "--language" in done.stdout
    assert "--service" in done.stdout


def test_where_the_terminal_is_not_installed_one_line_says_what_brings_it() -> None:
    """After `pip install .` without the extra the command names it, without a traceback."""
    without = "import sys; sys.modules['textual'] = None; sys.argv = ['rollbook', 'play']"
    done = subprocess.run(
        [sys.executable, "-c", f"{without}; from rollbook.__main__ import main; main()"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (1, "") == (done.returncode, done.stdout)
    assert "rollbook: textual is not installed; pip install 'rollbook[all]' brings it\n" == done.stderr
