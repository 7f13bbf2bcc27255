"""A match as a log of events: fair dice, the fold, the plain form. Pure: the package uses neither clock nor socket."""
