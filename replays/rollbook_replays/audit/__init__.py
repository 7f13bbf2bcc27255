"""The audit of replay files."""
