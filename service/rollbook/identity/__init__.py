"""Identities: signed tokens, player names, key files, and references to players in logs."""
