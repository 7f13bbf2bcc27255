"""`rollbook check`: checks matches in the plain form against rules and dice."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage, worst
from rollbook.match.check import Wrong
from rollbook.match.check import check as check_lines
from rollbook.match.codec.notation import LONGEST_LINE
from rollbook.match.fold import MOST_EVENTS


def check(
    *files: Path,
    unfinished: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Check matches in the plain form: rules, dice and result.

    Prints `FILE: good`, or `FILE:LINE: reason` for the first error in each. Exit code 0 if all are good, 1 if one is
    wrong, 3 if one cannot be read, 2 if one hides cards that are not revealed yet.

    Example: `rollbook tail MATCH | tee match.jsonl; rollbook check match.jsonl`

    Parameters
    ----------
    files
        Files in the plain form, such as `rollbook simulate --out` writes.
    unfinished
        Accept a match whose seal is missing; its dice are not proved.
    as_json
        For programs: one JSON object for each file, a line each.
    """
    if not files:
        return usage("check needs at least one file")
    codes = set()
    for file in files:
        code, facts = _check_file(file, unfinished=unfinished)
        codes.add(code)
        print(json.dumps({"file": str(file), **facts}, ensure_ascii=False) if as_json else _words(file, facts))
        sys.stdout.flush()
    return worst(codes)


def _check_file(file: Path, *, unfinished: bool) -> tuple[Exit, dict[str, Any]]:
    try:
        checked = check_lines(_lines(file), unfinished=unfinished)
    except Wrong as wrong:
        return Exit.WRONG, {"verdict": "wrong", "line": wrong.line, "reason": wrong.reason}
    except OSError as wrong:
        return Exit.UNREADABLE, {"verdict": "unreadable", "reason": wrong.strerror or str(wrong)}
    facts = {
        "match": checked.match_id,
        "events": checked.events,
        "finished": checked.finished,
        "dice": "proved" if checked.dice_proved else "unproved",
    }
    if not checked.withheld:
        return Exit.GOOD, {"verdict": "good", **facts}
    reason = f"hidden cards: the last {checked.withheld} lines could not be refolded"
    return Exit.UNVERIFIED, {"verdict": "unverified", **facts, "reason": reason}


def _words(file: Path, facts: dict[str, Any]) -> str:
    if "line" in facts:
        return f"{file}:{facts['line']}: {facts['reason']}"
    if "match" not in facts:
        return f"{file}: {facts['reason']}"
    what = f"{facts['verdict']}, {facts['events']} events" + ("" if facts["finished"] else ", unfinished")
    return f"{file}: {what}, dice {facts['dice']}" + (f" ({facts['reason']})" if "reason" in facts else "")


def _lines(file: Path) -> Sequence[str]:
    """The lines without their ends; raises Wrong for the first line that no match can have."""
    lines: list[str] = []
    with file.open("rb") as data:
        while line := data.readline(LONGEST_LINE):
            number = len(lines) + 1
            if number > MOST_EVENTS:
                raise Wrong(number, f"no match has more than {MOST_EVENTS} events")
            if not line.endswith(b"\n"):
                long = len(line) == LONGEST_LINE
                raise Wrong(number, f"longer than {LONGEST_LINE} bytes" if long else "the line has no end")
            try:
                lines.append(line[:-1].decode("utf-8"))
            except UnicodeDecodeError:
                raise Wrong(number, "not UTF-8") from None
    return lines
