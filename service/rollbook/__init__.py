"""Rollbook: an event-sourced match service for dice and card games."""

from typing import Final

__version__ = "0.1.0"

DEFAULT_ADDRESS: Final = "127.0.0.1:50051"
"""Where `rollbook serve` listens, and clients look for it, unless they are told otherwise."""

DEFAULT_WEB: Final = "127.0.0.1:8080"
"""Where the page is found in a browser, unless it is told otherwise."""

GATEWAY: Final = "rollbook-gateway"
"""In the metadata of a call that is passed on for somebody else: a token of the role gateway, `Bearer …`.

Where the call comes from stands in x-forwarded-for then.
"""
