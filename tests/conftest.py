"""What all tests rely on."""

from __future__ import annotations

import os
import signal

# Whatever was started in the background of a script ignores Ctrl-C, and so do all processes that it starts; those that
# the tests start have to hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Services that tests start have no page, unless a test is about it.
os.environ["ROLLBOOK_WEB"] = "off"
