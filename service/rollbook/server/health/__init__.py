"""State of the process and its store, for metrics and health checks."""
