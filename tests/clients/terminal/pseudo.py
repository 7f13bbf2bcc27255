"""Runs a program in a pseudo-terminal and emulates the screen that a person would see."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyte

PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.02
SIZE = (80, 24)
TAKE_THE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"
)
"""Makes the terminal the controlling terminal of the session, as a shell does, so that the program receives SIGHUP."""


SYNC_QUERY, SYNC_ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;1$y"
IN_A_FRAME = 2026 << 5
"""pyte's number for the mode of synchronised output: set from the first byte of a picture to its last."""
NOT_INHERITED = {"NO_COLOR", "COLORTERM", "COLUMNS", "LINES"}
"""Variables that describe another terminal than this one."""


class Pseudo:
    """`rollbook WORDS` on a screen of 80 by 24, or another size."""

    def __init__(
        self,
        words: Sequence[str],
        home: Path,
        size: tuple[int, int] = SIZE,
        env: Mapping[str, str] | None = None,
        *,
        is_told: bool = True,
        python: str = sys.executable,
    ) -> None:
        """Start the program; `home` holds the guest's data, `is_told` decides whether the program receives SIGHUP."""
        self._screen = pyte.Screen(*size)
        self._drawn: list[str] = self._screen.display
        """The last complete picture."""
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Lock()
        self._master, slave = pty.openpty()
        self.resize(size)
        self.modes_before = self.modes
        program = [python, "-m", "rollbook", *words]
        inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        self.process = subprocess.Popen(
            [python, "-c", TAKE_THE_TERMINAL, *program] if is_told else program,
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
        self._hung_up = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while not self._hung_up.is_set():
            if not select.select([self._master], [], [], POLL_SECONDS)[0]:
                continue
            try:
                data = os.read(self._master, 65_536)
            except OSError:
                return
            if not data:
                return
            with self._lock:
                # A program that asks whether synchronised output works brackets each picture with it.
                seen = len(self.raw) + 1 - len(SYNC_QUERY)
                self.raw += data
                self._stream.feed(data)
                if IN_A_FRAME not in self._screen.mode:
                    self._drawn = self._screen.display
                if SYNC_QUERY in self.raw[max(0, seen) :]:
                    os.write(self._master, SYNC_ANSWER)

    @property
    def modes(self) -> list[Any]:
        """The modes of the terminal, such as line input and echo."""
        return termios.tcgetattr(self._master)

    @property
    def lines(self) -> list[str]:
        """The lines of the last complete picture."""
        with self._lock:
            return list(self._drawn)

    @property
    def text(self) -> str:
        """The last complete picture as one text."""
        return "\n".join(self.lines)

    def resign(self) -> None:
        """Resign from the running match."""
        self.press("\x18")
        self.until("Resign?")
        self.press("\x1b[B")
        self.press("\r")

    def press(self, keys: str) -> None:
        """Type keys."""
        os.write(self._master, keys.encode())

    def click(self, column: int, row: int) -> None:
        """Press and release the mouse at a column and row, counted from 0."""
        self.press(f"\x1b[<0;{column + 1};{row + 1}M\x1b[<0;{column + 1};{row + 1}m")

    def until(self, condition: Callable[[str], bool] | str) -> str:
        """Wait until the screen meets the condition or shows the text; returns the screen."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            text = self.text
            if condition in text if isinstance(condition, str) else condition(text):
                return text
            assert self.process.poll() is None, f"it has ended:\n{text}"
            assert time.monotonic() < deadline, f"waited in vain for {condition}:\n{text}"
            time.sleep(POLL_SECONDS)

    def ended(self) -> int:
        """Wait until the program has ended and its output is read; returns its exit code."""
        code = self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        return code

    def resize(self, size: tuple[int, int]) -> None:
        """Change the size to these columns and rows."""
        columns, rows = size
        with self._lock:
            self._screen.resize(rows, columns)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def stall(self) -> None:
        """Stop reading the program's output."""
        slave = os.open(f"/proc/{self.process.pid}/fd/0", os.O_RDWR | os.O_NOCTTY)
        termios.tcflow(slave, termios.TCOOFF)
        os.close(slave)

    def hang_up(self) -> None:
        """Close the terminal, like a closed window or a lost ssh connection."""
        self._hung_up.set()
        self._reader.join(PATIENCE_SECONDS)
        os.close(self._master)
        self._master = -1

    def close(self) -> None:
        """End the program and close the terminal, if that is not done yet."""
        self.process.kill()
        self.process.wait()
        if self._master >= 0:
            self._reader.join(PATIENCE_SECONDS)
            self.hang_up()


@contextmanager
def pseudo(
    words: Sequence[str],
    home: Path,
    size: tuple[int, int] = SIZE,
    env: Mapping[str, str] | None = None,
    *,
    is_told: bool = True,
    python: str = sys.executable,
) -> Iterator[Pseudo]:
    """Start a program in a pseudo-terminal; ends it in any case."""
    one = Pseudo(words, home, size, env, is_told=is_told, python=python)
    try:
        yield one
    finally:
        one.close()
