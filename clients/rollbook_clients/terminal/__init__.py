"""A terminal to play, watch and replay matches in."""
