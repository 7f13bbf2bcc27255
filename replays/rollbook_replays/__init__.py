"""Replays: self-contained files of matches, and an audit that does not have to trust the service."""
