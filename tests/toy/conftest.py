"""The toy is a package of its own; tests that need it make it importable, as an installation would."""

collect_ignore = ["toy"]
