"""The screens, a module each."""
