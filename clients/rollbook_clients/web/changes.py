"""What has changed between two renderings of a part of a page, so that browsers receive it instead of the whole.

An edit is a list of two: changed attributes (null removes one; 0 if none changed), and steps through the children (0 if
none changed). A number n keeps n children, -n removes n, a text is HTML to insert, a list is an edit of the next child;
children after the last step stay. Browsers apply it to a copy of what they have received, see static/stream.js.
"""

from __future__ import annotations

import html
import json
import re
import secrets
import time  # noqa: TID251 - browsers compute from it for how long a message was under way
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Final, TypeAlias

MOST_STEPS: Final = 8
"""Number of changes for which a browser may be behind without receiving the whole."""

LONG: Final = 500
"""Length of HTML above which an edit is always sent, without a look whether it is shorter."""

CLOCK: Final = "data-left="
"""Part of elements whose attributes are always sent, because they refer to the time of their message."""

_VOID: Final = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
_TOKEN: Final = re.compile(r"<(/?)([a-zA-Z][\w-]*)([^>]*?)(/?)>")
_ID: Final = re.compile(r'(?:^|\s)id="([^"]*)"')
_ATTRIBUTE: Final = re.compile(r"""([^\s=]+)(?:=(?:"([^"]*)"|'([^']*)'))?""")

Edit: TypeAlias = list[Any]


@dataclass(slots=True, eq=False)
class Element:
    """An element of rendered HTML; its children are elements and texts."""

    name: str
    attributes: str
    """As they are written."""
    start: int
    key: tuple[str, str] = ("", "")
    """The name and the id, by which elements of two renderings correspond."""
    children: list[Element | str] = field(default_factory=list)
    html: str = ""
    count: int = 0
    """The number of elements and texts below it."""
    has_clock: bool = False
    """Whether it or an element below it is a clock."""


def parse(text: str, known: Mapping[tuple[str, str], Element] | None = None) -> Element:
    """Parse the HTML of one element, as our templates write it: elements are closed, and `>` is escaped.

    Elements with an id that are written exactly as in `known` are taken from there, which saves most of the work.
    """
    known = known or {}
    root = Element("", "", 0)
    open_elements, end = [root], 0
    while (token := _TOKEN.search(text, end)) is not None:
        start, inside = token.start(), open_elements[-1].children
        if start > end:
            inside.append(text[end:start])
        end = token.end()
        is_closing, name, attributes, is_empty = token.groups()
        if is_closing:
            element = open_elements.pop()
            element.html = text[element.start : end]
            below = [child for child in element.children if isinstance(child, Element)]
            element.count = len(element.children) + sum(child.count for child in below)
            element.has_clock = CLOCK in element.attributes or any(child.has_clock for child in below)
            continue
        found = _ID.search(attributes)
        key = (name, found[1] if found else "")
        before = known.get(key) if found else None
        if before is not None and text.startswith(before.html, start):
            inside.append(before)
            end = start + len(before.html)
            continue
        element = Element(name, attributes, start, key)
        inside.append(element)
        if is_empty or name in _VOID:
            element.html = token[0]
        else:
            open_elements.append(element)
    (element,) = (child for child in root.children if isinstance(child, Element))
    return element


def by_key(element: Element, found: dict[tuple[str, str], Element]) -> dict[tuple[str, str], Element]:
    """All elements with an id, each once."""
    for child in element.children:
        if isinstance(child, Element):
            if child.key[1]:
                found.setdefault(child.key, child)
            by_key(child, found)
    return found


def attributes_of(written: str) -> dict[str, str]:
    """The attributes of an element by name."""
    return {name: html.unescape(one or other) for name, one, other in _ATTRIBUTE.findall(written)}


def compare(old: Element, new: Element) -> Edit | None:
    """The edit that makes the new element from the old one; None if they are equal."""
    if not new.has_clock and (old is new or old.html == new.html):
        return None
    changed: dict[str, str | None] = {}
    if old.attributes != new.attributes or CLOCK in new.attributes:
        before, after = attributes_of(old.attributes), attributes_of(new.attributes)
        changed = dict.fromkeys(before.keys() - after.keys())
        changed |= {name: value for name, value in after.items() if before.get(name) != value or name == "data-left"}
    steps = _steps(old.children, new.children)
    return [changed or 0, steps or 0] if changed or steps else None


