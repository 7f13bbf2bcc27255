"""The page: watch, play, replay and verify in a browser; a client of a service like any other."""
