"""Clients of Rollbook: they play, watch and replay matches."""
