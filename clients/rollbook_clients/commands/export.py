"""`rollbook export`: saves matches of a service as files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rollbook.cli.exits import Exit, Failed, usage, worst
from rollbook.cli.json_lines import AsJson, print_json
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions
from rollbook.files import write_file
from rollbook.replay_file.container import SUFFIX, NotAReplay, read
from rollbook_clients.commands.service_calls import at_the_service, convert_error, say
from rollbook_clients.sdk import RollbookError, Unreachable
from rollbook_clients.sdk.sync import SyncTable


def export(  # noqa: PLR0913 - every flag is a parameter
    *match: str,
    out: Path,
    at: ServiceOptions = LOCAL_SERVICE,
    public: Annotated[bool, Parameter(negative="")] = False,
    without_names: Annotated[bool, Parameter(negative="")] = False,
    force: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> int:
    """Save matches as files: each as MATCH.rollbook in a folder, its path on standard output.

    A finished match is saved whole, with everything that was hidden; a running one as the owner of the token may see
    it, and its file records that. `rollbook show` reads such a file, `rollbook audit` checks it. A file appears whole
    or not at all, and none is overwritten. If one match fails, the others are still saved. Exit code 1 if the service
    refuses one or a file cannot be written or exists already, 3 if no service answers or it has no such match.

    Example: `rollbook export MATCH --out files`

    Parameters
    ----------
    match
        The ids of the matches.
    out
        The folder for the files; created if needed.
    public
        Save running matches as the public sees them, with its delay, even if the token may see more.
    without_names
        Leave out the names of the players.
    force
        Overwrite files that exist.
    as_json
        For programs: one JSON object for each match instead of its path, a line each. match: its id; file: the path,
        null if it was not saved; bytes: the size of the file, or null; error: why it was not saved, or null.
    """
    if not match:
        return usage("name at least one match; rollbook export --help explains it, `rollbook matches` lists them")
    export = _Export(
        folder=out.expanduser(), public_only=public, without_names=without_names, overwrite=force, as_json=as_json
    )
    try:
        export.folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        say("export", f"{export.folder}: {wrong.strerror}")
        return Exit.WRONG
    return at_the_service("export", at, lambda table: export.run(table, match))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export:
    """An export: its folder and the contents of its files."""

    folder: Path
    public_only: bool
    without_names: bool
    overwrite: bool
    as_json: bool

    def run(self, table: SyncTable, matches: Sequence[str]) -> Exit:
        """Export the matches one by one, and print the result of each."""
        codes = set()
        for number, match_id in enumerate(dict.fromkeys(matches), start=1):
            try:
                path, size = self._export(table, match_id)
            except Failed as ended:
                codes.add(ended.code)
                say("export", f"{match_id}: {ended.why}")
                if self.as_json:
                    print_json({"match": match_id, "file": None, "bytes": None, "error": ended.why})
            else:
                if self.as_json:
                    print_json({"match": match_id, "file": str(path), "bytes": size, "error": None})
                else:
                    print(path, flush=True)
                say("export", f"{number} of {len(matches)}: {match_id}, {size:,} bytes")
        return worst(codes)

    def _export(self, table: SyncTable, match_id: str) -> tuple[Path, int]:
        path = self.folder / f"{match_id}{SUFFIX}"
        # Refuse an id that contains a folder before a file is looked up there.
        if path.name != f"{match_id}{SUFFIX}" or path.parent != self.folder:
            raise Failed(Exit.UNREADABLE, "no match has such an id")
        if path.exists() and not self.overwrite:
            raise Failed(Exit.WRONG, f"{path} is there already; --force overwrites it")
        data = self._replay(table, match_id)
        try:
            write_file(path, data)
        except OSError as wrong:
            raise Failed(Exit.WRONG, f"{path}: {wrong.strerror}") from None
        return path, len(data)

    def _replay(self, table: SyncTable, match_id: str) -> bytes:
        match = table.match(match_id)
        try:
            data = match.replay(public_only=self.public_only, without_names=self.without_names)
            found = read(data).replay.match_id
        except Unreachable as error:
            raise Failed(Exit.UNREADABLE, f"{error}; export it again") from None
        except RollbookError as error:
            raise convert_error(error) from None
        except NotAReplay as broken:
            raise Failed(Exit.WRONG, f"what the service sent is no replay file: {broken}") from None
        if found != match_id:
            raise Failed(Exit.WRONG, f"the service sent match {found}")
        return data
