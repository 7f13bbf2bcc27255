"""The list of matches, who may see each match, and how finished matches are archived."""
