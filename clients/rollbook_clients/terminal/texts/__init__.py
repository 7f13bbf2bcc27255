"""What the terminal says, a module for each language; all of them have the same keys."""
