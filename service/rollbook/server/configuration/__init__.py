"""An operator's settings: flags, environment variables, a file, and defaults."""
