"""Clients of Rollbook: whoever plays, watches and replays matches."""

from typing import Final

DEFAULT_ADDRESS: Final = "127.0.0.1:50051"
"""Where `rollbook serve` listens unless it is told otherwise."""
