"""A store of the service's own: its server process and its data directory."""
