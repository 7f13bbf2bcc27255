"""Conversions between objects, bytes and text: events, moves, messages, the plain form."""
