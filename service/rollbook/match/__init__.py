"""A match as a log of events: fair dice, the fold, the plain form. Pure: nothing here reads a clock or a socket."""
