"""Matches as this process has folded them: one replica each, whatever it is looked at for."""
