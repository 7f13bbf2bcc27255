"""Tournaments: manifest, bundle and judgement."""
