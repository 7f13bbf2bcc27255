"""`python -m rollbook` is the command `rollbook`."""

import sys


def main() -> None:
    """Run the command; where something that it needs is not installed, say what brings it."""
    try:
        from rollbook.cli.app import main as run  # noqa: PLC0415 - the SDK is installed without a command line

        run()
    except ModuleNotFoundError as missing:
        package = (missing.name or "rollbook").partition(".")[0]
        if package.startswith("rollbook"):
            raise
        sys.exit(f"rollbook: {package} is not installed; pip install 'rollbook[all]' brings it")


if __name__ == "__main__":
    main()
