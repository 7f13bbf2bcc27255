"""Whether the process and its store work, as metrics and as health."""
