"""Rollbook: an event-sourced match service for dice and card games."""

__version__ = "0.1.0"
