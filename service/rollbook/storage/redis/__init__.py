"""Matches in Redis or Valkey: one server, Sentinel or a cluster."""
