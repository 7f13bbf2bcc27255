"""The texts of the page in both languages, and the picture in the README."""

from __future__ import annotations

import re
from importlib.resources import files
from xml.dom.minidom import parseString

import pytest

from rollbook.v1.refusals_pb2 import RefusalReason
from rollbook_clients.sdk import Refused
from rollbook_clients.web.limits import Holdings, TooMany
from rollbook_clients.web.scenes import out
from rollbook_clients.web.visit import wrong
from rollbook_clients.web.words import TEXTS, words_in
from tests.clients.web.readme_picture import FOLDER, TABLE, TERMINAL

USED = re.compile(r"""words\(\s*f?["']([a-zA-Z_.]+)["']""")
PLACE = re.compile(r"{(\w+)}")


def test_both_languages_say_the_same_things_with_the_same_facts() -> None:
    """A key missing in one language would break the page for its users."""
    english, german = TEXTS["en"], TEXTS["de"]
    assert set(english) == set(german)
    for key, text in english.items():
        assert set(PLACE.findall(text)) == set(PLACE.findall(german[key])), key


def test_templates_say_nothing_that_has_no_words() -> None:
    """Every key in a template is in the texts."""
    templates = files("rollbook_clients.web") / "templates"
    used = {key for template in templates.iterdir() for key in USED.findall(template.read_text(encoding="utf-8"))}
    assert used
    assert set() == {key for key in used if key not in TEXTS["en"] and not key.endswith((".", "_"))}


@pytest.mark.parametrize(
    ("gone", "english", "german"),
    [
        ("forfeited", "out of time", "Zeit abgelaufen"),
        ("resigned", "resigned", "aufgegeben"),
        ("", "out", "ausgeschieden"),
    ],
)
def test_who_is_out_is_said_to_be_so_for_the_right_reason(gone: str, english: str, german: str) -> None:
    """The page mentions a bot that plays on only while the match runs."""
    assert english == out(gone, words_in("en"), is_over=True)
    assert german == out(gone, words_in("de"), is_over=True)
    assert f"{english}; a bot plays on" == out(gone, words_in("en"), is_over=False)


@pytest.mark.parametrize("reason", RefusalReason.DESCRIPTOR.values_by_name)
def test_every_refusal_has_words(reason: str) -> None:
    """In both languages, for every reason that the service can send to a browser."""
    status, key = wrong(Refused(reason.removeprefix("REFUSAL_REASON_"), "why"))
    assert 400 <= status < 500
    assert all(key in texts for texts in TEXTS.values())


def test_one_address_holds_no_more_than_its_share() -> None:
    """A released upload frees its place, and other addresses are unaffected."""
    holdings = Holdings()
    with holdings.hold("uploads", "one"), holdings.hold("uploads", "one"), holdings.hold("uploads", "one"):
        with holdings.hold("uploads", "one"), pytest.raises(TooMany), holdings.hold("uploads", "one"):
            pass
        with holdings.hold("uploads", "other"):
            pass
    with holdings.hold("uploads", "one"):
        pass


def test_the_readme_shows_the_page_and_the_terminal() -> None:
    """Both pictures are there; that of the terminal loads nothing from elsewhere."""
    readme = (FOLDER.parents[1] / "README.md").read_text(encoding="utf-8")
    assert {TABLE.name, TERMINAL.name} == set(re.findall(r'src="\.github/pictures/([^"]+)"', readme))
    assert TABLE.read_bytes().startswith(b"\x89PNG")
    text = TERMINAL.read_text(encoding="utf-8")
    assert parseString(text).documentElement is not None  # noqa: S318 - we made it
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r'https?://[^"\s)]+', text))
