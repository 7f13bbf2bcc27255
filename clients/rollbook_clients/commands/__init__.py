"""The commands of the clients, one module each."""
