"""Rollbook: an event-sourced match service for dice and card games."""

from typing import Final

__version__ = "0.1.0"

DEFAULT_ADDRESS: Final = "127.0.0.1:50051"
"""The default address of `rollbook serve` and of its clients."""

DEFAULT_WEB: Final = "127.0.0.1:8080"
"""The default address of the page for browsers."""

GATEWAY: Final = "rollbook-gateway"
"""Metadata key of a call that a gateway passes on: its own token, `Bearer …`, of the role gateway.

The address of the original caller is in x-forwarded-for.
"""
