"""The coverage-guided fuzzer: `python -m tests.fuzz TARGET --seconds 600`, with `pip install -e '.[fuzz]'`.

It begins with the corpus; what else it finds worth keeping goes into --found, and with --merge that is made small and
added to the corpus. A finding ends it, and leaves its bytes in a file `crash-…` in --found.
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
    """Fuzz until the time is over."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("target", choices=TARGETS)
    words.add_argument("--seconds", type=int, default=600)
    words.add_argument("--seed", type=int, default=0, help="0: drawn, and told in the first lines")
    words.add_argument("--found", type=Path, help="a folder for what is found. Default: a new one")
    words.add_argument("--merge", action="store_true", help="add to the corpus what --found covers beyond it")
    asked = words.parse_args()
    found = Path(tempfile.mkdtemp(prefix="rollbook-fuzz-")) if asked.found is None else asked.found
    found.mkdir(parents=True, exist_ok=True)
    corpus = CORPUS / asked.target
    options = [
        f"-max_len={LARGEST_INPUT}",
        f"-timeout={MOST_SECONDS_AN_INPUT}",
        f"-rss_limit_mb={MOST_MEMORY_MB}",
        f"-seed={asked.seed}",
        f"-artifact_prefix={found}/",
    ]
    if asked.merge:
        folders = ["-merge=1", str(corpus), str(found)]
    else:
        folders = [f"-max_total_time={asked.seconds}", "-print_final_stats=1", str(found), str(corpus)]
    print(f"what is found goes into {found}", file=sys.stderr)
    atheris.Setup([sys.argv[0], *options, *folders], TARGETS[asked.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
