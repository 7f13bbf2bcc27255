"""Makes the corpus in `replays/conformance/` that tests any reader: `python -m tests.replays.conformance`.

Keys, dice and matches are fixed, so the corpus is the same byte for byte everywhere. The expected results are written
beside the forgeries in the tests, or in `corpus`, and are never copied from an audit. `replays/README.md` explains its
use.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from rollbook.replay_file.kept_heads import write_heads
from tests.remaking import asked_folder
from tests.replays.corpus import bundled, edges, forged, hostile, meanings, vouched
from tests.replays.corpus.sample import Said, Sample

FOLDER: Final = Path(__file__).parents[2] / "replays" / "conformance"
LIST: Final = "cases.jsonl"

KINDS: Final[dict[str, Callable[[], Iterator[Sample]]]] = {
    "genuine": forged.genuine,
    "checks": forged.each_check_and_game,
    "forged": forged.forged,
    "unknown_fields": meanings.unknown_fields,
    "other_ways": meanings.other_ways,
    "names_and_eyes": meanings.names_and_eyes,
    "ends": meanings.ends,
    "first_events": meanings.first_events,
    "numbers": meanings.numbers,
    "steps": meanings.several,
    "edges": edges.edges,
    "keys": vouched.vouched,
    "kept_heads": vouched.kept_heads,
    "bundles": bundled.bundles,
    "archives": bundled.archives,
    "hostile": hostile.hostile,
    "greedy": hostile.greedy_events,
    "before_release": hostile.before_release,
}
"""The makers of samples by folder."""


def files() -> Iterator[tuple[str, bytes]]:
    """Yield every file of the folder with its path; the list comes last."""
    lines: list[dict[str, Any]] = []
    for name, text in vouched.key_files().items():
        yield f"keys/{name}.pub", text.encode()
    for kind, samples in KINDS.items():
        for sample in samples():
            lines.append(_line(kind, sample))
            if isinstance(sample.data, bytes):
                yield lines[-1]["file"], sample.data
            if sample.heads:
                yield lines[-1]["heads"], write_heads(sample.heads).encode()
    refused = {"keys": vouched.refused_key_files(), "heads": vouched.refused_head_files()}
    for what, spoilt in refused.items():
        for name, (data, line) in spoilt.items():
            path = f"refused_{what}/{name}.{'pub' if what == 'keys' else 'jsonl'}"
            lines.append({"kind": what, "file": path, "line": line, "exit": 3})
            yield path, data
    yield ".gitattributes", b"* -text\n"
    yield LIST, "".join(json.dumps(line) + "\n" for line in lines).encode("ascii")


def _line(kind: str, sample: Sample) -> dict[str, Any]:
    """Return the line of a sample in the list."""
    is_bundle = sample.suffix == "zip"
    line: dict[str, Any] = {
        "kind": "bundle" if is_bundle else "replay",
        "file": f"{kind}/{sample.name}.{sample.suffix}",
        "keys": f"keys/{sample.keys}.pub",
    }
    if not isinstance(sample.data, bytes):
        line["made"] = [{"hex": data.hex(), "times": times} for data, times in sample.data]
    if sample.heads:
        line["heads"] = f"{kind}/{sample.name}.jsonl"
        line["flawed_heads"] = list(sample.flawed)
    with_rules, without = sample.exits
    line["with_rules"] = _column(sample.rules, with_rules)
    line["without_rules"] = _column(sample.no_rules, without)
    if sample.no_rules[0] == "unverified" and sample.rules[0] in {"exact", "diverged"}:
        line["without_rules"]["missing"] = "rules"
    if is_bundle:
        line["with_rules"]["faults"] = [list(fault) for fault in sample.faults]
        line["without_rules"]["faults"] = [list(fault) for fault in sample.no_rules_faults]
    return line


def _column(said: Said, code: int) -> dict[str, Any]:
    verdict, check, event = said
    return {"verdict": verdict, "check": check, "event": event, "exit": code}


def remake(folder: Path) -> None:
    """Write all files, and remove files that the previous list names and this one does not."""
    known = folder / LIST
    before = known.read_text(encoding="ascii").splitlines() if known.exists() else []
    old = {line[name] for line in map(json.loads, before) for name in ("file", "keys", "heads") if name in line}
    for path, data in files():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(data)
        old.discard(path)
    for path in old:
        (folder / path).unlink(missing_ok=True)
    print(f"{len(known.read_text(encoding='ascii').splitlines())} cases in {folder}")


if __name__ == "__main__":
    remake(asked_folder(FOLDER))
