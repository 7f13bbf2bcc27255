"""The output of `rollbook serve --show-config`: all settings as a file for --config, with their sources."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from rollbook.server.configuration.flags import FLAGS
from rollbook.server.configuration.limit_table import LIMITS
from rollbook.server.configuration.sources import Configuration, Sourced
from rollbook.server.configuration.table import Scope, Setting

WIDTH: Final = 120

HEAD: Final = """\
# All settings of `rollbook serve`, as a file for --config. The comment after each value names its source: a flag
# overrides an environment variable, that overrides the file, that overrides the default. Limits "for each process" are
# counted by each worker: N workers together allow up to N times as much."""

SCOPES: Final[dict[Scope, str]] = {
    "process": "for each process",
    "store": "for all processes, counted in the store",
}


def page(configuration: Configuration) -> str:
    """A valid file; a setting without a value is a comment."""
    return "\n".join(_lines(configuration)) + "\n"


def _lines(configuration: Configuration) -> Iterator[str]:
    yield HEAD
    for setting in FLAGS:
        yield from _setting(setting, configuration.values[setting.key], setting.about.help)
    section = ""
    for setting in LIMITS:
        if section != setting.section:
            section = setting.section
            yield f"\n[{section}]"
        help_and_bounds = f"{setting.about.help} {setting.allowed.capitalize()}; {SCOPES[setting.about.scope]}."
        yield from _setting(setting, configuration.values[setting.key], help_and_bounds)


def _setting(setting: Setting, held: Sourced, about: str) -> Iterator[str]:
    yield ""
    yield from textwrap.wrap(about, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    if held.value is None:
        yield f"# {setting.name} =  # {held.source}: {setting.about.unset}"
    else:
        yield f"{setting.name} = {setting.toml(held.value)}  # {held.source}"
