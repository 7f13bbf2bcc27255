"""Checkers, each of one promise, by its name."""
