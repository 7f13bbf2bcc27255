"""`python -m rollbook` is the command `rollbook`."""

import sys


def main() -> None:
    """Run the command; where something that it needs is not installed, say what brings it."""
    try:
        from rollbook.cli.app import main as run  # noqa: PLC0415 - the SDK is installed without a command line

        run()
    except ImportError as failure:
        # Where the module of a command cannot be imported, the cause names what it needs.
        missing = failure.__cause__ or failure
        package = str(getattr(missing, "name", None) or "rollbook").partition(".")[0]
        if not isinstance(missing, ModuleNotFoundError) or package.startswith("rollbook"):
            raise
        sys.exit(f"rollbook: {package} is not installed; pip install 'rollbook[all]' brings it")


if __name__ == "__main__":
    main()
