"""What happens in a match, in words: one narrator for what all games share, and a module for each game."""
