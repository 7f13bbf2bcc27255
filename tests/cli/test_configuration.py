"""The settings of `rollbook serve` by flag, variable and file, which values are refused, and `--show-config`."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import socket
import tomllib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

import grpc
import pytest

from rollbook.cli.app import run
from rollbook.cli.commands.serve import serve
from rollbook.server.configuration.flags import Flags
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.configuration.settings import SettingRefused, Settings
from rollbook.server.configuration.sources import EVERY, configure
from rollbook.server.configuration.table import About, NumberOrAuto, Setting, settings_of
from rollbook.storage.embedded.server import find_server
from rollbook.v1 import identity_pb2, match_pb2
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from tests.cli.test_serve import ANY_PORT, SERVE, done
from tests.server.rpc.talking import refused
from tests.server.serving import Service, started, until
from tests.storage.servers import running

Say: TypeAlias = Callable[..., tuple[int, str, str]]

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""The first bytes of an HTTP/2 client; a server that accepts them replies with its own settings."""

TEXTS = {
    "listen": "127.0.0.1:7",
    "redis": "redis://127.0.0.1:7",
    "archive": "/archive",
    "metrics": "127.0.0.1:8",
    "reserved_names": os.devnull,
    "web": "127.0.0.1:9",
    "web_host": ("games.example", "games.example:8443"),
}
"""Values for settings that do not accept any text."""

NEEDED_TOO = {
    "tls_cert": "tls_key = '/key'\n",
    "tls_key": "tls_cert = '/certificate'\n",
    "redis_ca": "redis = 'rediss://127.0.0.1:7'\n",
    "redis_cert": "redis = 'rediss://127.0.0.1:7'\nredis_key = '/key'\n",
    "redis_key": "redis = 'rediss://127.0.0.1:7'\nredis_cert = '/certificate'\n",
}
"""Lines of the file for settings that need another one."""

