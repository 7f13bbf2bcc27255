"""The coverage-guided fuzzer: `python -m tests.fuzz TARGET --seconds 600`, with `pip install -e '.[fuzz]'`.

It starts with the corpus and writes new interesting inputs to --found; small ones may be copied into the corpus. A
finding ends the run and leaves its bytes in a file `crash-…` in --found.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rollbook", "rollbook_replays"]):
    from tests.fuzz.targets import LARGEST_INPUT, TARGETS

CORPUS = Path(__file__).parent / "corpus"
MOST_SECONDS_AN_INPUT = 10
MOST_MEMORY_MB = 512


def main() -> None:
    """Fuzz for the given time."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("target", choices=TARGETS)
    words.add_argument("--seconds", type=int, default=600)
    words.add_argument("--seed", type=int, default=0, help="0: drawn, and told in the first lines")
    words.add_argument("--found", type=Path, help="a folder for what is found. Default: a new one")
    asked = words.parse_args()
    found = Path(tempfile.mkdtemp(prefix="rollbook-fuzz-")) if asked.found is None else asked.found
    found.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_len={LARGEST_INPUT}",
        f"-timeout={MOST_SECONDS_AN_INPUT}",
        f"-rss_limit_mb={MOST_MEMORY_MB}",
        f"-seed={asked.seed}",
        f"-artifact_prefix={found}/",
        f"-max_total_time={asked.seconds}",
        "-print_final_stats=1",
    ]
    print(f"what is found goes into {found}", file=sys.stderr)
    atheris.Setup([sys.argv[0], *options, str(found), str(CORPUS / asked.target)], TARGETS[asked.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
