"""The user's name and saved guest accounts on this computer."""

import getpass
from pathlib import Path
from typing import Final

from platformdirs import user_state_path

from rollbook.identity.names import ReservedNames, player_name
from rollbook.identity.refusals import NameRefused

LONGEST_NAME: Final = 40


class Profile:
    """Files in the user's state directory, with access only for the user."""

    def __init__(self, folder: Path | None = None, name: str = "") -> None:
        """Use the given name, else the saved name, else the login name."""
        self._folder = user_state_path("rollbook") if folder is None else folder
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._name_file = self._folder / "name"
        self.name = _name(name) or _name(self._kept_name()) or _name(_login())
        if _name(name):
            self.rename(name)

    @property
    def preferences(self) -> Path:
        """The file of preferences."""
        return self._folder / "preferences.json"

    @property
    def guests(self) -> Path:
        """The file of guest accounts by service, written by the SDK. Access to it gives access to the guests' seats."""
        return self._folder / "guests.json"

    def rename(self, name: str) -> None:
        """Change the name and save it."""
        self.name = _name(name)
        self._name_file.write_text(self.name, encoding="utf-8")

    def _kept_name(self) -> str:
        try:
            return self._name_file.read_text(encoding="utf-8")
        except OSError:
            return ""


def _name(said: str) -> str:
    r"""Strip and shorten a name to what the service accepts.

    >>> _name("  Anna\n"), len(_name("x" * 50))
    ('Anna', 40)
    """
    return "".join(letter for letter in said.strip() if letter.isprintable())[:LONGEST_NAME]


def _login() -> str:
    """The login name; empty if no player may have it, such as `admin`."""
    try:
        return player_name(getpass.getuser(), reserved=ReservedNames())
    except (KeyError, OSError, NameRefused):
        return ""