COUNTED_IN_THE_STORE = re.compile(r"limits\.(.*matches|.*seats|guests|play_now)(_per.*)?")
"""Limits counted in the store for all processes together; every other limit is per process."""


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    """Run `rollbook serve` with these words and variables; return exit code, output and error output."""
    for name in [name for name in os.environ if name.startswith("ROLLBOOK_")]:
        monkeypatch.delenv(name)

    def said(*words: str, **environment: str) -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            code = run(["serve", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return said


def other_than_default(setting: Setting) -> Any:
    """Return an allowed value that differs from the default."""
    if setting.kind is bool:
        return not setting.default
    if setting.kind in {int, float, NumberOrAuto}:
        default = setting.about.most if setting.default is None else setting.default
        return default + 1 if default + 1 <= setting.about.most else default / 2
    if get_origin(setting.kind) is Literal:
        return next(value for value in get_args(setting.kind) if value != setting.default)
    if get_origin(setting.kind) is tuple:
        return ("/one", "/two") if get_args(setting.kind)[0] is Path else TEXTS.get(setting.name, ("10.0.0.0/8", "::1"))
    return TEXTS.get(setting.name, "/elsewhere" if setting.kind is Path else "some-text")


def in_file(setting: Setting, value: Any) -> str:
    """The setting as lines of a TOML file."""
    text = setting.toml(value)
    return f"[{setting.section}]\n{setting.name} = {text}\n" if setting.section else f"{setting.name} = {text}\n"


def in_variable(setting: Setting, value: Any) -> str:
    """The value as the text of a variable."""
    if isinstance(value, tuple):
        return (os.pathsep if get_args(setting.kind)[0] is Path else " ").join(value)
    return str(value)


def as_flag(setting: Setting, value: Any) -> list[str]:
    """The setting as words on the command line."""
    if setting.kind is bool:
        return [setting.flag if value else f"--no-{setting.name}"]
    return [setting.flag, *(value if isinstance(value, tuple) else [str(value)])]


def shown(page: str, setting: Setting) -> Any:
    """The value that the output of `--show-config` has for the setting."""
    document = tomllib.loads(page)
    return (document[setting.section] if setting.section else document)[setting.name]


def source(page: str, setting: Setting) -> str:
    """The source of the value according to the output of `--show-config`."""
    (line,) = [line for line in page.splitlines() if re.match(rf"(# )?{setting.name} =", line)]
    return line.rpartition("  # ")[2]


def test_every_flag_and_every_limit_is_in_the_table() -> None:
    """The command line has no other flags, except the ones that select a configuration."""
    assert {field.name for field in fields(Flags)} | {f"limits.{field.name}" for field in fields(Limits)} == set(EVERY)
    on_the_command_line = {key for key, setting in EVERY.items() if not setting.section} | {
        "config",
        "show_config",
        "example",
    }
    assert on_the_command_line == set(inspect.signature(serve).parameters)
    assert len(EVERY) == len({setting.variable for setting in EVERY.values()})
    assert len(EVERY) == len({setting.name for setting in EVERY.values()})


def test_what_a_setting_counts_is_said_with_it(say: Say) -> None:
    """Operators of several processes must see whether a limit is per process or for all together."""
    counted = {key for key in EVERY if COUNTED_IN_THE_STORE.fullmatch(key)}
    assert counted == {key for key, setting in EVERY.items() if setting.about.scope == "store"}
    _, page, _ = say("--show-config")
    before = dict(re.findall(r"((?:^# .*\n)+)(\w+) = ", page.partition("[limits]")[2], re.MULTILINE))
    explained = {f"limits.{name}": " ".join(comment.replace("# ", "").split()) for comment, name in before.items()}
    assert {key for key in EVERY if key.startswith("limits.")} == set(explained)
    for key, comment in explained.items():
        scope = "for all processes, counted in the store" if key in counted else "for each process"
        assert comment.endswith(f"; {scope}."), key


@pytest.mark.parametrize("key", EVERY)
def test_a_setting_can_be_given_in_every_way(key: str, say: Say, tmp_path: Path) -> None:
    """A flag overrides a variable, and a variable overrides the file.

    The output of `--show-config` names the source and is itself a valid file.
    """
    setting = EVERY[key]
    value, file = other_than_default(setting), tmp_path / "rollbook.toml"
    tls = NEEDED_TOO.get(setting.name, "")
    file.write_text(tls + in_file(setting, value), "utf-8")
    plain = list(value) if isinstance(value, tuple) else value
    code, page, complaint = say("--show-config", "--config", str(file))
    assert (0, plain, f'file "{file}"') == (code, shown(page, setting), source(page, setting)), complaint
    again = tmp_path / "again.toml"
    again.write_text(page, "utf-8")
    _, given_back, _ = say("--show-config", ROLLBOOK_CONFIG=str(again))
    assert tomllib.loads(page) == tomllib.loads(given_back)
    file.write_text(tls, "utf-8")
    code, page, complaint = say(
        "--show-config", "--config", str(file), **{setting.variable: in_variable(setting, value)}
    )
    assert (0, plain, f"variable {setting.variable}") == (code, shown(page, setting), source(page, setting)), complaint
    if not setting.section:
        against = {setting.variable: in_variable(setting, setting.default)} if setting.default else {}
        words = ["--show-config", "--config", str(file), *as_flag(setting, value)]
        code, page, complaint = say(*words, **against)
        assert (0, plain, f"flag {setting.flag}") == (code, shown(page, setting), source(page, setting)), complaint


def test_without_a_word_the_defaults_hold(say: Say) -> None:
    """They are shown as defaults; a missing value is explained in words."""
    _, page, _ = say("--show-config")
    assert {"default"} == {source(page, setting).partition(":")[0] for setting in EVERY.values()}
    assert "default: a server of its own" == source(page, EVERY["redis"])
    assert Settings.read() == configure({}, {}).settings()
    assert all(setting.about.unset for setting in EVERY.values() if setting.default is None)


def test_help_names_every_flag_with_its_variable() -> None:
    """Containers are configured by variables, so the help lists the flag and the variable of each setting."""
    explained = " ".join(done("--help").stdout.replace("│", " ").split())
    for setting in EVERY.values():
        if not setting.section:
            assert setting.flag in explained
            assert f"[env var: {setting.variable}]" in explained


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[limits]\nconections = 5", "limits.conections: there is no such setting; did you mean limits.connections?"),
        ("connections = 5", "connections: there is no such setting; did you mean limits.connections?"),
        ("tls-cert = 'a'", "tls-cert: there is no such setting; did you mean tls_cert?"),
        ("zzz = 5", "zzz: there is no such setting; rollbook serve --show-config lists all there are"),
        ("[other]\nmatches = 5", "other: there is no such setting"),
        ("[limts]\nmatches = 5", "limts: there is no such setting; did you mean limits?"),
        ("limits = 5", "limits: a table, which begins with the line [limits]"),
        ("[[limits]]\nmatches = 5", "limits: a table, which begins with the line [limits]"),
        ("[limits]\nmatches = true", "limits.matches: a whole number, 0 to 1000000000, not true"),
        ("workers = 0", "workers: a whole number, 1 to 256, or auto, not 0"),
        ("workers = 'all'", "workers: a whole number, 1 to 256, or auto, not 'all'"),
        ("[limits]\nmatches = -1", "limits.matches: a whole number, 0 to 1000000000, not -1"),
        ("[limits]\nmatches = '5'", "limits.matches: a whole number, 0 to 1000000000, not '5'"),
        ("[limits]\nmatches = 5.0", "limits.matches: a whole number, 0 to 1000000000, not 5.0"),
        ("[limits]\nmatches = [5]", "limits.matches: a whole number, 0 to 1000000000, not such a list"),
        ("[limits]\nmatches = 2026-11-19", "limits.matches: a whole number, 0 to 1000000000, not a time"),
        (f"[limits]\nmatches = 1{'0' * 500}", "limits.matches: a whole number, 0 to 1000000000, not one so long"),
        (f"[limits]\nmatches = 1{'0' * 5_000}", "this is no TOML: "),
        ("[limits]\nconnections = 0", "limits.connections: a whole number, 1 to 1000000000, not 0"),
        ("[limits.connections]\nall = 0", "limits.connections: a whole number, 1 to 1000000000, not a table"),
        ("[limits]\nrequests_per_second = nan", "limits.requests_per_second: a number, 0.001 to 1000000000, not nan"),
        ("[limits]\nrequests_per_second = inf", "limits.requests_per_second: a number, 0.001 to 1000000000, not inf"),
        ("[limits]\nrequests_per_second = 0", "limits.requests_per_second: a number, 0.001 to 1000000000, not 0"),
        ("[limits]\nrequests_per_second = true", "limits.requests_per_second: a number, 0.001 to 1000000000, not true"),
        (f"[limits]\nrequests_per_second = 1{'0' * 400}", "limits.requests_per_second: a number, 0.001 to"),
        ("demo = 1", "demo: true or false, not 1"),
        ("data = ''", "data: a path, not ''"),
        ("data = 'a\\u0000'".replace("'", '"'), "data: a path, not 'a\\x00'"),
        ("data = '~nobody-at-all/x'", "data: '~nobody-at-all/x' is in the home of nobody here"),
        ("archive = '~nobody-at-all/x'", "archive: '~nobody-at-all/x' is in the home of nobody here"),
        ("trust_issuer = 'a'", "trust_issuer: a list of paths, not 'a'"),
        ("trust_issuer = [5]", "trust_issuer: a list of paths, not such a list"),
        ("trust_proxy = ['nowhere']", "trust_proxy: an address or a network such as 10.0.0.0/8"),
        (
            "durability = 'fsnyc'",
            (
                "durability: one of fsync, relaxed, replicated, replicated-memory, quorum, not 'fsnyc'; did you mean"
                " fsync?"
            ),
        ),
        ("listen = 'nowhere'", "listen: 'nowhere' is not host:port"),
        ("redis = 'http://x'", "redis: http:// is not known"),
        ("config = 'x'", "config: there is no such setting"),
        ("demo =", "this is no TOML: "),
        ("demo = true\ndemo = true", "this is no TOML: "),
        ("a = " + "[" * 100_000, "this is no TOML: "),
    ],
)
def test_a_file_that_cannot_hold_is_refused(text: str, says: str, say: Say, tmp_path: Path) -> None:
    """The service exits with 64 and one sentence: the file, the key and what is allowed."""
    file = tmp_path / "rollbook.toml"
    file.write_text(text, "utf-8")
    code, out, complaint = say("--show-config", "--config", str(file))
    assert (64, "") == (code, out)
    assert complaint.startswith(f"{file}: {says}")


