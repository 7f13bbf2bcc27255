"""`python -m rollbook` is the command `rollbook`."""

from rollbook.cli.app import main

main()
