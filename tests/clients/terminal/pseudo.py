"""A terminal in a pseudo-terminal: a program that believes to be on one, and the screen that a person would see."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyte

PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.02
SIZE = (80, 24)


class Pseudo:
    """`rollbook WORDS` on a screen of 80 by 24, or another size."""

    def __init__(
        self, words: Sequence[str], home: Path, size: tuple[int, int] = SIZE, env: Mapping[str, str] | None = None
    ) -> None:
        """Start it; `home` is where it remembers who one is."""
        columns, rows = size
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Lock()
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLORTERM"}}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rollbook", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={
                **inherited,
                "TERM": "xterm-256color",
                "LANG": "en_US.UTF-8",
                "LC_ALL": "",
                "XDG_STATE_HOME": str(home),
                **(env or {}),
            },
        )
        os.close(slave)
        self.raw = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65_536)
            except OSError:
                return
            if not data:
                return
            with self._lock:
                self.raw += data
                self._stream.feed(data)

    @property
    def lines(self) -> list[str]:
        """What is on the screen now."""
        with self._lock:
            return list(self._screen.display)

    @property
    def text(self) -> str:
        """The same as one text."""
        return "\n".join(self.lines)

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def click(self, column: int, row: int) -> None:
        """Press and release the mouse there, counted from 0."""
        self.press(f"\x1b[<0;{column + 1};{row + 1}M\x1b[<0;{column + 1};{row + 1}m")

    def until(self, condition: Callable[[str], bool] | str) -> str:
        """Wait until the screen is such, or shows these words."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            text = self.text
            if condition in text if isinstance(condition, str) else condition(text):
                return text
            assert self.process.poll() is None, f"it has ended:\n{text}"
            assert time.monotonic() < deadline, f"waited in vain for {condition}:\n{text}"
            time.sleep(POLL_SECONDS)

    def ended(self) -> int:
        """Its exit code, once it has ended and all it drew was read."""
        code = self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        return code

    def close(self) -> None:
        """Hang up, if that has not been done."""
        if self._master < 0:
            return
        self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE_SECONDS)
        os.close(self._master)
        self._master = -1


@contextmanager
def pseudo(
    words: Sequence[str], home: Path, size: tuple[int, int] = SIZE, env: Mapping[str, str] | None = None
) -> Iterator[Pseudo]:
    """One that is ended in the end, whatever happens."""
    one = Pseudo(words, home, size, env)
    try:
        yield one
    finally:
        one.close()
