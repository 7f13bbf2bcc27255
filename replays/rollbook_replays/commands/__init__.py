"""The commands on replay files, a module each."""
