"""Classes with behaviour stay small: few fields and few methods. Plain values may have as many fields as they need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from tests.tidy.test_names import ROOT, modules

MOST_FIELDS: Final = 15
MOST_METHODS: Final = 25

LARGE: Final[dict[str, str]] = {
    "Board": "the lobby's feed: its looks compare, announce and cut off in one loop over the same tables",
    "Feeds": "a field for each of its three loops and for what they hand to each other",
    "FollowedMatch": "what all pages of one match share, each page with its own part",
    "Game": "the contract of a game: a value whose fields are the game's functions",
    "LobbyIndex": "a method for each query of the lobby and its index, all without state",
    "LobbyScreen": "a Textual screen: a method for each key and each event of the lobby",
    "Match": "the SDK's match: a method for each command of a player",
    "MatchFold": "the state of a match, with a handler for each kind of event",
    "Metrics": "a field for each metric and a method for each thing that is counted",
    "Parts": "the wiring of a service: a field for each part",
    "Replica": "a cached match: reading, appending and failing change the same ledger",
    "ReplayScreen": "a Textual screen: a method for each key of a replay",
    "Settings": "a value: every setting of a service, and which matches its worker archives",
    "Sweeper": "the timers of the service, each of which needs other parts",
    "TableScreen": "a Textual screen: a method for each key and each event of a table",
    "Worker": "a handle on one process: its state, its pipes and its restarts",
    "Archivist": "the parts that a move to the archive passes, one after the other",
}
"""Larger classes, and why."""


class Size(NamedTuple):
    """How large a class is."""

    fields: int
    methods: int
    behaves: bool
    """Whether it has methods other than properties, constructors and operators."""

    @property
    def is_large(self) -> bool:
        """Whether the class needs a reason."""
        return self.behaves and (self.fields > MOST_FIELDS or self.methods > MOST_METHODS)


def size_of(definition: ast.ClassDef) -> Size:
    """Count declared and assigned fields, and methods; class constants are no fields."""
    methods = [node for node in definition.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    fields = {
        node.target.id
        for node in definition.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not is_constant(node)
    }
    for method in methods:
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
                fields.add(node.attr)
    return Size(len(fields), len(methods), any(is_behaviour(method) for method in methods))


def is_self(node: ast.expr) -> bool:
    """Whether an expression is the object of the method."""
    return isinstance(node, ast.Name) and node.id == "self"


def is_constant(node: ast.AnnAssign) -> bool:
    """Whether the class has the value, and not each object."""
    return ast.unparse(node.annotation).startswith(("Final", "ClassVar"))


def is_behaviour(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method is more than a property, a constructor or an operator."""
    decorators = {ast.unparse(by).rpartition(".")[2] for by in method.decorator_list}
    dunder = method.name.startswith("__") and method.name.endswith("__")
    return not dunder and not decorators & {"property", "cached_property", "classmethod", "staticmethod", "overload"}


def classes() -> Iterator[tuple[str, Size]]:
    """Every class of the product with its size."""
    for module in modules():
        for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name, size_of(node)


def test_a_class_with_behaviour_is_small_or_has_a_reason() -> None:
    """LARGE lists the exceptions; one that is not needed any more must go."""
    large = {name: size for name, size in classes() if size.is_large}
    assert LARGE.keys() == large.keys(), large


def test_fields_and_methods_are_counted() -> None:
    """Otherwise no class would be large."""
    source = (
        "class A:\n    a: int\n    B: Final = 1\n    def c(self):\n        self.d = self.a\n    def __len__(self): ..."
    )
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    assert Size(2, 2, behaves=True) == size_of(definition)
