"""Replay files and the text files that go with them: keys, heads."""
