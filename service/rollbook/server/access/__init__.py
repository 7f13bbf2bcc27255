"""Who calls: players, bots of the house, device codes, bans and limits."""
