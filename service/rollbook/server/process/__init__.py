"""Processes of a service: how they start, share ports and keys, stop, and start again."""
