"""Sentences for errors in the user's language, in place of the names of reasons."""

from collections.abc import Mapping
from typing import Final

from rollbook_clients.reasons.english import ENGLISH
from rollbook_clients.reasons.german import GERMAN
from rollbook_clients.sdk.refusals import OutcomeUnknown, Refused, RollbookError, Unreachable

REASONS: Final[Mapping[str, Mapping[str, str]]] = {"en": ENGLISH, "de": GERMAN}
"""A sentence for every reason, by language and by the reason's name without its prefix."""

_SHARED: Final = {
    "en": {
        "allowed": "Possible: {allowed}.",
        "limit": "The limit is {limit}.",
        "seconds": "Try again in {seconds} s.",
        "bracket": "Names here have no brackets (character {character}).",
        "reserved_sign": "Character {character} marks seats and bots here.",
        "reserved_name": "This one looks like the name of a bot or of the service.",
        "invisible_character": "Character {character} is invisible.",
        "too_many_marks": "Character {character} has too many marks.",
        "other": "The service does not do this.",
        "silent": "The service does not answer. Try again soon.",
        "unknown": "The service has not answered; it is not known yet whether this happened.",
        "distrusted": "The service's data contradicts itself. Keep what you have, and report it to the operator.",
    },
    "de": {
        "allowed": "Möglich: {allowed}.",
        "limit": "Die Grenze ist {limit}.",
        "seconds": "Versuche es in {seconds} s noch einmal.",
        "bracket": "Namen haben hier keine Klammern (Zeichen {character}).",
        "reserved_sign": "Zeichen {character} kennzeichnet hier Plätze und Bots.",
        "reserved_name": "Dieser sieht aus wie der Name eines Bots oder des Dienstes.",
        "invisible_character": "Zeichen {character} ist unsichtbar.",
        "too_many_marks": "Zeichen {character} hat zu viele Akzente.",
        "other": "Der Dienst tut das nicht.",
        "silent": "Der Dienst antwortet nicht. Versuche es bald noch einmal.",
        "unknown": "Der Dienst hat nicht geantwortet; noch ist unklar, ob das geschehen ist.",
        "distrusted": "Was der Dienst sendet, passt nicht zusammen. Hebe auf, was du hast, und sag es dem Betreiber.",
    },
}


_NAMING: Final = {"bracket", "reserved_sign", "reserved_name", "invisible_character", "too_many_marks"}
"""The rules for names that have a sentence of their own."""


def explain(error: RollbookError, language: str) -> str:
    """The explanation of an error as a sentence.

    >>> explain(Refused("RATE_LIMITED", "too much", {"retry_after_ms": "1200"}), "en")
    'That was too much in a short time. Try again in 2 s.'
    >>> explain(Refused("OF_A_NEWER_SERVICE", "no"), "de")
    'Der Dienst tut das nicht.'
    """
    shared = _SHARED[language]
    match error:
        case Refused():
            said = REASONS[language].get(error.reason, shared["other"])
            return " ".join([said, *_of_facts(error.facts, shared)])
        case OutcomeUnknown():
            return shared["unknown"]
        case Unreachable():
            return shared["silent"]
    return shared["distrusted"]


def _of_facts(facts: Mapping[str, str], shared: Mapping[str, str]) -> list[str]:
    """Sentences for the facts of a refusal."""
    said = [shared[name].format_map(facts) for name in ("allowed", "limit") if facts.get(name)]
    if facts.get("why") in _NAMING and (facts["why"] == "reserved_name" or facts.get("character")):
        said.append(shared[facts["why"]].format_map(facts))
    wait = facts.get("retry_after_ms", "")
    return [*said, shared["seconds"].format(seconds=-(-int(wait) // 1_000))] if wait.isdecimal() else said
