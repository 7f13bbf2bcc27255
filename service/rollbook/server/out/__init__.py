"""Everything that leaves the service about a match."""
