"""The web page: watch, play, replay and verify in a browser. It is a client of a service like any other."""
