"""What all tests rely on."""

from __future__ import annotations

import signal

# Whatever was started in the background of a script ignores Ctrl-C, and so do all processes that it starts; those that
# the tests start have to hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)
