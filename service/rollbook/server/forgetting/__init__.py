"""Removes names from everything that a service keeps."""
