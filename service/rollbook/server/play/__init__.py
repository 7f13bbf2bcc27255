"""Commands on matches: opening, seats, choices."""
