"""Rollbook: an event-sourced match service for dice and card games."""

from typing import Final

__version__ = "0.1.0"

DEFAULT_ADDRESS: Final = "127.0.0.1:50051"
"""Where `rollbook serve` listens, and clients look for it, unless they are told otherwise."""
