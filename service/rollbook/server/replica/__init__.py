"""Replicas: the matches that this process has folded, one replica each for all uses."""
