"""The service around matches: commands become appends, appends become answers."""
