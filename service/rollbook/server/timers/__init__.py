"""What no client requests: turns that run out, seats that do not get ready, matches that expire."""
