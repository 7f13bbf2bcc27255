"""Which matches exist, who may see them, and what becomes of them when they are over."""
