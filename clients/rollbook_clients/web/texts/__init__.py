"""The texts of the page, a module a language."""