def test_a_file_that_cannot_be_read_is_refused(say: Say, tmp_path: Path) -> None:
    """A missing file, a directory, and bytes that are no text."""
    absent, binary = tmp_path / "absent.toml", tmp_path / "binary.toml"
    binary.write_bytes(b"data = '\xff'")
    for file, says in (
        (absent, "cannot be read: No such file or directory"),
        (tmp_path, "cannot be read: Is a directory"),
        (binary, "this is no TOML: not UTF-8"),
    ):
        code, _, complaint = say("--config", str(file))
        assert (64, f"{file}: {says}") == (code, complaint.splitlines()[0])


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("ROLLBOOK_LIMITS_CONECTIONS", "5", "there is no such setting; did you mean ROLLBOOK_LIMITS_CONNECTIONS?"),
        ("ROLLBOOK_LIMITS_MATCHES", "many", "a whole number, 0 to 1000000000, not 'many'"),
        ("ROLLBOOK_LIMITS_MATCHES", "1.5", "a whole number, 0 to 1000000000, not 1.5"),
        ("ROLLBOOK_LIMITS_MATCHES", "", "a whole number, 0 to 1000000000, not ''"),
        ("ROLLBOOK_LIMITS_MATCHES", "-1", "a whole number, 0 to 1000000000, not -1"),
        ("ROLLBOOK_LIMITS_MATCHES", "9" * 5_000, "a whole number, 0 to 1000000000, not one so long"),
        ("ROLLBOOK_LIMITS_REQUESTS_PER_SECOND", "nan", "a number, 0.001 to 1000000000, not nan"),
        ("ROLLBOOK_WORKERS", "all", "a whole number, 1 to 256, or auto, not 'all'"),
        ("ROLLBOOK_WORKERS", "257", "a whole number, 1 to 256, or auto, not 257"),
        ("ROLLBOOK_DEMO", "perhaps", "true or false, not 'perhaps'"),
        ("ROLLBOOK_DATA", "", "a path, not ''"),
        ("ROLLBOOK_LISTEN", "0.0.0.0:1", "0.0.0.0 can be reached from other machines"),
        ("ROLLBOOK_ARCHIVE_AFTER", "604801", "a whole number, 0 to 604800, not 604801"),
    ],
)
def test_a_variable_that_cannot_hold_is_refused(name: str, value: str, says: str, say: Say) -> None:
    """The message names the variable, also a misspelt one that begins with `ROLLBOOK_`."""
    code, _, complaint = say("--show-config", **{name: value})
    assert (64, True) == (code, complaint.startswith(f"{name}: {says}")), complaint


