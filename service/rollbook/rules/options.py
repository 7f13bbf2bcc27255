"""Options of a game as data: their names, the values they may have, and what each is for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rollbook.rules.refusals import Invalid, Reason

OptionValue: TypeAlias = bool | int | str
Options: TypeAlias = dict[str, OptionValue]

LONGEST_REPEATED = 40
LARGEST_REPEATED = 10**18


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its values, the default first, and what it does, in words."""

    name: str
    values: Sequence[OptionValue]
    rule: str

    @property
    def default(self) -> OptionValue:
        """The value of an option that is not given."""
        return self.values[0]

    @property
    def allowed(self) -> str:
        """The values in words: `false, true` or `0 to 999`."""
        if isinstance(self.values, range):
            return f"{self.values[0]} to {self.values[-1]}"
        return ", ".join(write_value(value) for value in self.values)

    def takes(self, value: object) -> bool:
        """Whether the value is one of this option's, and of its kind (1 is not true)."""
        return type(value) is type(self.default) and value in self.values

    def read(self, text: str) -> OptionValue:
        """The value written like this, as on a command line."""
        for value in self.values:
            if write_value(value) == text:
                return value
        raise self.refusal(text)

    def refusal(self, value: object) -> Invalid:
        """The refusal of a value, naming the allowed ones."""
        return Invalid(
            Reason.OPTION_VALUE_UNKNOWN,
            f"option {self.name} cannot be {shorten_value(value)}",
            learn=f"allowed: {self.allowed}",
            option=self.name,
            allowed=self.allowed,
        )


def write_value(value: OptionValue) -> str:
    """An option's value as notation and command line write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def shorten_value(value: object) -> str:
    """An untrusted value, short enough for a message."""
    if isinstance(value, str):
        return repr(value if len(value) <= LONGEST_REPEATED else value[:LONGEST_REPEATED] + "…")
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) < LARGEST_REPEATED):
        return write_value(value)
    return "such a number" if isinstance(value, int) else f"of type {type(value).__name__}"


def unknown_option(name: str, options: Sequence[Option]) -> Invalid:
    """The refusal of an unknown option, naming all options."""
    names = ", ".join(option.name for option in options)
    return Invalid(
        Reason.OPTION_UNKNOWN,
        f"there is no option {shorten_value(name)}",
        learn=f"options: {names}",
        option=name[:LONGEST_REPEATED],
        allowed=names,
    )


def read_options(options: Sequence[Option], texts: Mapping[str, str]) -> Options:
    """Options from `key=value` texts; others keep their defaults."""
    by_name = {option.name: option for option in options}
    chosen: Options = {option.name: option.default for option in options}
    for name, text in texts.items():
        if name not in by_name:
            raise unknown_option(name, options)
        chosen[name] = by_name[name].read(text)
    return chosen


def complete(
    options: Sequence[Option], given: Mapping[str, OptionValue], seats: int, combine: Callable[[Options, int], None]
) -> Options:
    """Every option with a value, in the order of the table; refuses unknown names, values and combinations."""
    names = {option.name for option in options}
    for name in given:
        if name not in names:
            raise unknown_option(name, options)
    chosen: Options = {}
    for option in options:
        value = given.get(option.name, option.default)
        if not option.takes(value):
            raise option.refusal(value)
        chosen[option.name] = value
    combine(chosen, seats)
    return chosen
