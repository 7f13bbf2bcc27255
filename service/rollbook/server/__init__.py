"""The match service: commands append events to a log, and clients receive events from that log."""