def _steps(old: list[Element | str], new: list[Element | str]) -> list[Any]:
    steps: list[Any] = []
    keys, others = [_key(child) for child in old], [_key(child) for child in new]
    # Most lists of children have the same keys.
    pairs = SequenceMatcher(None, keys, others, autojunk=False) if keys != others else None
    for _, start, end, first, last in pairs.get_opcodes() if pairs else [("equal", 0, len(old), 0, len(new))]:
        if keys[start:end] == others[first:last]:
            for one, other in zip(old[start:end], new[first:last], strict=True):
                _add(steps, _change(one, other))
            continue
        _add(steps, start - end)
        _add(steps, _with_apostrophes("".join(map(_html, new[first:last]))))
    if steps and isinstance(steps[-1], int) and steps[-1] > 0:
        steps.pop()
    return steps


def _change(old: Element | str, new: Element | str) -> list[Any]:
    """The steps for one child."""
    if isinstance(old, str) or isinstance(new, str):
        return [1] if old == new else [-1, _with_apostrophes(_html(new))]
    edit = compare(old, new)
    if edit is None:
        return [1]
    if len(new.html) > LONG:
        return [edit]
    whole = _with_apostrophes(new.html)
    return [edit] if len(json.dumps(edit)) < len(json.dumps(whole)) else [-1, whole]


def _add(steps: list[Any], more: list[Any] | int | str) -> None:
    """Add steps, joining numbers of the same sign and texts."""
    for step in more if isinstance(more, list) else [more]:
        last = steps[-1] if steps else None
        if isinstance(step, str) and isinstance(last, str):
            steps[-1] = f"{last}{step}"
        elif isinstance(step, int) and isinstance(last, int) and step * last > 0:
            steps[-1] = last + step
        elif step not in (0, ""):
            steps.append(step)


def _key(child: Element | str) -> tuple[str, str]:
    return ("", "") if isinstance(child, str) else child.key


def _with_apostrophes(text: str) -> str:
    """The same HTML with apostrophes around attributes, as JSON has no need to escape them."""
    return _TOKEN.sub(lambda token: token[0] if "'" in token[0] else token[0].replace('"', "'"), text)


def _html(child: Element | str) -> str:
    return child if isinstance(child, str) else child.html


class ChangingPart:
    """A part of a page that changes, rendered once for all browsers that see the same."""

    def __init__(self, render: Callable[[], str]) -> None:
        self._render = render
        self._name = secrets.token_hex(4)
        self._number = 0
        self._version = -1
        self._now: Element | None = None
        self._steps: deque[tuple[str, bytes]] = deque(maxlen=MOST_STEPS)
        """The latest messages, each with the state that it changes."""
        self._whole = b""

    @property
    def at(self) -> str:
        """The name of the current state."""
        return f"{self._name}.{self._number}"

    def update(self, version: int) -> None:
        """Render the part again, unless this version of its facts has been rendered."""
        if version == self._version:
            return
        self._version = version
        new = parse(self._render().strip(), {} if self._now is None else by_key(self._now, {}))
        edit = None if self._now is None else compare(self._now, new)
        if self._now is not None and edit is None:
            return
        before, self._now, self._whole = self.at, new, b""
        self._number += 1
        if edit is not None:
            self._steps.append((before, self._write({"from": before, "edit": edit, "nodes": new.count})))

    def after(self, at: str) -> list[bytes]:
        """The messages for a browser that shows this state: the changes since then, or the whole."""
        if at == self.at:
            return []
        befores = [before for before, _ in self._steps]
        if at in befores:
            return [message for _, message in list(self._steps)[befores.index(at) :]]
        if not self._whole and self._now is not None:
            self._whole = self._write({"whole": self._now.html})
        return [self._whole]

    def _write(self, facts: dict[str, Any]) -> bytes:
        message = {"to": self.at, "now_ms": now_ms(), **facts}
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def now_ms() -> int:
    """The time in ms."""
    return time.time_ns() // 1_000_000
