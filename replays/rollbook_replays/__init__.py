"""Replays: a file that stands for itself, and an audit that trusts nobody."""