def test_the_number_of_workers_may_be_found_out(say: Say, tmp_path: Path) -> None:
    """`auto` works by variable, file and flag."""
    file = tmp_path / "rollbook.toml"
    file.write_text('workers = "auto"\n', "utf-8")
    workers = EVERY["workers"]
    for words, environment in (
        (["--workers", "auto"], {}),
        ([], {"ROLLBOOK_WORKERS": "auto"}),
        (["--config", str(file)], {}),
    ):
        code, page, complaint = say("--show-config", *words, **environment)
        assert (0, "auto") == (code, shown(page, workers)), complaint
    refused_code, *complaints = say("--show-config", "--workers", "all")
    assert (64, True) == (refused_code, "workers" in "".join(complaints))


def test_other_variables_are_left_alone(say: Say) -> None:
    """Variables of the commands that call a service may be set as well."""
    assert 0 == say("--show-config", ROLLBOOK_SERVICE="elsewhere:1", ROLLBOOK_LIMIT="5")[0]


@pytest.mark.parametrize(
    "url",
    [
        "redis://hush@127.0.0.1:7",
        "redis://anna:hush@127.0.0.1:7/3",
        "rediss+sentinel://:hush@127.0.0.1/name?sentinel_password=hush",
        "redis+sentinel://127.0.0.1/name?sentinel_passwor%64=hush",
        "redis+sentinel://user:1/hush@host",
        "unix://:hush@/run/store.sock",
    ],
)
def test_a_password_is_not_shown_and_its_gap_is_not_taken_for_one(url: str, say: Say, tmp_path: Path) -> None:
    """The output may be shared. It cannot be used as a file until the credentials are given again."""
    _, page, complaint = say("--show-config", ROLLBOOK_REDIS=url)
    assert "***" in shown(page, EVERY["redis"]), complaint
    assert "hush" not in page
    file = tmp_path / "rollbook.toml"
    file.write_text(page, "utf-8")
    code, _, complaint = say("--config", str(file))
    assert (64, True) == (code, complaint.startswith(f"{file}: redis: *** stands for credentials"))
    code, again, _ = say("--show-config", "--config", str(file), ROLLBOOK_REDIS=url)
    assert (0, tomllib.loads(page)) == (code, tomllib.loads(again))


def test_a_password_is_not_shown_in_refusals(say: Say, tmp_path: Path) -> None:
    """A value of the wrong type or form does not leak the password either."""
    file = tmp_path / "rollbook.toml"
    for text in ("redis = ['redis://:hush@host']", "redis = 'redis://a:hush/hush@host:port'", "redis = {url = 'hush'}"):
        file.write_text(text, "utf-8")
        code, _, complaint = say("--config", str(file))
        assert (64, True, False) == (code, "redis: " in complaint, "hush" in complaint)


