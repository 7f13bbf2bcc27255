"""Settings as an operator gives them: by flag, by environment, in a file, or not at all."""
