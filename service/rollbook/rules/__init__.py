"""The games as pure, deterministic rules: no clock, no randomness, no input or output.

Start reading at `game.py`, the contract that every game keeps, then at the game you look for. `catalogue.py` lists
them all.
"""
