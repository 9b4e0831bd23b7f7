"""The tour's sentences outside its walks, in each of its languages, read from `texts.<language>.toml`.

The language is set for an answer, as Django's translations do it: `with speaking("de")`.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import Any, Literal, TypeVar, TypeVarTuple, cast

Choice = tuple[str, str]
"""A choice: its label and its value."""
Language = Literal["en", "de", "es"]
ENGLISH: Language = "en"
LANGUAGES: tuple[Language, ...] = (ENGLISH, "de", "es")
KNOWN_TEXTS = 1_024
"""So many texts are remembered by each function that hears them."""
MAX_KNOWN_CHARACTERS = 500
"""Of longer texts, few are remembered: as many would take hundreds of megabytes."""
KNOWN_LONG_TEXTS = 4
_Asked = TypeVarTuple("_Asked")
_Found = TypeVar("_Found")


def read_table(name: str) -> Mapping[str, Any]:
    """Read one of the tour's tables."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


_TEXTS: Mapping[Language, Mapping[str, Any]] = {code: read_table(f"texts.{code}") for code in LANGUAGES}
_ANSWERS: Mapping[Language, Mapping[str, Sequence[str]]] = {
    code: read_table(f"talk.{code}") for code in LANGUAGES
}
_spoken: ContextVar[Language] = ContextVar("spoken", default="en")
FOREIGN: Mapping[str, str] = _TEXTS["en"]["languages"]


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Speak a language inside the block."""
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def language() -> Language:
    return _spoken.get()


def once_per_text(hear: Callable[[*_Asked, str], _Found]) -> Callable[[*_Asked, str], _Found]:
    """Remember what a function hears in a text, its last argument, for each language that is spoken.

    The tour keeps no state, so each request hears all texts of its conversation again, each of them for many
    questions.
    """

    def nothing_known(_: Language, __: str) -> dict[tuple[object, ...], _Found]:
        return {}

    known_of_short = lru_cache(maxsize=KNOWN_TEXTS)(nothing_known)
    known_of_long = lru_cache(maxsize=KNOWN_LONG_TEXTS)(nothing_known)

    @wraps(hear)
    def hear_once(*heard: *tuple[*_Asked, str]) -> _Found:
        known_of = known_of_short if len(heard[-1]) <= MAX_KNOWN_CHARACTERS else known_of_long
        known, question = known_of(language(), heard[-1]), heard[:-1]
        if question not in known:
            known[question] = hear(*heard)
        return known[question]

    return hear_once


def said(name: str, /, **values: str) -> str:
    """Return a sentence, with its placeholders filled."""
    sentence = cast("str", _TEXTS[language()]["said"][name])
    return sentence.format(**values) if values else sentence


def stands_in(name: str, text: str, group: str = "said") -> bool:
    """Return whether a text has a sentence, or one of several, in any of the languages.

    A sentence with placeholders counts by its words before the first one.
    """
    return any(beginning in text for beginning in _beginnings(name, group))


@cache
def _beginnings(name: str, group: str) -> Sequence[str]:
    """Return what a sentence, or each of several, begins with in each of the languages."""
    found = [_TEXTS[code][group][name] for code in LANGUAGES]
    sentences = [each for one in found for each in ([one] if isinstance(one, str) else one)]
    return [sentence.partition("{")[0] for sentence in sentences]


def stands_in_offers(text: str) -> bool:
    """Return whether a text offers an arc that is due."""
    return any(offer in text for code in LANGUAGES for offer in _TEXTS[code]["offers"].values())


def in_all(name: str) -> Sequence[str]:
    """Return a sentence in each of the languages."""
    return [_TEXTS[code]["said"][name] for code in LANGUAGES]


def offers() -> Mapping[str, str]:
    return cast("Mapping[str, str]", _TEXTS[language()]["offers"])


def of_job(name: str, /, **values: str) -> str:
    """Return a sentence of a background request, with its placeholders filled."""
    return cast("str", _TEXTS[language()]["jobs"][name]).format(**values)


def reactions(name: str) -> Sequence[str]:
    return cast("Sequence[str]", _TEXTS[language()]["reactions"].get(name, ()))


def choices(name: str) -> Sequence[Choice]:
    return [(label, value) for label, value in _TEXTS[language()]["choices"][name]]


def names() -> Mapping[str, str]:
    return cast("Mapping[str, str]", _TEXTS[language()]["names"])


def questions() -> Mapping[str, Sequence[str]]:
    """Return the answers to questions about the tour, by the question's name."""
    return cast("Mapping[str, Sequence[str]]", _TEXTS[language()]["questions"])


def answers(intent: str) -> Sequence[str]:
    """Return what there is to say to words with an intent (`sense.sense`); nothing for an unknown one."""
    return _ANSWERS[language()].get(intent, ())
