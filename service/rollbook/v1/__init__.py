"""Generated from proto/rollbook/v1 by `.ci/stubs`; nothing in here is written by hand."""
