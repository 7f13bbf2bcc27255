"""`python -m rollbook` is the command `rollbook`."""

import sys


def main() -> None:
    """Run the command; where it is not installed, say what brings it."""
    try:
        from rollbook.cli.app import main as run  # noqa: PLC0415 - the SDK is installed without a command line
    except ModuleNotFoundError as missing:
        sys.exit(f"rollbook: {missing.name} is not installed; pip install 'rollbook[all]' brings the command line")
    run()


if __name__ == "__main__":
    main()
