"""Callers: players, bots of the house, device codes, bans and limits."""
