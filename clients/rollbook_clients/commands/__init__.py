"""The commands of clients, a module each."""
