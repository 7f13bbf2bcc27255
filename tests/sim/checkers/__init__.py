"""One checker per promise, by name."""
