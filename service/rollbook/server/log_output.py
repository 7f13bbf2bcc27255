"""The service's log on standard error: readable text on a terminal, otherwise one JSON object per line.

Secrets are never logged. Keys that could hold one are dropped at any depth, and anything in a text that looks like a
token or a password is replaced by `BLANK`, also in error messages of libraries. Tracebacks show code but no values of
variables.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TextIO

import structlog
from structlog.typing import Processor

if TYPE_CHECKING:
    from rollbook.identity.tokens import Subject

SECRETS: Final = frozenset(
    {"token", "authorization", "secret", "entropy", "cards", "name", "private", "metadata", "password", "hidden"}
)
"""Keys that are never logged, in upper or lower case, also as the end of a longer key such as `player_name`."""

BLANK: Final = "[withheld]"

_CALLS: Final = "grpc._cython.cygrpc"
_NO_TEXT: Final = "Invalid encoding"
_DISCONNECTED: Final = re.compile(r"ExecuteBatchError raised in core by servicer method \[(.*)\]")

_SUSPICIOUS = re.compile(r"[@\s]|\.[\w-]{10,}\.")
"""A fast first check: matches every text in which `_TELLTALE` can match, and few others."""

_TELLTALE = re.compile(
    r"(?i:bearer\s+)\S+"
    r"|(?<![\w-])[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}(?![\w-])"  # a JWT
    r"|(?<=://)[^/@\s]*(?=@)"  # user and password of a URL
)


def configure(level: str, stream: TextIO | None = None, *, worker: int = 0) -> None:
    """Send every log of this process, including those of libraries, to standard error or to `stream`.

    Every line names the worker if the process is one of several.
    """
    output = _Unfailing(sys.stderr if stream is None else stream)
    shared = [*([_naming(worker)] if worker else []), *_shared_processors()]
    ending = _ending(terminal=output.isatty())
    structlog.configure(
        processors=[*shared, *ending],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(output),  # type: ignore[arg-type]  # it needs write and flush
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(output)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *ending],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(logging.INFO, getattr(logging, level.upper())), force=True)
    logging.getLogger(_CALLS).addFilter(_is_to_be_logged)


def announce(event: str, **facts: Any) -> None:
    """Log an event at every log level."""
    settings = structlog.get_config()
    unfiltered = structlog.wrap_logger(
        settings["logger_factory"](),
        processors=settings["processors"],
        wrapper_class=structlog.make_filtering_bound_logger("notset"),
    )
    unfiltered.info(event, **facts)


OPERATOR: Final[ContextVar[dict[str, str] | None]] = ContextVar("operator", default=None)
"""For the log of the call under way: who the operator is that made it; empty for other callers."""


def note_operator(operator: Subject) -> None:
    """Let the log line of the call under way name its operator."""
    noted = OPERATOR.get()
    if noted is not None:
        noted.update(by=f"{operator.issuer}:{operator.sub}", jti=operator.jti)


def announce_act(operator: Subject, what: str, **facts: Any) -> None:
    """Log an operator's act and the operator's name at every log level."""
    announce("an operator has acted", what=what, by=f"{operator.issuer}:{operator.sub}", jti=operator.jti, **facts)


def without_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Drop keys that must not be logged, and blank texts that look like secrets.

    >>> without_secrets(None, "", {"event": "signed in", "player_name": "Anna", "found": [{"Token": 1, "match": 2}]})
    {'event': 'signed in', 'found': [{'match': 2}]}
    """
    return {key: _clean(value) for key, value in event.items() if not _is_secret(key)}


@lru_cache(1_000)
def _is_secret(key: object) -> bool:
    text = str(key).lower()
    return text in SECRETS or text.rpartition("_")[2] in SECRETS


def _clean(value: Any) -> Any:
    match value:
        case str():
            return _without_telltales(value)
        case bytes() | bytearray() | memoryview():
            return BLANK
        case bool() | int() | float() | None:
            return value
        case Mapping():
            return {key: _clean(item) for key, item in value.items() if not _is_secret(key)}
        case list() | tuple() | set() | frozenset():
            return [_clean(item) for item in value]
        case _:
            return _without_telltales(str(value))


def _without_telltales(text: str) -> str:
    return _TELLTALE.sub(BLANK, text) if _SUSPICIOUS.search(text) else text


def _is_to_be_logged(record: logging.LogRecord) -> bool:
    """Whether to log a record of gRPC, which writes an error with a traceback for mistakes that any client can make.

    Metadata that is not text is not logged; a client that disconnects while gRPC writes an answer is logged at info.
    """
    text = record.getMessage()
    if disconnected := _DISCONNECTED.match(text):
        structlog.get_logger().info("a client disconnected", method=disconnected[1], status="CANCELLED")
    return not (disconnected or text.startswith(_NO_TEXT))


def _naming(worker: int) -> Processor:
    """A processor that adds the worker's number to every event."""
    return lambda _logger, _method, event: {"worker": worker, **event}


def _shared_processors() -> list[Processor]:
    return [
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        _without_internals,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _without_internals(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Clean everything except the entries that structlog itself removes later."""
    if "_record" not in event:
        return without_secrets(logger, method, event)
    internal = {key: event[key] for key in ("_record", "_from_structlog") if key in event}
    rest = {key: value for key, value in event.items() if key not in internal}
    return {**without_secrets(logger, method, rest), **internal}


def _ending(*, terminal: bool) -> list[Processor]:
    if terminal:
        return [structlog.dev.ConsoleRenderer(colors=True, exception_formatter=structlog.dev.plain_traceback)]
    # One encoder for all lines: `json.dumps` would create a new one for each line, as its options differ from the
    # defaults.
    encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
    return [structlog.processors.JSONRenderer(lambda event, **_: encode(event))]


class _Unfailing:
    """A stream that ignores write errors, so that the service continues after its reader has exited."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()
