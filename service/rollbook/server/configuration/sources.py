"""The sources of settings: flags override the environment, which overrides a file, which overrides defaults."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rollbook.server.configuration.flags import FLAGS
from rollbook.server.configuration.limit_table import LIMITS, Limits
from rollbook.server.configuration.settings import SettingRefused, Settings
from rollbook.server.configuration.table import close, quote

EVERY: Final = {setting.key: setting for setting in (*FLAGS, *LIMITS)}
"""All settings, by key."""

ELSEWHERE: Final = "rollbook serve --show-config lists all there are"


@dataclass(frozen=True, slots=True)
class Sourced:
    """A value and its source."""

    value: Any
    source: str
    named: str
    """The name of the setting in refusals, as the source spells it."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The value of every setting, by key."""

    values: Mapping[str, Sourced]

    def settings(self) -> Settings:
        """The validated settings; raises SettingRefused for the first invalid one, named as in its source."""
        flags, limits = ({each.name: self.values[each.key].value for each in table} for table in (FLAGS, LIMITS))
        try:
            return Settings.read(limits=Limits(**limits), **flags)
        except SettingRefused as refused:
            named = {setting.flag: self.values[key].named for key, setting in EVERY.items()}
            raise SettingRefused(named[refused.flag], refused.why) from None


def configure(flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None = None) -> Configuration:
    """Combine all sources; raises SettingRefused. `flags` has only those given, with underscores in their names."""
    values = {key: Sourced(setting.default, "default", setting.flag) for key, setting in EVERY.items()}
    if file is not None:
        values.update(_of_file(file))
    values.update(_of_environment(environment))
    for setting in FLAGS:
        if setting.name in flags:
            values[setting.key] = Sourced(flags[setting.name], f"flag {setting.flag}", setting.flag)
    return Configuration(values)


def _of_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Sourced]]:
    variables = {setting.variable: setting for setting in EVERY.values()}
    of_sections = tuple(f"ROLLBOOK_{section.upper()}_" for section in _sections())
    for name in sorted(environment):
        if name in variables:
            setting = variables[name]
            try:
                value = setting.of_text(environment[name])
            except ValueError as wrong:
                raise SettingRefused(name, str(wrong)) from None
            yield setting.key, Sourced(value, f"variable {name}", name)
        elif name.startswith(of_sections):
            raise SettingRefused(name, f"there is no such setting{close(name, variables) or f'; {ELSEWHERE}'}")


def _of_file(file: Path) -> Iterator[tuple[str, Sourced]]:
    path = file.expanduser().absolute()
    for key, given in _flat(path):
        named = f"{path}: {key}"
        setting = EVERY.get(key)
        if setting is None:
            raise SettingRefused(
                named, f"there is no such setting{close(key, [*EVERY, *_sections()]) or f'; {ELSEWHERE}'}"
            )
        try:
            value = setting.of_toml(given)
        except ValueError as wrong:
            raise SettingRefused(named, str(wrong)) from None
        yield key, Sourced(value, f"file {quote(str(path))}", named)


def _flat(path: Path) -> Iterator[tuple[str, object]]:
    """Every key of a file; keys of a section are prefixed with its name."""
    for key, given in _document(path).items():
        if key not in _sections():
            yield key, given
        elif isinstance(given, dict):
            yield from ((f"{key}.{name}", value) for name, value in given.items())
        else:
            raise SettingRefused(f"{path}: {key}", f"a table, which begins with the line [{key}]")


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode())
    except OSError as failure:
        raise SettingRefused(str(path), f"cannot be read: {failure.strerror}") from None
    except UnicodeDecodeError:
        raise SettingRefused(str(path), "this is no TOML: not UTF-8") from None
    except (ValueError, RecursionError) as wrong:
        raise SettingRefused(str(path), f"this is no TOML: {wrong}") from None


def _sections() -> set[str]:
    return {setting.section for setting in EVERY.values()} - {""}
