"""Feeds of matches and of the lobby."""
