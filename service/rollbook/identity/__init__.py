"""Who somebody is: signed tokens, the names of players, key files, and how a player is referred to in a log."""
