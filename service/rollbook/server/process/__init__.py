"""Processes of a service: start, shared ports and keys, stop and restart."""
