"""The toy's own package is no part of this one: whoever wants it makes it visible, as an installation would."""

collect_ignore = ["toy"]
