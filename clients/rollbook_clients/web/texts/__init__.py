"""The texts of the page, one module per language."""