def test_a_field_of_a_table_is_all_there_is_to_a_setting() -> None:
    """Variable, key and messages follow from the field; a field without a description is refused."""

    @dataclass
    class Shelf:
        books: int = 7

    Shelf.__annotations__["books"] = Annotated[int, About("How many there are.", least=0, most=50, scope="store")]
    (books,) = settings_of(Shelf, "shelf")
    assert ("shelf.books", "ROLLBOOK_SHELF_BOOKS", 7) == (books.key, books.variable, books.default)
    assert (0, 50) == (books.of_toml(0), books.of_text("50"))
    with pytest.raises(ValueError, match="a whole number, 0 to 50, not 51"):
        books.of_text("51")
    Shelf.__annotations__["books"] = int
    with pytest.raises(TypeError, match="books has to say what it is"):
        settings_of(Shelf)


@pytest.mark.parametrize("key", [key for key in EVERY if key.startswith("limits.")])
def test_settings_refuse_limits_out_of_bounds(key: str) -> None:
    """Settings that code creates are held to the same limits."""
    setting = EVERY[key]
    below: Any = setting.about.least - 1
    with pytest.raises(SettingRefused) as failure:
        Settings.read(limits=Limits(**{setting.name: below}))
    assert key == failure.value.flag


def guest(channel: grpc.Channel) -> Any:
    """Sign in a guest and return the metadata for its calls."""
    token = IdentityServiceStub(channel).SignIn(identity_pb2.SignInRequest(), timeout=20, wait_for_ready=True).token
    return (("authorization", f"Bearer {token}"),)


def open_match(channel: grpc.Channel, metadata: Any, request_id: str) -> str:
    """Open a match and return its id."""
    request = match_pb2.OpenMatchRequest(request_id=request_id, seats=2)
    request.options.cant_stop.SetInParent()
    opened = MatchServiceStub(channel).OpenMatch(request, timeout=20, metadata=metadata, wait_for_ready=True)
    return opened.match_id


def test_two_processes_go_by_one_file(tmp_path: Path) -> None:
    """Two processes share a file; a limit counted in the store covers both.

    Only the data directories differ, by variable.
    """
    file, first, second = tmp_path / "rollbook.toml", tmp_path / "first", tmp_path / "second"
    words = [*SERVE, "--config", str(file)]
    with running(find_server(), tmp_path / "store") as store, ExitStack() as stack:
        at_top = f"listen = '{ANY_PORT}'\nredis = '{store.url}'\ndurability = 'relaxed'\n"
        file.write_text(f"{at_top}[limits]\nmatches_per_subject = 1\n", "utf-8")
        one = stack.enter_context(started(words, env={"ROLLBOOK_DATA": str(first)}))
        assert one.address
        second.mkdir()
        for key in first.glob("*.key*"):
            shutil.copy2(key, second)
        two = stack.enter_context(started(words, env={"ROLLBOOK_DATA": str(second)}))
        assert ["relaxed", "relaxed"] == [each.line("listening")["durability"] for each in (one, two)]
        at_one, at_two = stack.enter_context(one.channel()), stack.enter_context(two.channel())
        anna = guest(at_one)
        assert open_match(at_one, anna, "open-the-match")
        for channel in (at_two, at_one):
            with pytest.raises(grpc.RpcError) as failure:
                open_match(channel, anna, "open-another")
            told = refused(failure.value)  # type: ignore[arg-type]  # it has the same methods
            assert ("TOO_MANY_MATCHES", "1") == (told.reason, told.facts["limit"])
        assert open_match(at_two, guest(at_two), "open-the-match")


def connected(service: Service) -> socket.socket | None:
    """Open a connection; return None if the service closes it at once."""
    host, _, port = service.address.rpartition(":")
    one = socket.create_connection((host, int(port)), timeout=20)
    try:
        one.sendall(PREFACE)
        if one.recv(1):
            return one
    except ConnectionError:
        pass
    one.close()
    return None


def test_connections_have_a_bound(tmp_path: Path) -> None:
    """The 11th of 10 connections is closed; after one closes, another is accepted."""
    env = {"ROLLBOOK_LIMITS_CONNECTIONS": "10"}
    with started([*SERVE, "--data", str(tmp_path), "--listen", ANY_PORT], env=env) as service, ExitStack() as stack:
        taken = [one for one in (connected(service) for _ in range(11)) if one is not None]
        for one in taken:
            stack.enter_context(one)
        assert 10 == len(taken)
        assert connected(service) is None
        taken[0].close()
        stack.enter_context(until(lambda: connected(service), service))
        assert connected(service) is None
