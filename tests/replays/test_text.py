"""Text: its width, and cutting, wrapping and layout within a width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from rollbook_replays.games.blocks import beside, breadth, draw_box, flow
from rollbook_replays.text import Text, fit, pad_text, printable, width

LETTERS = st.text(alphabet="ab e\u0301龍■▲", max_size=30)


@pytest.mark.parametrize(("text", "columns"), [("Anna", 4), ("龍龍", 4), ("e\u0301", 1), ("■▾▒⇄", 4), ("", 0)])
def test_width_is_what_a_terminal_takes(text: str, columns: int) -> None:
    """Some letters take two columns and accents none; rich, which lays out screens, counts the same."""
    assert columns == width(text) == cell_len(text) == Text.of(text).width


@given(LETTERS, st.integers(1, 20))
def test_a_cut_text_is_never_too_wide_and_a_padded_one_exact(text: str, most: int) -> None:
    """Names of strangers are shown in columns."""
    assert width(fit(text, most)) <= most
    assert most == width(pad_text(fit(text, most), most))
    assert Text.of((text, "strong")).clip(most).width <= most


@given(LETTERS, st.integers(4, 20))
def test_wrapping_loses_nothing(text: str, wide: int) -> None:
    """All words are kept in order, and a line is too wide only for a single long word."""
    lines = list(Text.of((text[:7], "a"), text[7:]).wrap(wide))
    assert text == " ".join(line.plain for line in lines)
    longest = max(map(width, text.split(" ")))
    assert breadth(lines) <= max(wide, longest)


def test_styles_stay_with_their_characters() -> None:
    """Each letter keeps its style; outer styles come before inner ones."""
    text = Text.of(("ab", "seat0"), "c").with_style("number")
    assert (("ab", "number seat0"), ("c", "number")) == text.spans
    assert ((" ", "x"), ("ab", "number seat0"), ("c", "number"), (" ", "x")) == text.centre(5, "x").spans
    assert [(("ab", "s"),), (("c", "s"), ("d", ""))] == [line.spans for line in Text.of(("ab c", "s"), "d").wrap(2)]


def test_blocks_lie_beside_each_other_in_straight_columns() -> None:
    """A shorter block is padded, so that the block to its right stays in its column."""
    lines = beside([Text.of("a")], draw_box(["12"]), gap=2)
    assert ["a  ┌──┐", "   │12│", "   └──┘"] == [line.plain for line in lines]
    assert [3, 3] == [line.width for line in flow([[Text.of("a")], [Text.of("b")], [Text.of("ccc")]], 3)]


def test_a_name_cannot_steer_a_terminal() -> None:
    """Control characters and those that reverse text are replaced."""
    assert "\ufffd[2J\ufffd" == printable("\x1b[2J\u202e")
