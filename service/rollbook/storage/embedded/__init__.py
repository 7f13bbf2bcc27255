"""The embedded store: its server process and its data directory."""
