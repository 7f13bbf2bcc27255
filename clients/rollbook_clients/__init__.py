"""Clients of Rollbook: whoever plays, watches and replays matches."""
