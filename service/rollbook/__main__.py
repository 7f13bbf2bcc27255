"""`python -m rollbook` is the command `rollbook`."""

import sys


def main() -> None:
    """Run the command; if a package that it needs is missing, name the extra that installs it."""
    try:
        from rollbook.cli.app import main as run  # noqa: PLC0415 - the SDK is installed without a command line

        run()
    except ImportError as failure:
        # If the module of a command cannot be imported, the exception's cause names the missing module.
        missing = failure.__cause__ or failure
        package = str(getattr(missing, "name", None) or "rollbook").partition(".")[0]
        if not isinstance(missing, ModuleNotFoundError) or package.startswith("rollbook"):
            raise
        sys.exit(f"rollbook: {package} is not installed; pip install 'rollbook[all]' brings it")


if __name__ == "__main__":
    main()
