"""`rollbook serve`: the match service, with everything it needs."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage
from rollbook.cli.worker import WORDS
from rollbook.server.configuration.flags import FLAGS
from rollbook.server.configuration.table import Setting

if TYPE_CHECKING:
    from rollbook.server.configuration.settings import Settings
    from rollbook.server.process.lifecycle import Assemble
    from rollbook.server.process.ports import Listening
    from rollbook.server.process.signals import Shutdown


def serve(
    *,
    config: Annotated[Path | None, Parameter(env_var="ROLLBOOK_CONFIG")] = None,
    show_config: Annotated[bool, Parameter(negative="")] = False,
    example: Annotated[bool, Parameter(negative="")] = False,
    **flags: Any,
) -> int:
    """Run the match service: its store, gRPC, health and reflection.

    It runs until SIGTERM or Ctrl-C: then it refuses new calls, finishes those in progress, and ends with exit code 0.
    After a second signal it ends at once (130). However it ends, nothing that was acknowledged is lost. Exit code 1 if
    it cannot start, such as with a data directory or a port in use, or if a worker cannot be restarted; 3 if a key file
    or issuer file cannot be read; 64 if a flag, a variable or the file of --config has an impossible value.

    Every setting can be given by flag, by environment variable, or in the file of --config, in this order. Limits have
    no flags: they are in the file under [limits], and the variable of the limit `matches` is ROLLBOOK_LIMITS_MATCHES.
    --show-config lists and explains all.

    Example: `rollbook serve --demo`

    Parameters
    ----------
    config
        A TOML file with settings, named like the flags with _ for -. Relative paths in it start at the working
        directory.
    show_config
        Print all settings and where they come from, as a file for --config, without passwords, and end.
    example
        Print such a file with the defaults, and end.
    """
    from rollbook.server.configuration.page import page  # noqa: PLC0415 - see above
    from rollbook.server.configuration.settings import SettingRefused  # noqa: PLC0415 - see above
    from rollbook.server.configuration.sources import configure  # noqa: PLC0415 - see above

    given = {name: value for name, value in flags.items() if value is not None}
    try:
        configuration = configure({}, {}, None) if example else configure(given, os.environ, config)
        settings = configuration.settings()
    except SettingRefused as refused:
        return usage(f"{refused}\nrollbook serve --help explains it")
    if show_config or example:
        print(page(configuration), end="")
        return Exit.GOOD
    if is_supervised(settings):
        return supervise(settings, WORDS)
    from rollbook.server.app import assemble  # noqa: PLC0415 - see above

    return run(settings, assemble)


def _parameter(setting: Setting) -> inspect.Parameter:
    """The command-line parameter of a setting; None by default, so that variable, file or default apply."""
    shown = Parameter(
        help=f"{setting.about.help} [env var: {setting.variable}]",
        negative=None if setting.default is True else "",
        consume_multiple=isinstance(setting.default, tuple),
    )
    return inspect.Parameter(
        setting.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[setting.kind, shown],
    )


_SIGNATURE: Final = inspect.signature(serve)
_OWN: Final = [each for each in _SIGNATURE.parameters.values() if each.kind is inspect.Parameter.KEYWORD_ONLY]
serve.__signature__ = _SIGNATURE.replace(  # type: ignore[attr-defined]  # it is what `inspect` looks at
    parameters=[*_OWN, *map(_parameter, FLAGS)]
)


def run(settings: Settings, assemble: Assemble) -> Exit:
    """Run a service with the servicers that `assemble` makes; prints the reason if it cannot start."""
    from rollbook.server.process.lifecycle import serve as serve_until_signalled  # noqa: PLC0415 - see above

    return end_of(lambda: serve_until_signalled(settings, assemble, _listening), settings)


def supervise(settings: Settings, worker: Sequence[str]) -> Exit:
    """Run a service of several workers, started by `worker`; prints the reason if it cannot start."""
    from rollbook.server.process.supervisor import supervise as supervise_until_signalled  # noqa: PLC0415 - see above

    return end_of(lambda: supervise_until_signalled(settings, worker, _listening), settings)


def end_of(service: Callable[[], Coroutine[Any, Any, Shutdown]], settings: Settings) -> Exit:
    """Run a service or a part of one to its end; prints the reason if it cannot start."""
    from rollbook import event_loop  # noqa: PLC0415 - see above
    from rollbook.identity.service_keys import KeyFileRefused, KeyFileUnreadable  # noqa: PLC0415 - see above
    from rollbook.server import log_output  # noqa: PLC0415 - see above
    from rollbook.server.process.child_process import CompanionMissing  # noqa: PLC0415 - see above
    from rollbook.server.process.ports import NotListening  # noqa: PLC0415 - see above
    from rollbook.server.process.signals import Shutdown  # noqa: PLC0415 - see above
    from rollbook.server.process.workers import WorkerFailed  # noqa: PLC0415 - see above
    from rollbook.storage.embedded.data_directory import DataDirectoryRefused  # noqa: PLC0415 - see above
    from rollbook.storage.embedded.server import ServerFailed, ServerNotFound  # noqa: PLC0415 - see above
    from rollbook.storage.port import StoreUnavailable  # noqa: PLC0415 - see above

    log_output.configure(settings.log_level, worker=settings.worker)
    pid_file = None if settings.worker else settings.pid_file
    try:
        ended = event_loop.run(service())
    except KeyFileUnreadable as refused:
        return _refuse(refused, Exit.UNREADABLE)
    except WorkerFailed as failed:
        return _refuse(failed, Exit.UNREADABLE if failed.code == Exit.UNREADABLE else Exit.WRONG)
    except (
        CompanionMissing, DataDirectoryRefused, KeyFileRefused, NotListening,
        ServerFailed, ServerNotFound, StoreUnavailable,
    ) as refused:  # fmt: skip
        return _refuse(refused, Exit.WRONG)
    except OSError as failure:
        where = f"{failure.filename}: " if failure.filename else ""
        return _refuse(f"{where}{failure.strerror or failure}", Exit.WRONG)
    finally:
        if pid_file is not None:
            _remove_pid(pid_file)
    return Exit.GOOD if ended is Shutdown.DRAINED else Exit.INTERRUPTED


def is_supervised(settings: Settings) -> bool:
    """Whether to run several workers; only on Linux they share a port fairly and end with their supervisor."""
    if settings.workers > 1 and sys.platform != "linux":
        print("rollbook serve: --workers: there is one worker; only on Linux there can be more", file=sys.stderr)
    return settings.workers > 1 and sys.platform == "linux"


def _listening(listening: Listening) -> None:
    from rollbook.files import write_file  # noqa: PLC0415 - see above
    from rollbook.server.log_output import announce  # noqa: PLC0415 - see above
    from rollbook.storage.redis.address import parse  # noqa: PLC0415 - see above

    settings = listening.settings
    if settings.pid_file is not None:
        write_file(settings.pid_file, _own_pid())
    announce(
        f"listening on {listening.address}",
        address=str(listening.address),
        data=str(settings.data),
        durability=settings.durability,
        head_key_id=listening.head_key_id,
        store="its own" if settings.redis is None else str(parse(settings.redis)),
        tls=settings.tls is not None,
        workers=settings.workers,
    )


def _own_pid() -> bytes:
    return f"{os.getpid()}\n".encode()


def _remove_pid(path: Path) -> None:
    """Remove the file unless it is another process's."""
    with suppress(OSError):
        if path.read_bytes() == _own_pid():
            path.unlink()


def _refuse(why: object, code: Exit) -> Exit:
    print(f"rollbook serve: {why}", file=sys.stderr)
    return code
