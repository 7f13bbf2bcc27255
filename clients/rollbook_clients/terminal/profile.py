"""Who one is at this computer: a name, and the file that makes a guest the same one next time."""

import getpass
from pathlib import Path
from typing import Final

from platformdirs import user_state_path

LONGEST_NAME: Final = 40


class Profile:
    """Lies in the user's state directory, readable by the user alone."""

    def __init__(self, folder: Path | None = None, name: str = "") -> None:
        """Be called as given, as last time, or as at this computer."""
        self._folder = user_state_path("rollbook") if folder is None else folder
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._name_file = self._folder / "name"
        self.name = _name(name) or _name(self._kept_name()) or _name(_login())
        if _name(name):
            self.rename(name)

    @property
    def preferences(self) -> Path:
        """The file of settings."""
        return self._folder / "preferences.json"

    @property
    def guests(self) -> Path:
        """The file that the SDK keeps guests in, by service: whoever has it has their seats."""
        return self._folder / "guests.json"

    def rename(self, name: str) -> None:
        """Be called this from now on."""
        self.name = _name(name)
        self._name_file.write_text(self.name, encoding="utf-8")

    def _kept_name(self) -> str:
        try:
            return self._name_file.read_text(encoding="utf-8")
        except OSError:
            return ""


def _name(said: str) -> str:
    r"""What a service takes for a name.

    >>> _name("  Anna\n"), len(_name("x" * 50))
    ('Anna', 40)
    """
    return "".join(letter for letter in said.strip() if letter.isprintable())[:LONGEST_NAME]


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
